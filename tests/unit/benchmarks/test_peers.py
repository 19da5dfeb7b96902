"""The table of `benchmarks/peers.py`, on a folder of one's own, put into a page."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import peers
from peers import MARKS, doubling
from process import FailedError, spend
from startup import SMALL_FILE


def test_a_folder_is_measured_into_a_page(tmp_path: Path) -> None:
    tree, page = tmp_path / "tree", tmp_path / "page.md"
    tree.mkdir()
    (tree / "small.cu").write_text(SMALL_FILE)
    page.write_text(f"before\n\n{MARKS[0]}old\n{MARKS[1]}\nafter\n")
    options = ["--rounds", "1", "--folder", tree, "--tools", tmp_path, "--into", page]
    subprocess.run([sys.executable, peers.__file__, *options], check=True, capture_output=True)
    text = page.read_text()
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert "old" not in text
    assert "clang-tidy was not at hand" in text
    rows = [line.split("|")[1:] for line in text.splitlines() if line.startswith("| 6 lines")]
    assert [row[1].strip() for row in rows] == [
        "bare parse",
        "cudalint, no cache",
        "cudalint, fills the cache, 2 jobs",
        "cudalint, warm",
    ]
    assert all(float(row[2]) > 0 and float(row[3]) > 0 and float(row[4]) > 1 for row in rows)


def test_doubling_is_told_from_the_cost_of_a_line() -> None:
    assert "1,000 to 8,000 lines: 2.00" in doubling([(1000, 5.0), (8000, 5.0)])
    assert "1,000 to 4,000 lines: 4.00" in doubling([(1000, 1.0), (4000, 4.0)])


def test_a_contender_that_fails_fails_the_measuring(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "import sys; sys.exit('no such thing')"]
    with pytest.raises(FailedError, match=r"ends with 1:\nno such thing"):
        spend(command, tmp_path, {}, codes=(0,))
