"""Applies edits to a file's bytes, in memory.

Which findings are mended, and writing files, is the command line's business.
"""

from __future__ import annotations

from collections.abc import Iterable

from cudalint.finding import Edit, Fix


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
    """The edits of those `fixes`, first come first served, that can be made together.

    A fix is taken whole or not at all; one that shares an edit with another is
    taken. What is left out can be had by linting again.
    """
    taken: set[Edit] = set()
    for fix in fixes:
        new = set(fix.edits) - taken
        if not any(_clash(edit, other) for edit in new for other in taken):
            taken |= new
    return tuple(sorted(taken))


def _clash(edit: Edit, other: Edit) -> bool:
    """Whether two different edits can't both be made."""
    a, b = edit.span, other.span
    if a.path != b.path:
        return False
    return a == b or (a.start < b.end and b.start < a.end)
