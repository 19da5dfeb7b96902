"""Answers that are kept: what a function says of a text that comes again and again.

Only for functions of their arguments alone. What the work costs is not counted where it
is done, for that must not depend on what was read before; who asks counts it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TypeVar, cast

from cudalint.syntax.effort import uncounted

F = TypeVar("F", bound=Callable[..., object])


def known(size: int) -> Callable[[F], F]:
    """Keep the last `size` answers of a function; its texts should be short."""

    def keep(function: F) -> F:
        def answer(*asked: object) -> object:
            with uncounted():
                return function(*asked)

        return cast("F", lru_cache(maxsize=size)(answer))

    return keep
