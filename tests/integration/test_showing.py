"""How much is shown: --statistics, --max-findings, --quiet, --show-files."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from test_cli import BAD, GOOD, NEVER, start

from conftest import write_files

PRINTF = BAD.replace("*x = 1;", 'printf("%f", *x);').replace("<x>", "")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    write_files(
        tmp_path,
        {
            "good.cu": GOOD,
            "a.cu": BAD,
            "b.cu": BAD.replace(" k(", " kb("),
            "c.cu": PRINTF.replace(" k(", " kc("),
        },
    )
    return tmp_path


def test_statistics_count_each_rule(tree: Path) -> None:
    done = start(tree, *NEVER, "--statistics", ".")
    assert done.returncode == 1
    assert done.stdout.splitlines() == [
        "3  warning  CU108       missing-launch-bounds",
        "1  error    CU201  [*]  device-printf",
        "1 error, 3 warnings; 1 fixable with --fix [*]",
        "4 kernels in 4 files; CU5 skipped (--compile never)",
    ]
    few = start(tree, *NEVER, "--statistics", "--output-format", "concise", "a.cu", "b.cu")
    assert few.stdout.splitlines()[0] == "2  warning  CU108  missing-launch-bounds"
    assert start(tree, *NEVER, "--statistics", "-q", "good.cu").stdout == ""
    coloured = start(tree, *NEVER, "--statistics", "--color", "always", "a.cu").stdout
    assert "\x1b[" in coloured


@pytest.mark.parametrize("format_", ["text", "concise"])
def test_at_most_so_many_findings(tree: Path, format_: str) -> None:
    def shown(*more: str) -> list[str]:
        done = start(tree, *NEVER, "--output-format", format_, *more, ".")
        assert done.returncode == 1
        return done.stdout.splitlines()

    lines = shown("--max-findings", "1")
    assert sum("CU108" in line or "CU201" in line for line in lines) == 1
    assert "3 more findings not shown (--max-findings 1)" in lines
    assert lines[-1].startswith("4 kernels in 4 files")
    assert "4 more findings not shown (--max-findings 0)" in shown("--max-findings", "0")
    assert shown("--max-findings", "4") == shown() == shown("--max-findings", "9")


def test_other_formats_hold_all_findings(tree: Path) -> None:
    cut = ("--max-findings", "1", "--statistics", "--output", "concise", "--output", "json:o.json")
    start(tree, *NEVER, *cut, ".")
    assert len(json.loads((tree / "o.json").read_text())["findings"]) == 4
    for option in (("--max-findings", "3"), ("--statistics",)):
        done = start(tree, *NEVER, *option, "--output", "json", ".")
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == (
            f"cudalint: error: {option[0]} is for text and concise, and neither is written\n"
        )
    assert "-1 is not in the range" in start(tree, "--max-findings", "-1", ".").stderr


def test_quiet_leaves_findings_and_errors(tree: Path) -> None:
    assert start(tree, *NEVER, "--quiet", "good.cu").stdout == ""
    loud = start(tree, *NEVER, "--output-format", "concise", "a.cu").stdout.splitlines()
    quiet = start(tree, *NEVER, "--output-format", "concise", "-q", "a.cu").stdout.splitlines()
    assert quiet == loud[:-1]
    excluded = ("--exclude", "*.cu", "--force-exclude", "a.cu")
    assert start(tree, *NEVER, *excluded).stderr
    assert start(tree, *NEVER, *excluded, "-q").stderr == ""
    gone = start(tree, *NEVER, "-q", "gone.cu")
    assert (gone.returncode, gone.stderr) == (
        2,
        "cudalint: error: no such file or folder: 'gone.cu'\n",
    )


def test_quiet_shows_no_progress_bar(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from contextlib import contextmanager

    from cudalint.cli import progressbar
    from cudalint.cli.group import cli
    from cudalint.compile.progress import Untold

    bars = []

    @contextmanager
    def progress_bar() -> Iterator[Untold]:
        bars.append("shown")
        yield Untold()

    monkeypatch.setattr(progressbar, "progress_bar", progress_bar)
    monkeypatch.chdir(tree)
    report = ("--output", "concise:out.txt")
    assert cli.main([*NEVER, *report, "good.cu"], standalone_mode=False) == 0
    assert bars == ["shown"]
    assert cli.main([*NEVER, *report, "-q", "good.cu"], standalone_mode=False) == 0
    assert bars == ["shown"]


def test_files_that_would_be_analysed(tree: Path) -> None:
    write_files(
        tree,
        {
            "cudalint.toml": 'extend-exclude = ["b.cu"]\n',
            ".gitignore": "c.cu\n",
            "sub/d.cu": BAD,
            "sub/readme.md": "",
        },
    )
    done = start(tree, "--show-files", ".")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == ["a.cu", "good.cu", "sub/d.cu"]
    below = start(tree / "sub", "--show-files", ".", "../b.cu")
    assert below.stdout.splitlines() == ["../b.cu", "d.cu"]
    gone = start(tree, "--show-files", "gone.cu", "a.cu")
    assert (gone.returncode, gone.stdout) == (2, "a.cu\n")
    assert "no such file or folder: 'gone.cu'" in gone.stderr


def test_names_of_any_bytes_are_listed_as_they_are(tree: Path) -> None:
    import subprocess

    from test_cli import cudalint_command

    folder = tree / "odd"
    folder.mkdir()
    (folder / os.fsdecode(b"k\xff.cu")).write_text(BAD)
    done = subprocess.run(
        cudalint_command("--show-files", "odd"), cwd=tree, capture_output=True, timeout=60
    )
    assert done.stdout == b"odd/k\xff.cu\n"
