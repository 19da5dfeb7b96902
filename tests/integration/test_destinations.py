"""What no report or baseline replaces: sources, manifests, settings, and what the run reads."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_cli import BAD, GOOD, NEVER

from conftest import write_files
from inside import inside

HELD = {
    "good.cu": GOOD,
    "src/bad.cu": BAD,
    "src/tile.cuh": "",
    "src/KERNEL.toml": "[shadow]\n",
    "cudalint.toml": "",
    "pyproject.toml": "[project]\n",
    "other.toml": "",
    "list.txt": "good.cu\n",
    "base.json": '{"version": 1, "findings": []}',
}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    write_files(tmp_path, {**HELD})
    (tmp_path / "linked.sarif").symlink_to("src/bad.cu")
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--output", "sarif:src/bad.cu"), "'src/bad.cu': that is the name of a source"),
        (("--output-file", "good.cu"), "'good.cu': that is the name of a source"),
        (("--output", "text:src/tile.cuh"), "'src/tile.cuh': that is the name of a source"),
        (("--output", "text:new.cpp"), "'new.cpp': that is the name of a source"),
        (("--output", "json:linked.sarif"), "'linked.sarif': that is the name of a source"),
        (("--output", "json:src/KERNEL.toml"), "that is the name of a manifest"),
        (("--output", "json:cudalint.toml"), "that is the name of a settings file"),
        (("--output", "json:pyproject.toml"), "that is the name of a settings file"),
        (("--config", "other.toml", "--output", "json:./other.toml"), "which is read"),
        (("--baseline", "base.json", "--output", "json:base.json"), "which is read"),
        (("--files-from", "list.txt", "--output", "json:list.txt"), "which is read"),
        (("@list.txt", "--output", "json:src/../list.txt"), "which is read"),
    ],
)
def test_reports_leave_what_is_read(arguments: tuple[str, ...], complaint: str, tree: Path) -> None:
    done = inside(tree, *NEVER, *arguments, ".")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("cudalint: error: no report can go to ")
    assert complaint in done.err
    assert done.err.count("\n") == 1
    assert {path: (tree / path).read_text() for path in HELD} == HELD


def test_other_files_are_written_over(tree: Path) -> None:
    write_files(tree, {"out.sarif": "old", "other.json": "old"})
    done = inside(tree, *NEVER, "--output", "sarif:out.sarif", "--output", "json:other.json", ".")
    assert (done.code, done.err) == (1, "")
    assert "old" not in ((tree / "out.sarif").read_text(), (tree / "other.json").read_text())


def test_joined_logs_and_baselines_leave_sources(tree: Path) -> None:
    log = ("--shard", "1/1", "--output", "sarif:1.sarif")
    inside(tree, *NEVER, *log, ".")
    kept = (tree / "1.sarif").read_bytes()
    done = inside(tree, "merge", "1.sarif", "--output-file", "good.cu")
    said = "cudalint: error: cannot write good.cu: that is the name of a source\n"
    assert (done.code, done.out, done.err) == (2, "", said)
    done = inside(tree, "merge", "1.sarif", "--output-file", "./1.sarif")
    said = "cudalint: error: './1.sarif' is one of the logs to join\n"
    assert (done.code, done.out, done.err) == (2, "", said)
    assert (tree / "1.sarif").read_bytes() == kept
    done = inside(tree, "baseline", "write", *NEVER, "--baseline", "new.cu", ".")
    said = "cudalint: error: cannot write new.cu: that is the name of a source\n"
    assert (done.code, done.out, done.err) == (2, "", said)
    assert {path: (tree / path).read_text() for path in HELD} == HELD
    assert not (tree / "new.cu").exists()
