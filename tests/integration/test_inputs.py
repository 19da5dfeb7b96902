"""What is linted: stdin under a name, lists of files, and batches that share a cache."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from pathlib import Path

import pytest
from test_cli import BAD, GOOD, NEVER, SPDX, cudalint_command, start

from conftest import write_files
from forked import run_cudalint

LINES = ("--output", "json")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    write_files(tmp_path, {"good.cu": GOOD, "bad.cu": BAD})
    return tmp_path


def piped(root: Path, data: bytes | str, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    given = data.encode() if isinstance(data, str) else data
    return run_cudalint([*arguments], cwd=root, given=given)


def found(done: subprocess.CompletedProcess[bytes]) -> list[tuple[str, str]]:
    """The code and path of each finding of a run with LINES."""
    findings = json.loads(done.stdout)["findings"]
    return [(finding["code"], finding["place"]["path"]) for finding in findings]


def test_stdin_goes_by_its_name(tree: Path) -> None:
    done = piped(tree, BAD, *NEVER, *LINES, "-")
    assert (done.returncode, done.stderr) == (1, b"")
    assert found(done) == [("CU108", "stdin.cu")]
    named = piped(tree, BAD, *NEVER, *LINES, "--stdin-filename", "k/new.cu", "-")
    assert found(named) == [("CU108", "k/new.cu")]
    text = piped(tree, BAD, *NEVER, "--stdin-filename", "good.cu", "-").stdout.decode()
    assert text.startswith("good.cu:2:28: warning CU108 ")
    assert "__global__ void k(float* x)" in text


def test_stdin_stands_for_the_file_on_the_disk(tree: Path) -> None:
    """Its name decides the settings, the ignores and what else is read."""
    write_files(
        tree,
        {
            "project/cudalint.toml": '[per-file-ignores]\n"quiet/*" = ["CU108"]\n',
            "project/launch.cu": SPDX + "void step();\nvoid run(float* x) { step(); }\n",
            "project/step.cu": SPDX,
            "project/caller.cu": SPDX
            + 'extern "C" __global__ void __launch_bounds__(64) k() {}\n'
            + "void step();\nvoid all(cudaStream_t s) { k<<<1, 64, 0, s>>>(); step(); }\n",
        },
    )
    new = SPDX + "void step() { cudaDeviceSynchronize(); }\n"
    options = (*NEVER, *LINES, "--select", "CU1,CU301")
    done = piped(tree, new, *options, "--stdin-filename", "project/step.cu", "-")
    assert found(done) == [("CU301", "step.cu")]
    assert found(piped(tree, BAD, *options, "--stdin-filename", "project/quiet/a.cu", "-")) == []
    loud = piped(tree, BAD, *options, "--stdin-filename", "project/loud.cu", "-")
    assert found(loud) == [("CU108", "loud.cu")]
    excluded = (*options, "--exclude", "step.cu", "--force-exclude")
    done = piped(tree, new, *excluded, "--stdin-filename", "project/step.cu", "-")
    assert found(done) == []
    assert b"every path given is excluded" in done.stderr


def test_stdin_is_taken_as_it_is(tree: Path) -> None:
    crlf = b"\xef\xbb\xbf" + BAD.replace("\n", "\r\n").encode()
    (tree / "crlf.cu").write_bytes(crlf)
    from_file = piped(tree, b"", *NEVER, *LINES, "crlf.cu")
    from_stdin = piped(tree, crlf, *NEVER, *LINES, "--stdin-filename", "crlf.cu", "-")
    assert from_file.stdout == from_stdin.stdout
    assert found(piped(tree, b"\x00\x01", *NEVER, *LINES, "-")) == [("CU004", "stdin.cu")]
    assert piped(tree, b"", *NEVER, *LINES, "-").returncode in (0, 1)


@pytest.mark.nvcc
@pytest.mark.usefixtures("toolchains")
def test_stdin_is_not_compiled_and_that_is_said(tree: Path) -> None:
    done = piped(tree, GOOD, "--output", "concise", "--select", "CU5", "-")
    assert done.stdout.endswith(b"CU5 of stdin.cu skipped (nvcc can't see this content)\n")
    both = piped(tree, GOOD, "--output", "concise", "--select", "CU5", "good.cu", "-")
    assert b"2 kernels in 2 files; CU5 of stdin.cu skipped" in both.stdout


@pytest.mark.parametrize("by", ["newline", "crlf", "nul"])
def test_lists_of_files(tree: Path, by: str) -> None:
    end = {"newline": "\n", "crlf": "\r\n", "nul": "\0"}[by]
    names = ["bad.cu", "#odd.cu", "@at.cu", "-.cu", "[x].cu", "a b.cu", "sub"]
    write_files(tree, {name: BAD for name in names if name.endswith(".cu")} | {"sub/c.cu": BAD})
    write_files(tree, {"readme.md": "no source", "list": end.join([*names, "readme.md", "", ""])})
    wanted = [*sorted(name for name in names if name != "sub"), "sub/c.cu"]
    for arguments in (("@list",), ("--files-from", "list"), ("--files-from=list", "@list")):
        done = piped(tree, b"", *NEVER, *LINES, *arguments)
        assert [path for _, path in found(done)] == wanted, arguments
        assert done.stderr == b""
    done = piped(tree, (tree / "list").read_bytes(), *NEVER, *LINES, "--files-from", "-")
    assert [path for _, path in found(done)] == wanted
    assert [path for _, path in found(piped(tree, b"", *NEVER, *LINES, "./@at.cu"))] == ["@at.cu"]


def test_names_in_lists_may_be_any_bytes(tree: Path) -> None:
    name = b"k\xff\n.cu"
    (tree / os.fsdecode(name)).write_text(BAD)
    done = piped(tree, name + b"\0", *NEVER, "--output", "concise", "--files-from", "-")
    assert done.returncode == 1
    assert "k<U+DCFF>␊.cu:2:28: warning CU108" in done.stdout.decode()


def test_a_list_with_nothing_for_us_is_fine(tree: Path) -> None:
    for data in (b"", b"readme.md\n", b"\0"):
        done = piped(tree, data, *NEVER, "--files-from", "-")
        assert done.returncode == 0
        assert done.stderr == b"cudalint: note: nothing to lint: no CUDA source is listed\n"
        assert done.stdout.startswith(b"0 kernels in 0 files")


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("@gone",), "cannot read the list 'gone': No such file or directory"),
        (("--files-from", "gone"), "cannot read the list 'gone': No such file or directory"),
        (("-", "--files-from", "-"), "stdin can be read once only"),
        (("--stdin-filename", "a.cu", "bad.cu"), "--stdin-filename names what '-' reads"),
        (("--compile", "always", "-"), "--compile always can't go with '-'"),
        (("--stdin-filename", "a.txt", "-"), "no CUDA source: 'a.txt'"),
        (("--fix", "-"), "--fix writes files, and '-' is none"),
    ],
)
def test_what_can_not_be_is_one_line(
    tree: Path, arguments: tuple[str, ...], complaint: str
) -> None:
    done = start(tree, *arguments)
    assert done.returncode == 2
    assert complaint in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_file_that_a_list_names_must_be_there(tree: Path) -> None:
    done = piped(tree, b"bad.cu\ngone.cu\n", *NEVER, "--files-from", "-")
    assert done.returncode == 2
    assert done.stderr == b"cudalint: error: no such file or folder: 'gone.cu'\n"


def test_batches_at_once_share_one_cache(tree: Path) -> None:
    """As a hook has it: hundreds of names, in several processes, with one cold cache."""
    names = [f"many/{number}.cu" for number in range(320)]
    for number, name in enumerate(names):
        body = (BAD if number % 3 == 0 else GOOD).replace(" k(", f" k{number}(")
        write_files(tree, {name: body})
    cache = tree.parent / f"{tree.name}-cache"
    # Half of the names are in two batches, so that entries are written twice at once.
    batches = [names[start_ : start_ + 160] for start_ in (0, 80, 160, 0)]

    def run(batch: list[str]) -> subprocess.Popen[bytes]:
        command = cudalint_command(*NEVER, *LINES, "--jobs", "1", "--cache-dir", str(cache), *batch)
        return subprocess.Popen(command, cwd=tree, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def told(processes: list[subprocess.Popen[bytes]]) -> list[bytes]:
        outputs = [process.communicate(timeout=300) for process in processes]
        assert [errors for _, errors in outputs] == [b""] * len(processes)
        return [output for output, _ in outputs]

    cold = told([run(batch) for batch in batches])
    entries = list((cache / "models").glob("*/*"))
    # One for each file, and what was judged in each batch.
    assert len(entries) == len(names) + len({tuple(batch) for batch in batches})
    assert all(not file.suffix for file in entries), "a draft was left behind"
    warm = told([run(batch) for batch in batches])
    alone = [start(tree, *NEVER, *LINES, "--no-cache", *batch).stdout for batch in batches]
    assert cold == warm == [text.encode() for text in alone]
    for output, batch in zip(cold, batches, strict=True):
        codes = [f["place"]["path"] for f in json.loads(output)["findings"]]
        assert codes == sorted(name for name in batch if int(name[5:-3]) % 3 == 0)


@pytest.mark.parametrize(
    "arguments",
    [
        ("@/dev/zero",),
        ("--files-from", "/dev/zero"),
        ("--baseline", "/dev/zero", "good.cu"),
        ("--config", "/dev/zero", "good.cu"),
        ("merge", "/dev/zero"),
    ],
)
def test_a_device_that_never_ends_is_refused(tree: Path, arguments: tuple[str, ...]) -> None:
    never = () if arguments[0] == "merge" else NEVER
    done = piped(tree, b"", *arguments[:1], *arguments[1:], *never)
    assert done.returncode == 2
    (line,) = done.stderr.decode().splitlines()
    assert "/dev/zero: a device, not a regular file" in line.replace("'", "")


def endless(tree: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    with Path("/dev/zero").open("rb") as zero:
        return subprocess.run(
            cudalint_command(*NEVER, *arguments),
            cwd=tree,
            stdin=zero,
            capture_output=True,
            text=True,
            timeout=120,
        )


def test_a_list_on_stdin_that_never_ends_is_refused(tree: Path) -> None:
    done = endless(tree, "@-")
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert line.endswith(": more than 100000000 bytes")


def test_a_source_on_stdin_is_bounded_as_one_on_the_disk(tree: Path) -> None:
    write_files(tree, {"cudalint.toml": f"max-file-size = {len(BAD)}\n"})
    assert found(piped(tree, BAD, *NEVER, *LINES, "-")) == [("CU108", "stdin.cu")]
    larger = piped(tree, BAD + " ", *NEVER, *LINES, "-")
    assert (larger.returncode, found(larger)) == (1, [("CU004", "stdin.cu")])
    done = endless(tree, "--output", "concise", "-")
    assert done.returncode == 1
    assert f"more than max-file-size ({len(BAD)} bytes)" in done.stdout
    write_files(tree, {"cudalint.toml": "max-file-size = 0\n"})
    wrong = piped(tree, BAD, *NEVER, "-")
    assert (wrong.returncode, wrong.stderr.count(b"\n")) == (2, 1)


def test_a_list_from_a_process_substitution(tree: Path) -> None:
    command = shlex.join(cudalint_command(*NEVER, *LINES))
    for listing in ("--files-from <(echo bad.cu)", "@<(echo bad.cu)", "@<(sleep 0.3; echo bad.cu)"):
        done = subprocess.run(
            ["bash", "-c", f"{command} {listing}"], cwd=tree, capture_output=True, timeout=120
        )
        assert (done.returncode, done.stderr) == (1, b"")
        assert found(done) == [("CU108", "bad.cu")]
    empty = subprocess.run(
        ["bash", "-c", f"{command} @<(true)"], cwd=tree, capture_output=True, timeout=120
    )
    assert empty.returncode == 0
    assert b"nothing to lint" in empty.stderr
