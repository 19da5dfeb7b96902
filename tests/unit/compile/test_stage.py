"""The compile stage with a stand-in for nvcc: order, sharing, failures, and a tree left alone."""

from __future__ import annotations

import signal
import time
from pathlib import Path

import pytest
from fake_nvcc import FakeNvcc
from test_processes import wait_until_dead

from cudalint.compile.model import Compilation
from cudalint.compile.stage import CompileRequest, compile_files
from cudalint.compile.toolchain import Toolchain, Toolchains


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "tree"
    folder.mkdir()
    for name in ("a.cu", "b.cu", "c.cu", "d.cuh"):
        (folder / name).write_text("// one\n")
    return folder


def one(root: Path, toolchains: Toolchains, timeout: float = 10.0) -> Compilation:
    request = CompileRequest("a.cu", str(root), "sm_121")
    (compiled,) = compile_files([request], toolchains, 1, timeout, None)
    (compilation,) = compiled.compilations
    return compilation


def test_requests_that_differ_in_targets_alone_are_one_compile(tmp_path: Path, root: Path) -> None:
    nvcc = FakeNvcc(tmp_path / "bin")
    requests = [
        CompileRequest("b.cu", str(root), "sm_121", targets=("y",)),
        CompileRequest("a.cu", str(root), "sm_121", targets=("x",)),
        CompileRequest("b.cu", str(root), "sm_121", targets=("x",)),
        CompileRequest("b.cu", str(root), "sm_90", targets=("z",)),
        CompileRequest("b.cu", str(root), "sm_121", flags=("-DX",), targets=("w",)),
        CompileRequest("d.cuh", str(root), "sm_121", targets=("x",)),
    ]
    found = compile_files(requests, nvcc.toolchains, 1, 10.0, None)
    assert [(file.path, [(c.arch, c.targets) for c in file.compilations]) for file in found] == [
        ("a.cu", [("sm_121", ("x",))]),
        ("b.cu", [("sm_90", ("z",)), ("sm_121", ("w",)), ("sm_121", ("x", "y"))]),
    ]
    assert len(nvcc.calls) == 4


def test_any_number_of_jobs_and_any_order_give_the_same(tmp_path: Path, root: Path) -> None:
    nvcc = FakeNvcc(tmp_path / "bin")
    requests = [
        CompileRequest(name, str(root), arch)
        for name in ("a.cu", "b.cu", "c.cu")
        for arch in ("sm_121", "sm_90")
    ]
    expected = compile_files(requests, nvcc.toolchains, 1, 10.0, None)
    for jobs in (0, 2, 7):
        assert compile_files(requests[::-1], nvcc.toolchains, jobs, 10.0, None) == expected


def test_nothing_to_compile_starts_nothing(tmp_path: Path, root: Path) -> None:
    request = CompileRequest("d.cuh", str(root), "sm_121")
    assert compile_files([request], Toolchains(), 1, 1.0, tmp_path / "cache") == []
    assert compile_files([], Toolchains(), 1, 1.0, None) == []
    assert not (tmp_path / "cache").exists()


def test_nvcc_that_hangs_is_killed_with_its_children(tmp_path: Path, root: Path) -> None:
    ending = f"sleep 60 & echo $! > {tmp_path}/pid; wait"
    nvcc = FakeNvcc(tmp_path / "bin", ending=ending)
    start = time.monotonic()
    assert one(root, nvcc.toolchains, 0.5).failure == "nvcc took longer than 0.5 s"
    assert time.monotonic() - start < 5
    wait_until_dead(int((tmp_path / "pid").read_text()))


@pytest.mark.parametrize(
    ("says", "ending", "failure"),
    [
        ("", "kill -SEGV $$", f"nvcc was killed by {signal.SIGSEGV.name}"),
        ("", "exit 7", "nvcc exited with status 7"),
        ("no idea\n\n", "exit 7", "nvcc exited with status 7: no idea"),
        ("\x00\x01\x1b[31m%s\n", 'rm "$output"', "nvcc exited 0 and wrote no cubin"),
        ("nvcc fatal   : Unknown option 'x'\n", "exit 1", "Unknown option 'x'"),
        (
            "gcc: No such file or directory\n"
            "nvcc fatal   : Failed to preprocess host compiler properties.\n",
            "exit 1",
            "nvcc can't run its host compiler",
        ),
    ],
)
def test_nvcc_that_goes_wrong_is_a_failure(
    tmp_path: Path, root: Path, says: str, ending: str, failure: str
) -> None:
    nvcc = FakeNvcc(tmp_path / "bin", says=says, ending=ending)
    assert one(root, nvcc.toolchains).failure == failure


def test_garbage_without_end_is_a_failure(tmp_path: Path, root: Path) -> None:
    nvcc = FakeNvcc(tmp_path / "bin", ending="yes garbage")
    assert one(root, nvcc.toolchains, 60).failure == "nvcc printed without end"


def test_one_file_that_goes_wrong_leaves_the_others(tmp_path: Path, root: Path) -> None:
    ending = 'case "$source" in */b.cu) exit 1;; esac'
    nvcc = FakeNvcc(tmp_path / "bin", ending=ending)
    requests = [CompileRequest(name, str(root), "sm_121") for name in ("a.cu", "b.cu", "c.cu")]
    found = compile_files(requests, nvcc.toolchains, 2, 10.0, None)
    assert [bool(file.compilations[0].failure) for file in found] == [False, True, False]


def test_an_arch_that_no_nvcc_knows_and_an_nvcc_that_is_gone(tmp_path: Path, root: Path) -> None:
    nvcc = FakeNvcc(tmp_path / "bin")
    request = CompileRequest("a.cu", str(root), "sm_20")
    (compiled,) = compile_files([request], nvcc.toolchains, 1, 10.0, None)
    assert compiled.compilations[0].failure == "no nvcc knows sm_20 (found: 13.0.88)"
    assert compiled.compilations[0].arch == "sm_20"
    gone = Toolchains((Toolchain("/nonexistent/nvcc", "1", (13, 0), frozenset({121})),))
    assert one(root, gone).failure.startswith("nvcc can't be run (No such file or directory")


def test_the_default_arch_is_what_ptxas_says(tmp_path: Path, root: Path) -> None:
    nvcc = FakeNvcc(tmp_path / "bin")
    (compiled,) = compile_files([CompileRequest("a.cu", str(root))], nvcc.toolchains, 1, 10.0, None)
    assert compiled.compilations[0].arch == "sm_121"


def test_nvcc_is_given_no_shell_and_works_outside_the_tree(
    tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It runs in a folder of its own, which is gone afterwards; nothing appears in the tree."""
    monkeypatch.setenv("NVCC_APPEND_FLAGS", "-DEVIL")
    monkeypatch.chdir(root)
    probe = f"(pwd; env; ls -l /proc/$$/fd/0) > {tmp_path}/seen; touch left-behind $TMPDIR/too"
    nvcc = FakeNvcc(tmp_path / "bin", ending=probe)
    before = sorted(root.rglob("*"))
    assert not one(root, nvcc.toolchains).failure
    assert sorted(root.rglob("*")) == before
    seen = (tmp_path / "seen").read_text()
    folder = Path(seen.splitlines()[0])
    assert not folder.is_relative_to(root)
    assert not folder.exists()
    assert "EVIL" not in seen
    assert f"TMPDIR={folder}" in seen
    assert "/dev/null" in seen


def test_temporary_files_stay_out_of_a_tree_that_holds_the_usual_place(
    tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "tmp").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(root / "tmp"))
    nvcc = FakeNvcc(tmp_path / "bin", ending=f"pwd > {tmp_path}/seen")
    request = CompileRequest("a.cu", str(root), "sm_121")
    compile_files([request], nvcc.toolchains, 1, 10.0, tmp_path / "cache")
    assert Path((tmp_path / "seen").read_text().strip()).is_relative_to(tmp_path / "cache")


def test_no_temporary_folder_is_a_failure_of_each(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(prefix: str, dir: Path) -> object:  # noqa: A002
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tempfile.TemporaryDirectory", full)
    requests = [CompileRequest(name, str(root), "sm_121") for name in ("a.cu", "b.cu")]
    found = compile_files(requests, Toolchains(), 1, 1.0, None)
    assert [file.compilations[0].failure for file in found] == [
        "no temporary folder can be made: No space left on device"
    ] * 2


class Watched:
    """Notes what it is told."""

    def __init__(self) -> None:
        self.events: list[tuple[str, object]] = []

    def begin(self, total: int) -> None:
        self.events.append(("begin", total))

    def started(self, path: str) -> None:
        self.events.append(("started", path))

    def ended(self, path: str) -> None:
        self.events.append(("ended", path))


def test_the_largest_file_is_compiled_first_and_each_is_told(tmp_path: Path, root: Path) -> None:
    nvcc = FakeNvcc(tmp_path / "bin", ending="case $source in *c.cu) exit 1;; esac")
    (root / "b.cu").write_text("// one\n" * 9)
    (root / "c.cu").write_text("// one\n" * 5)
    requests = [CompileRequest(f"{name}.cu", str(root), "sm_121") for name in ("a", "b", "c", "x")]
    watched = Watched()
    found = compile_files(requests, nvcc.toolchains, 1, 10.0, None, progress=watched)
    assert [file.path for file in found] == ["a.cu", "b.cu", "c.cu", "x.cu"]
    expected: list[tuple[str, object]] = [("begin", 4)]
    for path in ("b.cu", "c.cu", "a.cu", "x.cu"):
        expected += [("started", path), ("ended", path)]
    assert watched.events == expected
