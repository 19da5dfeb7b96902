"""Kept compile results: when one is used again, when it must not be, and a cache that is no use."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from fake_nvcc import CLEAN, FakeNvcc

from cudalint.compile.model import CompiledFile
from cudalint.compile.stage import CompileRequest, compile_files


class Tree:
    """A tree with a.cu, which reads inc/b.cuh, and a header outside of it."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "tree"
        self.cache = folder / "cache"
        self.outside = folder / "toolkit" / "cuda_bf16.h"
        self.warnings: list[str] = []
        for file in (self.root / "a.cu", self.root / "inc" / "b.cuh", self.outside):
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("// one\n")
            # A file of the very moment in which the compile starts may have changed since.
            os.utime(file, (1000, 1000))
        reads = (self.root / "inc" / "b.cuh", self.outside)
        self.nvcc = FakeNvcc(folder / "bin", reads=reads)

    def compile(self, **more: object) -> CompiledFile:
        fields = {"arch": "sm_121", "include_paths": ("leaf", "inc"), **more}
        request = CompileRequest("a.cu", str(self.root), **fields)  # type: ignore[arg-type]
        (compiled,) = compile_files(
            [request], self.nvcc.toolchains, 1, 10.0, self.cache, warn=self.warnings.append
        )
        return compiled

    @property
    def calls(self) -> int:
        return len(self.nvcc.calls)


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return Tree(tmp_path)


def test_the_second_run_calls_no_nvcc_and_says_the_same(tree: Tree) -> None:
    first = tree.compile(targets=("t",))
    assert tree.compile(targets=("t",)) == first
    assert tree.calls == 1
    assert first.compilations[0].functions[0].name == "k"
    assert first.compilations[0].dependencies == ("a.cu", "inc/b.cuh")
    assert tree.compile(targets=("u",)).compilations[0].targets == ("u",)
    assert tree.calls == 1


@pytest.mark.parametrize("name", ["a.cu", "inc/b.cuh", "outside"])
def test_a_changed_file_is_compiled_again_and_the_old_content_is_still_known(
    tree: Tree, name: str
) -> None:
    file = tree.outside if name == "outside" else tree.root / name
    tree.compile()
    file.write_text("// two\n")
    tree.compile()
    assert tree.calls == 2
    file.write_text("// one\n")
    tree.compile()
    assert tree.calls == 2 + (name == "outside")


def test_a_touched_file_is_not_compiled_again(tree: Tree) -> None:
    tree.compile()
    os.utime(tree.root / "a.cu", (1, 1))
    tree.compile()
    assert tree.calls == 1


@pytest.mark.parametrize(
    "more",
    [
        {"arch": "sm_90"},
        {"flags": ("-DX=1",)},
        {"include_paths": ("inc", "leaf")},
        {"include_paths": ()},
    ],
)
def test_another_question_is_another_compile(tree: Tree, more: dict[str, object]) -> None:
    tree.compile()
    tree.compile(**more)
    tree.compile(**more)
    assert tree.calls == 2


def test_a_variable_that_counts(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    tree.compile()
    monkeypatch.setenv("CPATH", "/opt/other")
    tree.compile()
    assert tree.calls == 2


@pytest.mark.parametrize("name", ["leaf/b.cuh", "leaf/cuda_bf16.h", "b.cuh", "inc/inc/b.cuh"])
def test_a_new_file_that_would_be_found_first_is_compiled_again(tree: Tree, name: str) -> None:
    """A leaf's header that comes to shadow one of common: no file that was read has changed."""
    tree.compile()
    (tree.root / name).parent.mkdir(exist_ok=True)
    (tree.root / name).touch()
    tree.compile()
    assert tree.calls == 2


def test_a_new_file_of_another_name_changes_nothing(tree: Tree) -> None:
    tree.compile()
    (tree.root / "leaf").mkdir()
    (tree.root / "leaf" / "other.cuh").touch()
    (tree.root / "c.cu").touch()
    tree.compile()
    assert tree.calls == 1


def test_a_tree_in_another_place_finds_the_results(tree: Tree, tmp_path: Path) -> None:
    first = tree.compile()
    moved = tmp_path / "elsewhere"
    tree.root.rename(moved)
    tree.root = moved
    assert tree.compile() == first
    assert tree.calls == 1


def test_a_file_that_asks_whether_others_exist_is_not_kept(tree: Tree) -> None:
    (tree.root / "a.cu").write_text('#if __has_include("x.h")\n#endif\n')
    tree.compile()
    tree.compile()
    assert tree.calls == 2


def test_a_file_that_changes_during_the_compile_is_not_kept(tmp_path: Path) -> None:
    tree = Tree(tmp_path)
    tree.nvcc = FakeNvcc(tmp_path / "bin", ending=f"echo x >> {tree.root}/a.cu")
    tree.compile()
    tree.compile()
    assert tree.calls == 2


def test_a_clock_that_goes_back_during_the_compile(
    tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What has changed meanwhile can't be told by its time then."""
    real = os.utime
    monkeypatch.setattr(
        "cudalint.compile.single.os.utime", lambda folder: real(folder, (1000, 1000))
    )
    tree.compile()
    monkeypatch.undo()
    tree.compile()
    tree.compile()
    assert tree.calls == 2


def test_a_clock_that_was_ahead_keeps_nothing_for_ever(tree: Tree) -> None:
    tree.compile()
    kept = next((tree.cache / "compile" / "results").rglob("?" * 40))
    marker = tree.cache / "compile" / "pruned"
    ahead = time.time() + 1000 * 86_400
    for file in (kept, marker):
        os.utime(file, (ahead, ahead))
    tree.compile()
    assert tree.calls == 1
    assert kept.stat().st_mtime < time.time() + 1000
    assert marker.stat().st_mtime < time.time() + 1000


def test_a_path_that_is_no_text_is_compiled_and_not_kept(tree: Tree) -> None:
    name = os.fsdecode(b"\xff.cu")
    (tree.root / name).touch()
    request = CompileRequest(name, str(tree.root), "sm_121")
    for _ in range(2):
        (compiled,) = compile_files([request], tree.nvcc.toolchains, 1, 10.0, tree.cache)
        assert compiled.path == name
        assert not compiled.compilations[0].failure
    assert tree.calls == 2


def test_failures_are_not_kept(tmp_path: Path) -> None:
    tree = Tree(tmp_path)
    tree.nvcc = FakeNvcc(
        tmp_path / "bin", says=f"{tree.root}/a.cu(1): error: no\n", ending="exit 2"
    )
    assert tree.compile().compilations[0].failure == "no"
    tree.compile()
    assert tree.calls == 2


@pytest.mark.parametrize("damage", [b"", b"garbage", None])
def test_damaged_entries_are_as_good_as_absent(tree: Tree, damage: bytes | None) -> None:
    first = tree.compile()
    files = [file for file in tree.cache.rglob("*") if file.is_file() and file.name != "pruned"]
    assert len(files) == 2
    for file in files:
        data = bytearray(file.read_bytes())
        data[-1] ^= 1
        file.write_bytes(bytes(data) if damage is None else damage)
    assert tree.compile() == first
    assert tree.calls == 2
    tree.compile()
    assert tree.calls == 2
    assert tree.warnings == []


def test_a_cache_that_cannot_be_written_is_one_warning(tree: Tree, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    tree.cache = tmp_path / "file" / "cache"
    assert not tree.compile().compilations[0].failure
    (warning,) = tree.warnings
    assert warning == f"compile results can't be kept in {tree.cache}/compile: Not a directory"


def test_a_full_disk_is_one_warning_and_leaves_no_pieces(
    tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(descriptor: int, mode: str) -> object:
        os.close(descriptor)
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fdopen", full)
    (tree.root / "b.cu").touch()
    requests = [CompileRequest(name, str(tree.root), "sm_121") for name in ("a.cu", "b.cu")]
    found = compile_files(
        requests, tree.nvcc.toolchains, 2, 10.0, tree.cache, warn=tree.warnings.append
    )
    assert [compilation.failure for file in found for compilation in file.compilations] == ["", ""]
    assert len(tree.warnings) == 1
    assert "No space left on device" in tree.warnings[0]
    assert [f for f in tree.cache.rglob("*") if f.is_file() and f.name != "pruned"] == []


def test_old_results_are_deleted_and_used_ones_stay(tree: Tree) -> None:
    tree.compile()
    kept = next((tree.cache / "compile" / "results").rglob("?" * 40))
    os.utime(kept, (1, 1))
    tree.compile()
    assert tree.calls == 1
    assert kept.stat().st_mtime > 1, "a use makes a result young again"
    os.utime(kept, (1, 1))
    (tree.cache / "compile" / "pruned").unlink()
    (tree.root / "b.cu").touch()
    request = CompileRequest("b.cu", str(tree.root), "sm_121")
    compile_files([request], tree.nvcc.toolchains, 1, 10.0, tree.cache)
    assert not kept.exists()


def test_the_cache_is_not_needed(tree: Tree) -> None:
    request = CompileRequest("a.cu", str(tree.root), "sm_121")
    for _ in range(2):
        (compiled,) = compile_files([request], tree.nvcc.toolchains, 1, 10.0, None)
        assert compiled.compilations[0].functions[0].registers == 10
    assert tree.calls == 2
    assert "Used 10 registers" in CLEAN
