"""Which range holds which, in one pass over sorted ranges."""

from __future__ import annotations

from collections.abc import Sequence

Range = tuple[int, int]


def innermost(items: Sequence[Range], containers: Sequence[Range]) -> list[int]:
    """For each item the index of the smallest container around it, −1 for none.

    Both are sorted by start; containers nest or are apart. An item equal to a
    container is inside it.
    """
    order = sorted(range(len(containers)), key=lambda i: (containers[i][0], -containers[i][1]))
    found: list[int] = []
    stack: list[int] = []
    at = 0
    for start, end in items:
        while at < len(order) and containers[order[at]][0] <= start:
            opened = containers[order[at]]
            while stack and containers[stack[-1]][1] <= opened[0]:
                stack.pop()
            stack.append(order[at])
            at += 1
        while stack and containers[stack[-1]][1] <= start:
            stack.pop()
        home = -1
        for index in reversed(stack):
            if containers[index][1] >= end:
                home = index
                break
        found.append(home)
    return found
