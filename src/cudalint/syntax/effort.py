"""How much work one file may cost, so that none takes a run with it.

What is counted is the same on every machine: units of about a tenth of a
microsecond. Real files stay far below the limit; what does not is cut off, with
a word on why. Only the parser has a clock too, since what it does about broken
text can't be counted from outside.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

MAX_EFFORT = 6_000_000
MAX_DEPTH = 1000
"""How many brackets may be open at once; clang takes 256."""

_SPENT: ContextVar[list[int] | None] = ContextVar("spent", default=None)


class TooComplexError(Exception):
    """A file would cost too much; the text says why."""


@contextmanager
def limited() -> Iterator[None]:
    """Inside, what is spent counts; TooComplexError is raised when it is too much."""
    token = _SPENT.set([0])
    try:
        yield
    finally:
        _SPENT.reset(token)


def spend(units: int) -> None:
    """Count `units` of work, where a limit is in force."""
    spent = _SPENT.get()
    if spent is not None:
        spent[0] += units
        if spent[0] > MAX_EFFORT:
            raise TooComplexError(
                "it costs more than a file may (much code, or text repeated by nesting or macros)"
            )
