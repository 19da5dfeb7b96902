"""Which range holds which, in one pass over sorted ranges."""

from __future__ import annotations

from collections.abc import Sequence

Range = tuple[int, int]


def nesting_order(containers: Sequence[Range]) -> list[int]:
    """The indexes of `containers`, outer ones before what they hold."""
    return sorted(range(len(containers)), key=lambda i: (containers[i][0], -containers[i][1]))


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
    at = 0
    count = len(order)
    opens = containers[order[0]][0]
    for start, end in items:
        while opens <= start:
            index = order[at]
            while stack and containers[stack[-1]][1] <= opens:
                stack.pop()
            stack.append(index)
            at += 1
            if at == count:
                opens = 1 << 62
                break
            opens = containers[order[at]][0]
        while stack and containers[stack[-1]][1] <= start:
            stack.pop()
        home = -1
        for index in reversed(stack):
            if containers[index][1] >= end:
                home = index
                break
        found.append(home)
    return found
