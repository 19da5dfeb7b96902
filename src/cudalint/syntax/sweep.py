"""Which range holds which, in one pass over sorted ranges."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence

Range = tuple[int, int]
_BEHIND_ALL = 1 << 62


def outer_first(container: Range) -> Range:
    """What to sort ranges by, so that outer ones come before what they hold."""
    return container[0], -container[1]


def nesting_order(containers: Sequence[Range]) -> list[int]:
    """The indexes of `containers`, outer ones before what they hold."""
    keys = [(start, -end) for start, end in containers]
    return sorted(range(len(keys)), key=keys.__getitem__)


def innermost(
    items: Sequence[Range], containers: Sequence[Range], order: Sequence[int] | None = None
) -> list[int]:
    """For each item the index of the smallest container around it, −1 for none.

    `items` are sorted by start; containers nest or are apart, in any order
    (`order` is their `nesting_order`, where it is known). An item equal to a
    container is inside it.
    """
    if not items or not containers:
        return [-1] * len(items)
    if order is None:
        order = nesting_order(containers)
    found: list[int] = []
    stack: list[int] = []
    ends: list[int] = []
    at = 0
    count = len(order)
    index = order[0]
    opens, closes = containers[index]
    for start, end in items:
        while opens <= start:
            # What is closed by then holds nothing that is to come.
            if closes > start:
                while ends and ends[-1] <= opens:
                    ends.pop()
                    stack.pop()
                ends.append(closes)
                stack.append(index)
            at += 1
            if at == count:
                opens = _BEHIND_ALL
                break
            index = order[at]
            opens, closes = containers[index]
        while ends and ends[-1] <= start:
            ends.pop()
            stack.pop()
        home = -1
        for place in range(len(ends) - 1, -1, -1):
            if ends[place] >= end:
                home = stack[place]
                break
        found.append(home)
    return found


def joined(ranges: Iterable[Range]) -> list[Range]:
    """What `ranges` cover, as ranges that are apart, in order; those that touch stay two."""
    found: list[Range] = []
    for start, end in sorted(ranges):
        if not found or start >= found[-1][1]:
            found.append((start, end))
        elif end > found[-1][1]:
            found[-1] = (found[-1][0], end)
    return found


def covered(at: int, ranges: Sequence[Range]) -> bool:
    """Whether one of the `joined` ranges holds the offset `at`."""
    index = bisect_right(ranges, (at, _BEHIND_ALL)) - 1
    return index >= 0 and at < ranges[index][1]
