"""Regions: the lines and columns of a span, its text, and the lines around it.

Columns are 1-based UTF-16 code units, the end exclusive; a tab is one, CR and a
byte order mark none.
"""

from __future__ import annotations

from typing import Any

import sarif_om as om

from cudalint.finding import Span
from cudalint.lines import LineIndex, LineRange, Position

AROUND = 2
"""How many lines before and after a finding its context shows."""

LONGEST = 4000
"""The most bytes of a snippet; a longer text is left out, for a part would be untrue."""


class FileRegions:
    """Makes the regions of one file."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.index = LineIndex(data)

    def of(self, span: Span) -> Any:
        """The region of a span, with its text.

        A whole-file span is line 1. A span that holds no text gets the character
        at its place, since viewers show nothing of an empty region.
        """
        start, end = self.bounds(span)
        return self._region(start, end, self.index.range(start, end, "utf16"))

    def around(self, span: Span) -> Any | None:
        """The whole lines around a span, None where there is nothing more than the span."""
        start, end = self.bounds(span)
        lines = max(self.index.count, 1)
        first = max(1, self.index.line_of(start) - AROUND)
        last = min(self.index.line_of(max(start, end - 1)) + AROUND, lines)
        last_start, outer_end = self.index.bounds(last)
        outer_start = self.index.bounds(first)[0]
        if outer_end - outer_start <= end - start or outer_end - outer_start > LONGEST:
            return None
        last_length = _utf16_length(self._data[last_start:outer_end])
        place = LineRange(Position(first, 1), Position(last, last_length + 1))
        return self._region(outer_start, outer_end, place)

    def deleted(self, span: Span) -> Any:
        """The region that an edit replaces: exact, empty for an insertion, no text."""
        start = self.index.position(span.start, "utf16")
        end = self.index.position(span.end, "utf16")
        return om.Region(
            start_line=start.line,
            start_column=start.column,
            end_line=end.line,
            end_column=end.column,
        )

    def bounds(self, span: Span) -> tuple[int, int]:
        """The bytes that stand for a span: never none on a line that has any."""
        start, end = span.start, min(span.end, len(self._data))
        if start == end == 0:
            return self.index.bounds(1)
        line_start, line_end = self.index.bounds(self.index.line_of(min(start, len(self._data))))
        if end > start:
            return start, end
        if start < line_end:
            return start, self._next(start)
        start = min(start, line_end)
        return self._previous(start, line_start), start

    def _next(self, start: int) -> int:
        """The end of the character that starts at a byte."""
        end = start + 1
        while end < len(self._data) and self._data[end] & 0xC0 == 0x80:
            end += 1
        return end

    def _previous(self, end: int, line_start: int) -> int:
        """The start of the character before a byte, on the same line."""
        start = max(line_start, end - 1)
        while start > line_start and self._data[start] & 0xC0 == 0x80:
            start -= 1
        return start

    def _region(self, start: int, end: int, place: LineRange) -> Any:
        text = None
        if start < end <= start + LONGEST:
            text = om.ArtifactContent(text=self._data[start:end].decode("utf-8", "replace"))
        return om.Region(
            start_line=place.start.line,
            start_column=place.start.column,
            end_line=place.end.line,
            end_column=place.end.column,
            snippet=text,
        )


def _utf16_length(text: bytes) -> int:
    if text.isascii():
        return len(text)
    return len(text.decode("utf-8", "replace").encode("utf-16-le")) // 2
