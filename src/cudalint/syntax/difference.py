"""Where two texts differ: how much of their start and of their end they have in common."""

from __future__ import annotations


def common_ends(old: bytes, new: bytes) -> tuple[int, int]:
    """How many bytes two texts have in common at their start, and at their end beside those."""
    shorter = min(len(old), len(new))
    start = 0
    most = shorter
    while start < most:
        middle = (start + most + 1) // 2
        if old[start:middle] == new[start:middle]:
            start = middle
        else:
            most = middle - 1
    tail = 0
    most = shorter - start
    while tail < most:
        middle = (tail + most + 1) // 2
        if old[len(old) - middle : len(old) - tail] == new[len(new) - middle : len(new) - tail]:
            tail = middle
        else:
            most = middle - 1
    return start, tail
