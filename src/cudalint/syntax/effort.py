"""How much work one file may cost, so that none takes a run with it.

What is counted is the same on every machine: units of about a tenth of a
microsecond. Real files stay far below the limit; what does not is cut off, with
a word on why. Only the parser has a clock too, since what it does about broken
text can't be counted from outside.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar, Token

MAX_EFFORT = 6_000_000
MAX_DEPTH = 1000
"""How many brackets may be open at once; clang takes 256."""


_SPENT: ContextVar[Budget | None] = ContextVar("spent", default=None)


class TooComplexError(Exception):
    """A file would cost too much; the text says why."""


class Budget:
    """What the work on one file may cost: inside `with budget`, what is spent counts.

    TooComplexError is raised there when it is too much. It may be entered again and again.
    """

    def __init__(self) -> None:
        self.spent = 0
        self._outer: Token[Budget | None]

    def __enter__(self) -> None:
        self._outer = _SPENT.set(self)

    def __exit__(self, *_: object) -> None:
        _SPENT.reset(self._outer)


@contextmanager
def uncounted() -> Iterator[None]:
    """Inside, nothing that is spent counts."""
    outer = _SPENT.set(None)
    try:
        yield
    finally:
        _SPENT.reset(outer)


def spend(units: int) -> None:
    """Count `units` of work, where a limit is in force."""
    budget = _SPENT.get()
    if budget is not None:
        budget.spent += units
        if budget.spent > MAX_EFFORT:
            raise TooComplexError(
                "it costs more than a file may (much code, or text repeated by nesting or macros)"
            )
