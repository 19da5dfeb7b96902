"""Which comments stand beside or above a piece of code, by lines.

What a comment must say is the business of the rules.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cudalint.finding import Span
    from cudalint.syntax.model import Comment, FileModel


class NearbyComments:
    """The comments of one file by line; lines count from 0."""

    def __init__(self, model: FileModel, data: bytes) -> None:
        self._data = data
        self._starts = [0]
        at = data.find(b"\n")
        while at >= 0:
            self._starts.append(at + 1)
            at = data.find(b"\n", at + 1)
        self._beginning: dict[int, list[Comment]] = {}
        self._alone: dict[int, Comment] = {}
        for comment in model.comments:
            first, last = self.lines(comment.span)
            for line in range(first, last + 1):
                self._beginning.setdefault(line, []).append(comment)
            if comment.alone:
                self._alone[last] = comment

    def lines(self, span: Span) -> tuple[int, int]:
        """The first and last line of a span."""
        last = max(span.start, span.end - 1)
        return bisect_right(self._starts, span.start) - 1, bisect_right(self._starts, last) - 1

    def beside(self, span: Span) -> str:
        """The text of the comments that share a line with `span`."""
        first, last = self.lines(span)
        found: dict[Span, str] = {}
        for line in range(first, last + 1):
            for comment in self._beginning.get(line, ()):
                found[comment.span] = comment.text
        return "\n".join(found.values())

    def above(self, span: Span, group: Iterable[Span] = ()) -> str:
        """The comment block that ends on the line before `span`.

        The lines of `group` (whatever belongs together with `span`) and of
        preprocessor directives may stand between.
        """
        ends = {last: first for first, last in map(self.lines, group)}
        line = self.lines(span)[0]
        while line > 0:
            block = self._block(line - 1)
            if block:
                return block
            if line - 1 in ends:
                line = min(ends[line - 1], line - 1)
            elif self._line(line - 1).lstrip().startswith(b"#"):
                line -= 1
            else:
                return ""
        return ""

    def _block(self, line: int) -> str:
        """The text of the comments that stand alone on `line` and, without a gap, above it."""
        texts: list[str] = []
        while line in self._alone:
            comment = self._alone[line]
            texts.append(comment.text)
            line = self.lines(comment.span)[0] - 1
        return "\n".join(reversed(texts))

    def _line(self, line: int) -> bytes:
        end = self._starts[line + 1] if line + 1 < len(self._starts) else len(self._data)
        return self._data[self._starts[line] : end]
