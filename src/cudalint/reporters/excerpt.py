"""Source lines with a span marked under them, as text output shows them.

Tabs are expanded, wide characters count double, what acts or hides is made
visible (`cudalint.reporters.visible`), long lines are cut around the span, and
of long spans the first lines and the last are shown.
"""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.lines import LineIndex
from cudalint.reporters.colour import Paint
from cudalint.reporters.visible import visible, width

TAB = 4
WIDTH = 140
"""The most columns of a source line that are shown."""

MARGIN = 50
"""The most columns of a cut line that are shown before the span."""

LINES = 4
"""The most lines of one span that are shown."""


def excerpt(
    index: LineIndex, start: int, end: int, mark: str, style: str, gutter: int, paint: Paint
) -> Iterator[str]:
    """The lines of the bytes `[start, end)`, each with a line of `mark` under it.

    `gutter` is the width of the line numbers. An empty span has one mark.
    """
    place = index.range(start, end)
    first, last = place.start.line, place.end.line
    shown = list(range(first, last + 1))
    if len(shown) > LINES:
        shown = [*shown[: LINES - 1], 0, last]
    bar = paint("|", "blue")
    for line in shown:
        if line == 0:
            yield f" {paint('.' * gutter, 'blue')} {bar} ..."
            continue
        text = index.text(line)
        low = place.start.column - 1 if line == first else len(text) - len(text.lstrip())
        high = place.end.column - 1 if line == last else len(text)
        code, before, under = _cut(text, low, max(high, low))
        yield f" {paint(f'{line:>{gutter}}', 'blue')} {bar} {code}".rstrip()
        if under or line == first:
            yield f" {' ' * gutter} {bar} {' ' * before}{paint(mark * max(under, 1), style)}"


def _cut(text: str, low: int, high: int) -> tuple[str, int, int]:
    """The part of a line that is shown around the characters `[low, high)`.

    Gives it with the columns before the mark and under it.
    """
    begin = 0 if _fits(text) else _begin(text, low)
    code, column = ("…", 1) if begin else ("", 0)
    before = under = column
    for at in range(begin, len(text)):
        piece, columns = _cell(text[at], column)
        if column + columns > WIDTH:
            code += "…"
            break
        if at < low:
            before = column + columns
        if at < high:
            under = column + columns
        code += piece
        column += columns
    return code, before, max(0, under - before)


def _fits(text: str) -> bool:
    """Whether a line can be shown whole."""
    if len(text) > WIDTH:
        return False
    column = 0
    for char in text:
        column += _cell(char, column)[1]
    return column <= WIDTH


def _begin(text: str, low: int) -> int:
    """The first character that is shown of a long line whose span starts at `low`."""
    columns = 0
    for at in range(low - 1, -1, -1):
        columns += _cell(text[at], 0)[1]
        if columns > MARGIN:
            return at + 1
    return 0


def _cell(char: str, column: int) -> tuple[str, int]:
    """What is shown of a character that stands at a column, and its width."""
    if char == "\t":
        columns = TAB - column % TAB
        return " " * columns, columns
    if char.isascii() and char.isprintable():
        return char, 1
    shown = visible(char)
    return shown, width(shown) if len(shown) == 1 else len(shown)
