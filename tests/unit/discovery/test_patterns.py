"""Gitignore patterns: the quick way agrees with pathspec."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pathspec import GitIgnoreSpec

from cudalint.patterns import Patterns

SEGMENTS = st.sampled_from(["a", "b.cu", "*", "**", "*.cu", "a*", "tests", "*_test.*"])
PATTERNS = st.builds(
    lambda start, parts, end: start + "/".join(parts) + end,
    st.sampled_from(["", "/"]),
    st.lists(SEGMENTS, min_size=1, max_size=4),
    st.sampled_from(["", "/"]),
).filter(lambda pattern: pattern.count("**") <= 3)  # those with more are passed over
PATHS = st.lists(
    st.sampled_from(["a", "b.cu", "ab", "c.cu", "tests", "x_test.cpp"]), min_size=1, max_size=4
).map("/".join)


@settings(max_examples=500, deadline=None)
@given(st.lists(PATTERNS, max_size=3), PATHS, st.booleans())
def test_agrees_with_pathspec(lines: list[str], path: str, folder: bool) -> None:
    expected = GitIgnoreSpec.from_lines(lines).check_file(path + "/" if folder else path).include
    assert Patterns(lines).decide(path, folder=folder) == expected


@pytest.mark.parametrize("lines", [["*.cu", "!keep.cu"], ["a?.cu"], ["[ab].cu"], ["# note", "b"]])
def test_what_is_not_plain_is_left_to_pathspec(lines: list[str]) -> None:
    for path in ("keep.cu", "ab.cu", "a.cu", "b"):
        assert (
            Patterns(lines).decide(path) == GitIgnoreSpec.from_lines(lines).check_file(path).include
        )


@pytest.mark.parametrize(
    "lines",
    [
        ["*a" * 20 + "b"],
        ["*a" * 20 + "b", "!keep"],
        ["**/a" * 20 + "/b"],
        ["**/a" * 20 + "/b", "!keep"],
    ],
)
def test_patterns_of_many_wildcards_have_an_end(lines: list[str]) -> None:
    """A tree may bring its own .gitignore."""
    patterns = Patterns(lines)
    assert not patterns.match("a" * 200)
    assert not patterns.match("a/" * 200 + "c")


@pytest.mark.parametrize(
    ("pattern", "name", "matches"),
    [
        ("*a*b*c", "xaybzc", True),
        ("*a*b*c", "xabcc", True),
        ("a*b*b", "ab", False),
        ("a*b*b", "abb", True),
        ("a**b", "ab", True),
        ("*ab*ab*", "xabab", True),
        ("*ab*ab*", "xab/ab", False),
        ("x/*a*a", "x/aa", True),
    ],
)
def test_each_piece_is_found_in_turn(pattern: str, name: str, matches: bool) -> None:
    assert Patterns([pattern, "y*z*y"]).match(name) is matches
