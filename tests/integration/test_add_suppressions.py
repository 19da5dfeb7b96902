"""--add-suppressions: comments in the files, and a clean run after."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from test_cli import GOOD, NEVER, SPDX, start

from conftest import write_files
from inside import inside

CODE = (
    SPDX
    + """\
#include <cstdio>
#define LAUNCH(k) \\
  k<<<1, 32>>>(); \\
  cudaDeviceSynchronize()
const char* text = R"(
)";
extern "C" __global__ void k() { printf("%d", 1); }
void go(cudaEvent_t e) {
\tLAUNCH(k);
\tcudaEventRecord(
\t    e,
\t    0);  // the null stream
}
"""
)
REASON = "known since the import"
ADD = ("--add-suppressions", "--reason", REASON)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    write_files(tmp_path, {"a.cu": CODE, "b.cu": CODE.replace("\n", "\r\n").replace("k", "q")})
    return tmp_path


def test_the_run_is_clean_after_and_the_code_as_it_was(tree: Path) -> None:
    done = start(tree, *NEVER, *ADD, ".")
    assert (done.returncode, done.stderr) == (0, "cudalint: note: wrote comments into 2 files\n")
    assert done.stdout.startswith("12 suppressed\n")
    assert start(tree, *NEVER, "--strict", ".").returncode == 0
    text = (tree / "a.cu").read_text()
    wanted = CODE.splitlines()
    wanted[1] += f"  // NOLINT(CU103): {REASON}"
    wanted[4] += f"  // NOLINT(CU301): {REASON}"
    wanted[7] += f"  // NOLINT(CU108,CU201): {REASON}"
    wanted[9] += f"  // NOLINT(CU303): {REASON}"
    wanted[10] += f"  // NOLINT(CU302): {REASON}"
    left = [line for line in text.splitlines() if line not in wanted]
    assert left == []
    assert b"\n" not in (tree / "b.cu").read_bytes().replace(b"\r\n", b"")


def test_a_second_time_there_is_nothing_to_do(tree: Path) -> None:
    start(tree, *NEVER, *ADD, ".")
    before = (tree / "a.cu").read_bytes()
    done = start(tree, *NEVER, *ADD, ".")
    assert (done.returncode, done.stderr) == (0, "")
    assert (tree / "a.cu").read_bytes() == before


def test_what_a_baseline_holds_and_what_is_not_selected_stays(tree: Path) -> None:
    start(tree, "baseline", "write", *NEVER, "--select", "CU3")
    more = ("--baseline", "cudalint-baseline.json", "--select", "CU3,CU103", "--quiet")
    assert start(tree, *NEVER, *ADD, *more, ".").stderr == ""
    text = (tree / "a.cu").read_text()
    assert "NOLINT(CU103)" in text
    assert text.count("NOLINT") == 1


def test_files_that_can_not_be_written_or_read(tree: Path) -> None:
    outside = tree.parent / "outside.cu"
    outside.write_text(CODE.replace("k", "z"))
    (tree / "c.cu").symlink_to(outside)
    write_files(tree, {"d.cu": b"\xff\n"})
    (tree / "b.cu").chmod(0o444)
    done = start(tree, *NEVER, *ADD, "a.cu", "b.cu", "c.cu", "d.cu")
    assert done.returncode == 2
    said = done.stderr.splitlines()
    place = os.path.realpath(outside)
    assert f"cudalint: warning: 'c.cu' gets no comments: it leads to '{place}', outside" in said[1]
    assert "cudalint: warning: no comment can silence CU004 in d.cu" in said
    assert "cudalint: error: cannot change 'b.cu': it is read-only" in said
    assert outside.read_text() == CODE.replace("k", "z")


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--add-suppressions",), "--add-suppressions needs a reason: --reason TEXT"),
        (("--reason", "x"), "--reason goes with --add-suppressions only"),
        ((*ADD, "--fix"), "--add-suppressions can't go with --fix"),
        ((*ADD, "--diff"), "--add-suppressions can't go with --diff"),
        ((*ADD, "--shard", "1/2"), "--add-suppressions can't go with --shard"),
        ((*ADD, "-"), "--add-suppressions writes files, and '-' is none"),
        (("--add-suppressions", "--reason", "..."), "--reason can't be '...': it says nothing"),
        (("--add-suppressions", "--reason", "a\\"), "takes in the next line"),
    ],
)
def test_what_can_not_be(tree: Path, arguments: tuple[str, ...], complaint: str) -> None:
    done = start(tree, *arguments, "a.cu")
    assert done.returncode == 2
    assert complaint in done.stderr
    assert done.stderr.count("\n") == 1
    assert (tree / "a.cu").read_text() == CODE


RAW = (
    SPDX
    + """\
const char* text = R"(
)"; void go(cudaEvent_t e) { cudaEventRecord(e); } const char* more = R"(
)";
"""
)


def test_a_line_that_ends_in_a_raw_string_is_silenced_in_its_midst(tmp_path: Path) -> None:
    """On top of the file it would silence what is yet to come too."""
    write_files(tmp_path, {"a.cu": RAW})
    said = inside(tmp_path, *NEVER, "--select", "CU302", *ADD, "a.cu")
    assert (said.code, said.err) == (0, "cudalint: note: wrote comments into 1 file\n")
    behind = f"cudaEventRecord(e); /* NOLINT(CU302): {REASON} */ }} const"
    assert (tmp_path / "a.cu").read_text() == RAW.replace("cudaEventRecord(e); } const", behind)


def test_where_the_whole_file_is_silenced_that_is_said(tmp_path: Path) -> None:
    """A manifest has comments at the end of a line alone, and this line is too long for one."""
    key = "x" * 90
    write_files(tmp_path, {"gb10/common/rms.cu": GOOD, "gb10/common/KERNEL.toml": f"{key} = 1\n"})
    said = inside(tmp_path, *NEVER, "--select", "CU406", *ADD, ".")
    note = (
        "CU406 is silenced in all of gb10/common/KERNEL.toml: its line has no place for a comment"
    )
    assert (said.code, said.err.splitlines()[1]) == (0, f"cudalint: note: {note}")
