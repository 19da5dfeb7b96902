"""The order in which resources are shown: the archs of one kernel stay side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from cudalint.compile.archs import arch_order
from cudalint.resources.model import ResourceRow

Group = tuple[ResourceRow, ...]
"""The rows of one kernel, compiled in one way for several archs, the oldest first."""


def _occupancy(row: ResourceRow) -> float:
    """What is unknown comes after the fullest."""
    return 2.0 if row.occupancy is None else row.occupancy.fraction


_KEYS: dict[str, Callable[[ResourceRow], Any]] = {
    "path": lambda row: (),
    "kernel": lambda row: row.kernel,
    "arch": lambda row: arch_order(row.arch),
    "registers": lambda row: -row.registers,
    "spills": lambda row: -row.spill_stores - row.spill_loads,
    "stack": lambda row: -row.stack,
    "shared": lambda row: -row.static_shared - row.shape.dynamic_shared,
    "barriers": lambda row: -row.barriers,
    "occupancy": _occupancy,
}

SORT_KEYS = tuple(_KEYS)
"""What rows can be sorted by, the worst first: much of everything, little occupancy."""


def sorted_groups(rows: Iterable[ResourceRow], key: str = "path") -> tuple[Group, ...]:
    """The groups of `rows`, by the worst row of each; of equals the first by path and name.

    Raises KeyError for a key that is not in `SORT_KEYS`.
    """
    measure = _KEYS[key]
    groups: dict[tuple[str, str, tuple[str, ...]], list[ResourceRow]] = {}
    for row in rows:
        groups.setdefault(row.group, []).append(row)
    inside = (tuple(sorted(found, key=_in_group)) for found in groups.values())
    return tuple(sorted(inside, key=lambda group: (min(map(measure, group)), group[0].group)))


def _in_group(row: ResourceRow) -> tuple[object, ...]:
    return (*arch_order(row.arch), row.symbol, row.nvcc)
