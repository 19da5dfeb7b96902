"""apply_edits and joined_edits."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cudalint.finding import Edit, Fix, Span
from cudalint.fixes.edits import apply_edits, joined_edits


def edit(start: int, end: int, text: str, path: str = "a.cu") -> Edit:
    return Edit(Span(path, start, end), text)


def test_edits_are_made_in_any_order() -> None:
    edits = [edit(4, 6, "Z"), edit(0, 0, "é"), edit(2, 3, "")]
    assert apply_edits(b"abcdefg", edits) == "éabdZg".encode()


def test_equal_edits_count_once() -> None:
    assert apply_edits(b"ab", [edit(1, 1, "x"), edit(1, 1, "x")]) == b"axb"


@pytest.mark.parametrize(
    "edits",
    [
        [edit(0, 2, ""), edit(1, 3, "")],
        [edit(1, 1, "x"), edit(1, 1, "y")],
        [edit(0, 5, "x")],
        [edit(2, 1, "x")],
    ],
)
def test_edits_that_cannot_be_made_are_refused(edits: list[Edit]) -> None:
    with pytest.raises(ValueError, match="overlaps"):
        apply_edits(b"abc", edits)


def test_of_clashing_fixes_the_first_is_taken_whole() -> None:
    first = Fix("1", (edit(0, 1, "x"), edit(4, 5, "y")))
    clashing = Fix("2", (edit(2, 3, "z"), edit(4, 6, "")))
    sharing = Fix("3", (edit(0, 1, "x"), edit(7, 7, "w")))
    elsewhere = Fix("4", (edit(0, 3, "", "b.cu"),))
    taken = joined_edits([first, clashing, sharing, elsewhere])
    assert set(taken) == {*first.edits, *sharing.edits, *elsewhere.edits}


spans = st.tuples(st.integers(0, 20), st.integers(0, 5), st.sampled_from(["", "q", "éé"]))


@given(st.binary(min_size=25, max_size=25), st.lists(spans, max_size=6))
def test_what_is_joined_can_be_applied(data: bytes, drawn: list[tuple[int, int, str]]) -> None:
    fixes = [Fix("", (edit(start, start + size, text),)) for start, size, text in drawn]
    edits = joined_edits(fixes)
    result = apply_edits(data, edits)
    grown = sum(len(e.text.encode()) - (e.span.end - e.span.start) for e in edits)
    assert len(result) == len(data) + grown
