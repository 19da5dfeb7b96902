"""The trees that benchmarks lint: shaped like the shipped one, clean, and the same each time."""

from __future__ import annotations

from pathlib import Path

import pytest

from cudalint.runner import Request, run
from generator import SHIPPED, make_tree, sources
from shape import shape

LINES = 9_000
TOLERANCE = 0.25


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("generated") / "tree"
    make_tree(folder, LINES)
    return folder


def test_its_shape_is_that_of_the_shipped_tree(tree: Path) -> None:
    made, shipped = shape(tree), shape(SHIPPED)
    assert made == {figure: pytest.approx(shipped[figure], rel=TOLERANCE) for figure in made}


def test_no_rule_finds_anything_in_it(tree: Path) -> None:
    finished = run(Request((".",), tree, isolated=True, compile="never"))
    assert [str(f.message) for f in finished.findings] == []
    assert finished.notifications == ()


def test_it_has_the_lines_that_were_asked_for_and_no_two_kernels_of_one_name(tree: Path) -> None:
    lines = sum(file.read_bytes().count(b"\n") for file in sources(tree))
    longest = max(file.read_bytes().count(b"\n") for file in sources(tree))
    assert LINES <= lines < LINES + longest


def test_it_is_the_same_each_time(tree: Path, tmp_path: Path) -> None:
    make_tree(tmp_path / "tree", LINES)
    again = {file.relative_to(tmp_path / "tree"): file.read_bytes() for file in sources(tmp_path)}
    assert again == {file.relative_to(tree): file.read_bytes() for file in sources(tree)}
