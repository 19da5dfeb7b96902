"""Source lines with their marks: aligned, safe, and cut to a width."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sample_runs import PIECES, TEXTS

from cudalint.lines import LineIndex
from cudalint.reporters.colour import painter
from cudalint.reporters.excerpt import WIDTH, excerpt
from cudalint.reporters.visible import visible, width

PLAIN = painter(False)


def shown(text: str, start: int, end: int) -> list[str]:
    """The excerpt of the bytes `[start, end)` of a text."""
    return list(excerpt(LineIndex(text.encode()), start, end, "^", "red", 1, PLAIN))


def columns(text: str) -> int:
    """The columns of a text that has no tabs, by its own reckoning."""
    total = 0
    for char in text:
        if unicodedata.combining(char) or unicodedata.category(char) in ("Mn", "Me"):
            continue
        total += 2 if unicodedata.east_asian_width(char) in ("W", "F") else 1
    return total


@pytest.mark.parametrize(
    ("text", "marked", "lines"),
    [
        ("int x = 1;\n", "x", [" 1 | int x = 1;", "   |     ^"]),
        ("\tint x;\n", "int", [" 1 |     int x;", "   |     ^^^"]),
        ("a\tb;\n", "b", [" 1 | a   b;", "   |     ^"]),
        ("日本 x;\n", "x", [" 1 | 日本 x;", "   |      ^"]),
        ("日本 x;\n", "本", [" 1 | 日本 x;", "   |   ^^"]),
        ("e\u0301x;\n", "x", [" 1 | e\u0301x;", "   |  ^"]),
        ("a\x1b[31mb;\n", "b", [" 1 | a␛[31mb;", "   |       ^"]),
        ("a\u202eb;\n", "\u202e", [" 1 | a<U+202E>b;", "   |  ^^^^^^^^"]),
        ("\ufeffint x;\n", "int", [" 1 | int x;", "   | ^^^"]),
        ("int x;\r\n", "x;", [" 1 | int x;", "   |     ^^"]),
        ("f(\n  a,\n  b)\n", "(\n  a", [" 1 | f(", "   |  ^", " 2 |   a,", "   |   ^"]),
        (
            "f(\n a,\n b,\n c,\n d)\n",
            "f(\n a,\n b,\n c,\n d)",
            [
                " 1 | f(",
                "   | ^^",
                " 2 |  a,",
                "   |  ^^",
                " 3 |  b,",
                "   |  ^^",
                " . | ...",
                " 5 |  d)",
                "   |  ^^",
            ],
        ),
    ],
)
def test_marks(text: str, marked: str, lines: list[str]) -> None:
    start = text.encode().index(marked.encode())
    assert shown(text, start, start + len(marked.encode())) == lines


def test_an_empty_span_has_one_mark() -> None:
    assert shown("int x;\n", 3, 3) == [" 1 | int x;", "   |    ^"]
    assert shown("\n", 0, 0) == [" 1 |", "   | ^"]


def test_long_lines_are_cut_around_the_span() -> None:
    text = "a" * 5000 + " target " + "b" * 5000
    code, marks = shown(text, 5001, 5007)
    assert "… " not in code[: code.index("target") - 1]
    assert code.startswith(" 1 | …")
    assert code.endswith("…")
    assert len(code) <= WIDTH + 7
    assert code[marks.index("^") : marks.rindex("^") + 1] == "target"


def test_a_long_span_is_cut() -> None:
    code, marks = shown("x" * 10_000, 0, 10_000)
    assert len(code) <= WIDTH + 7
    assert len(marks) <= WIDTH + 7


SHORT = st.lists(PIECES.filter(lambda piece: "\n" not in piece and "\t" not in piece), max_size=8)


@given(SHORT, SHORT.filter(bool), SHORT)
def test_marks_stand_under_the_marked_text(
    before: list[str], inside: list[str], after: list[str]
) -> None:
    first, middle, last = ("".join(pieces) for pieces in (before, inside, after))
    if first.startswith("\ufeff") or (not first and middle.startswith("\ufeff")):
        return
    text = first + middle + last + "."
    start = len(first.encode())
    code, marks, *more = shown(text, start, start + len(middle.encode()))
    assert more == []
    if "…" in code:
        return
    assert code == f" 1 | {visible(text)}"
    assert marks.index("^") == 5 + columns(visible(first))
    assert marks.count("^") == max(1, columns(visible(middle)))


@given(TEXTS, st.integers(0, 200), st.integers(0, 200))
def test_nothing_acts_on_the_terminal(text: str, start: int, length: int) -> None:
    size = len(text.encode())
    low = min(start, size)
    lines = shown(text, low, min(low + length, size))
    for line in lines:
        assert visible(line) == line
        assert "\t" not in line
        assert len(line.splitlines()) == 1


@given(st.text())
def test_visible_text_is_harmless_and_stays(text: str) -> None:
    safe = visible(text)
    assert visible(safe) == safe
    for char in safe:
        assert char == "\t" or unicodedata.category(char) not in ("Cc", "Cs", "Zl", "Zp")
        assert char not in "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200b\ufeff"
    safe.encode("utf-8")


@pytest.mark.parametrize(("char", "columns"), [("a", 1), ("日", 2), ("\u0301", 0), ("é", 1)])
def test_width(char: str, columns: int) -> None:
    assert width(char) == columns
