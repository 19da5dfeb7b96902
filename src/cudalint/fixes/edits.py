"""Applies edits to a file's bytes, in memory.

Which findings are mended is `cudalint.fixes.choice`, writing is `cudalint.fixes.write`.
"""

from __future__ import annotations

from collections.abc import Iterable

from cudalint.finding import Edit, Finding, Fix


def apply_edits(data: bytes, edits: Iterable[Edit]) -> bytes:
    """`data` with all `edits` made, in any order; equal edits count once.

    The edits must be of one file. Raises ValueError when two of them overlap,
    insert different text at one place, or lie outside the data.
    """
    pieces: list[bytes] = []
    at = 0
    last: Edit | None = None
    for edit in sorted(set(edits)):
        start, end = edit.span.start, edit.span.end
        if not at <= start <= end <= len(data) or (last is not None and last.span == edit.span):
            raise ValueError(f"edit at {start}:{end} overlaps another or lies outside the file")
        pieces += (data[at:start], edit.text.encode("utf-8"))
        at, last = end, edit
    return b"".join((*pieces, data[at:]))


def joined_edits(fixes: Iterable[Fix]) -> tuple[Edit, ...]:
    """The edits of those `fixes`, first come first served, that can be made together."""
    taken = Joined()
    for fix in fixes:
        taken.take(fix)
    return taken.edits


class Joined:
    """Edits that can be made together, collected fix by fix."""

    def __init__(self) -> None:
        self._by_path: dict[str, set[Edit]] = {}

    @property
    def edits(self) -> tuple[Edit, ...]:
        """All that were taken, in order of place."""
        return tuple(sorted(edit for edits in self._by_path.values() for edit in edits))

    @property
    def by_path(self) -> dict[str, set[Edit]]:
        """The edits of each file."""
        return self._by_path

    def take(self, fix: Fix) -> bool:
        """Take a fix whole, or not at all when it clashes; whether it was taken.

        One that shares an edit with another is taken. What is left out can be
        had by linting again.
        """
        new = [e for e in dict.fromkeys(fix.edits) if e not in self._by_path.get(e.span.path, ())]
        if any(_clash(e, other) for e in new for other in self._by_path.get(e.span.path, ())):
            return False
        for edit in new:
            self._by_path.setdefault(edit.span.path, set()).add(edit)
        return True


def mendable(findings: Iterable[Finding], *, unsafe: bool) -> list[tuple[Finding, Fix]]:
    """The findings that a fix mends, with it; unsafe ones only when asked for."""
    return [(f, f.fix) for f in findings if f.fix is not None and (f.fix.safe or unsafe)]


def _clash(edit: Edit, other: Edit) -> bool:
    """Whether two different edits can't both be made."""
    a, b = edit.span, other.span
    if a.path != b.path:
        return False
    return a == b or (a.start < b.end and b.start < a.end)
