"""Regions: the lines and columns of a span, its text, and the lines around it.

Columns are 1-based UTF-16 code units, the end exclusive; a tab is one, CR and a
byte order mark none.
"""

from __future__ import annotations

from typing import Any

import sarif_om as om

from cudalint.finding import Span
from cudalint.lines import LineIndex, LineRange, Position
from cudalint.regex import regex

AROUND = 2
"""How many lines before and after a finding its context shows."""

_LINE_END = regex(rb"[\r\n]")

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
        at its place, since viewers show nothing of an empty region; on an empty
        line there is no more to say than the line.
        """
        start, end = self.bounds(span)
        return self._region(start, end, self._place(start, end))

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
        place = self._place(span.start, span.end)
        return om.Region(
            start_line=place.start.line,
            start_column=place.start.column,
            end_line=place.end.line,
            end_column=place.end.column,
        )

    def _place(self, start: int, end: int) -> LineRange:
        return LineRange(self.index.position(start, "utf16"), self.index.position(end, "utf16"))

    def bounds(self, span: Span) -> tuple[int, int]:
        """The bytes that stand for a span: whole characters, and some unless its line is empty.

        A line end at the end of a span is no part of it, nor is a byte order mark.
        """
        start, end = (min(offset, len(self._data)) for offset in (span.start, span.end))
        if start == end == 0:
            return self.index.bounds(1)
        if self._is_plain(start, end):
            return start, end
        start, end = self._whole(start), self._whole(end)
        line = self.index.line_of(end)
        if line > self.index.line_of(start) and end == self.index.bounds(line)[0]:
            end = self.index.bounds(line - 1)[1]
        if end > start:
            return start, end
        line_start, line_end = self.index.bounds(self.index.line_of(start))
        if start < line_end:
            return start, self._whole_after(start, line_end)
        return (self._whole(start - 1) if start > line_start else start), start

    def _is_plain(self, start: int, end: int) -> bool:
        """Whether the bytes are some ASCII characters of one line, the common case."""
        text = self._data[start:end]
        after = self._data[end : end + 1]
        return bool(text) and text.isascii() and after.isascii() and not _LINE_END.search(text)

    def _whole(self, offset: int) -> int:
        """The start of the character at an offset; the end of the text where a line end is."""
        return self.index.offset(self.index.position(offset, "utf16"), "utf16")

    def _whole_after(self, start: int, line_end: int) -> int:
        """The end of the character that starts at an offset of a line.

        A character whose bytes the file's end cuts short ends with the line.
        """
        ends = (at for at in range(start + 1, line_end + 1) if self._whole(at) > start)
        return next(ends, line_end)

    def _region(self, start: int, end: int, place: LineRange) -> Any:
        if start == end:
            return om.Region(start_line=place.start.line)
        text = None
        if end - start <= LONGEST:
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
