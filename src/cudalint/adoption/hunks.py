"""Which lines of a file differ from an older content, and whether a span touches them."""

from __future__ import annotations

from bisect import bisect_right
from difflib import SequenceMatcher

from cudalint.lines import LineIndex

_MOST = 20_000
"""With more lines between the first and the last that differ, all of them count as changed."""


class ChangedLines:
    """The changed lines of one file; `old` is None for a file that is new as a whole."""

    def __init__(self, old: bytes | None, new: bytes) -> None:
        self._index = LineIndex(new)
        self.any = old != new
        self._runs: list[tuple[int, int]]
        if old is None:
            self._runs = [(0, self._index.count + 2)]
        else:
            self._runs = changed_runs(old, new) if self.any else []
        self._starts = [start for start, _ in self._runs]

    def touched(self, start: int, end: int) -> bool:
        """Whether the lines of the bytes `[start, end)` hold a change, or border on lines gone."""
        first = self._index.line_of(start)
        last = self._index.line_of(max(start, end - 1))
        at = bisect_right(self._starts, last + 1)
        return any(
            low <= last and first < high if low < high else first <= low <= last + 1
            for low, high in self._runs[:at]
        )


def changed_runs(old: bytes, new: bytes) -> list[tuple[int, int]]:
    """The runs of lines of `new` that differ from `old`: first, and the one after the last.

    Lines count from 1. An empty run is a place before which lines are gone that
    were not blank. A CR before LF is no difference: git may have put it there.
    """
    before, after = (data.replace(b"\r\n", b"\n").split(b"\n") for data in (old, new))
    head = 0
    shorter = min(len(before), len(after))
    while head < shorter and before[head] == after[head]:
        head += 1
    tail = 0
    while tail < shorter - head and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    before, after = before[head : len(before) - tail], after[head : len(after) - tail]
    if max(len(before), len(after)) > _MOST:
        return [(head + 1, head + 1 + len(after))]
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    return [
        (head + start + 1, head + end + 1)
        for kind, low, high, start, end in matcher.get_opcodes()
        if kind != "equal" and (start < end or b"".join(before[low:high]).strip())
    ]
