"""Byte offsets to lines and columns, and back: the one place that does it.

A line ends at LF; a CR before the LF is no part of it. Lines and columns count
from 1. A byte order mark at the start of the file takes up no column. Bytes
that are not UTF-8 count as the replacement characters that show them.
"""

from __future__ import annotations

import codecs
from bisect import bisect_right
from itertools import accumulate
from typing import Literal

import msgspec

Unit = Literal["characters", "utf16", "bytes"]
"""What a column counts: code points (text), UTF-16 code units (SARIF), UTF-8 bytes."""


class Position(msgspec.Struct, frozen=True, order=True):
    """A place between two characters: 1-based line and column."""

    line: int
    column: int


class LineRange(msgspec.Struct, frozen=True, order=True):
    """From `start` up to, and without, `end`."""

    start: Position
    end: Position


class LineIndex:
    """The lines of one file's bytes."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        starts = list(accumulate((len(line) + 1 for line in data.split(b"\n")), initial=0))
        starts.pop()
        self._starts = starts
        self._bom = len(codecs.BOM_UTF8) if data.startswith(codecs.BOM_UTF8) else 0

    @property
    def count(self) -> int:
        """How many lines there are; text after the last LF is a line, nothing after it is not."""
        return len(self._starts) - (self._starts[-1] == len(self._data) and len(self._starts) > 1)

    def line_of(self, offset: int) -> int:
        """The 1-based line on which the byte at `offset` lies."""
        return bisect_right(self._starts, offset)

    def bounds(self, line: int) -> tuple[int, int]:
        """The byte offsets of a line's content: no BOM, no line end.

        Raises IndexError for a line that is not there.
        """
        if not 1 <= line <= len(self._starts):
            raise IndexError(f"no line {line}")
        start = self._starts[line - 1]
        end = self._starts[line] - 1 if line < len(self._starts) else len(self._data)
        if line == 1:
            start = self._bom
        if end > start and line < len(self._starts) and self._data[end - 1] == 0x0D:
            end -= 1
        return start, end

    def text(self, line: int) -> str:
        """A line's content, decoded with replacement characters."""
        start, end = self.bounds(line)
        return self._data[start:end].decode("utf-8", "replace")

    def position(self, offset: int, unit: Unit = "characters") -> Position:
        """Where `offset` is. Inside a character it is before it, inside a line end before that."""
        line = self.line_of(min(offset, len(self._data)))
        start, end = self.bounds(line)
        offset = max(start, min(offset, end))
        return Position(line, 1 + self._width(start, offset, end, unit))

    def range(self, start: int, end: int, unit: Unit = "characters") -> LineRange:
        """The lines and columns of the bytes `[start, end)`.

        A range that ends with a line's end stops there, and does not reach into
        the line after it; for the exact place of an edit ask `position` instead.
        """
        first = self.position(start, unit)
        last = self.position(end, unit)
        if last.column == 1 and last.line > first.line:
            last = self.position(end - 1, unit)
        return LineRange(first, max(first, last))

    def offset(self, position: Position, unit: Unit = "characters") -> int:
        """The byte offset of a position; beyond a line's end it is the line's end.

        Raises IndexError for a line that is not there.
        """
        start, end = self.bounds(position.line)
        if unit == "bytes":
            return min(start + position.column - 1, end)
        low, high = start, end
        while low < high:
            middle = (low + high) // 2
            if self._width(start, middle, end, unit) < position.column - 1:
                low = middle + 1
            else:
                high = middle
        return low

    def _width(self, start: int, offset: int, end: int, unit: Unit) -> int:
        """How many units lie between a line's start and an offset on it."""
        piece = self._data[start:offset]
        if unit == "bytes" or piece.isascii():
            return offset - start
        whole, used = codecs.utf_8_decode(piece, "replace", False)
        if used < len(piece) and not self._inside_character(start + used, offset, end):
            whole = piece.decode("utf-8", "replace")
            if self._inside_replaced(start + used, offset, end):
                whole = whole[:-1]
        return len(whole) if unit == "characters" else len(whole.encode("utf-16-le")) // 2

    def _inside_replaced(self, first: int, offset: int, end: int) -> bool:
        """Whether `offset` cuts bytes that together are replaced by one character."""

        def count(low: int, high: int) -> int:
            return len(self._data[low:high].decode("utf-8", "replace"))

        return count(first, offset) + count(offset, end) > count(first, end)

    def _inside_character(self, first: int, offset: int, end: int) -> bool:
        """Whether a well-formed character starts at byte `first` and goes on past `offset`."""
        for stop in range(offset + 1, min(first + 4, end) + 1):
            try:
                self._data[first:stop].decode("utf-8")
            except UnicodeDecodeError:
                continue
            return True
        return False
