"""Which comments stand beside or above a piece of code, by lines.

What a comment must say is the business of the rules.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from cudalint.finding import Span
    from cudalint.syntax.model import FileModel


class _Group(NamedTuple):
    """The spans that belong together, kept so that their number stays theirs.

    `firsts` are the first lines of those by their last, `answers` what stands above a line.
    """

    spans: Collection[Span]
    firsts: dict[int, int]
    answers: dict[int, str]


class NearbyComments:
    """The comments of one file by line; lines count from 0."""

    def __init__(self, model: FileModel, data: bytes) -> None:
        self._data = data
        self._starts = list(accumulate((len(line) + 1 for line in data.split(b"\n")), initial=0))
        self._comments = model.comments
        self._comment_starts = [comment.span.start for comment in model.comments]
        self._groups: dict[int, _Group] = {}

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
        known = self._groups.get(id(group))
        if known is None:
            firsts = {last: first for first, last in map(self.lines, group)}
            known = self._groups[id(group)] = _Group(group, firsts, {})
        firsts, answers = known.firsts, known.answers
        line = self.lines(span)[0]
        passed = []
        while line > 0 and line not in answers:
            passed.append(line)
            block = self._block(line - 1)
            if block:
                answers[line] = block
            elif line - 1 in firsts:
                line = min(firsts[line - 1], line - 1)
            elif self._line(line - 1).lstrip().startswith(b"#"):
                line -= 1
            else:
                answers[line] = ""
        found = answers.get(line, "")
        answers.update(dict.fromkeys(passed, found))
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
