"""Which comments stand beside or above a piece of code, by lines.

What a comment must say is the business of the rules.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cudalint.finding import Span
    from cudalint.syntax.model import FileModel


class NearbyComments:
    """The comments of one file by line; lines count from 0."""

    def __init__(self, model: FileModel, data: bytes) -> None:
        self._data = data
        self._starts = list(accumulate((len(line) + 1 for line in data.split(b"\n")), initial=0))
        self._comments = model.comments
        self._comment_starts = [comment.span.start for comment in model.comments]
        self._group: Collection[Span] = ()
        self._ends: dict[int, int] = {}
        self._above: dict[int, str] = {}

    def lines(self, span: Span) -> tuple[int, int]:
        """The first and last line of a span."""
        last = max(span.start, span.end - 1)
        return bisect_right(self._starts, span.start) - 1, bisect_right(self._starts, last) - 1

    def beside(self, span: Span) -> str:
        """The text of the comments that share a line with `span`."""
        first, last = self.lines(span)
        place = bisect_right(self._comment_starts, self._starts[first]) - 1
        texts = []
        for comment in self._comments[max(place, 0) :]:
            if comment.span.start >= self._starts[last + 1]:
                break
            if comment.span.end > self._starts[first]:
                texts.append(comment.text)
        return "\n".join(texts)

    def above(self, span: Span, group: Collection[Span] = ()) -> str:
        """The comment block that ends on the line before `span`.

        The lines of `group` (whatever belongs together with `span`) and of
        preprocessor directives may stand between. To ask with one group for many
        spans takes no longer than to pass over each line once.
        """
        if group is not self._group:
            self._group, self._above = group, {}
            self._ends = {last: first for first, last in map(self.lines, group)}
        line = self.lines(span)[0]
        passed = []
        while line > 0 and line not in self._above:
            passed.append(line)
            block = self._block(line - 1)
            if block:
                self._above[line] = block
            elif line - 1 in self._ends:
                line = min(self._ends[line - 1], line - 1)
            elif self._line(line - 1).lstrip().startswith(b"#"):
                line -= 1
            else:
                self._above[line] = ""
        found = self._above.get(line, "")
        self._above.update(dict.fromkeys(passed, found))
        return found

    def _block(self, line: int) -> str:
        """The text of the comments that stand alone on `line` and, without a gap, above it."""
        texts: list[str] = []
        place = bisect_right(self._comment_starts, self._starts[line + 1] - 1) - 1
        while place >= 0:
            comment = self._comments[place]
            first, last = self.lines(comment.span)
            if last != line or not comment.alone:
                break
            texts.append(comment.text)
            line, place = first - 1, place - 1
        return "\n".join(reversed(texts))

    def _line(self, line: int) -> bytes:
        return self._data[self._starts[line] : self._starts[line + 1]]
