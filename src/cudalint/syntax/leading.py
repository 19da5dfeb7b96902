"""The comments that stand directly before something."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from cudalint.syntax.brackets import after_space
from cudalint.syntax.model import Comment


class LeadingComments:
    """Looks comments up by what follows them; each text is made once."""

    def __init__(self, data: bytes, comments: Sequence[Comment]) -> None:
        self._data = data
        self._comments = comments
        self._starts = [comment.span.start for comment in comments]
        self._found: dict[int, str] = {}

    def before(self, at: int) -> str:
        """The comments directly before `at`, with nothing but white space between."""
        found = self._found.get(at)
        if found is None:
            found = self._found[at] = self._read(at)
        return found

    def _read(self, at: int) -> str:
        data = self._data
        index = bisect_right(self._starts, at) - 1
        lines: list[str] = []
        while index >= 0:
            comment = self._comments[index]
            end = comment.span.end
            if not comment.alone or after_space(data, end) < at or data.count(b"\n", end, at) > 1:
                break
            lines.append(comment.text)
            at = comment.span.start
            index -= 1
        return "\n".join(reversed(lines))
