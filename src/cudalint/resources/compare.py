"""What changed between two measurements of one kernel, and what of it is worse.

Where the measurements come from, a recorded baseline or another revision, is no
matter here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import msgspec

from cudalint.resources.model import ResourceRow

What = Literal["spill stores", "spill loads", "stack", "warps", "registers", "static shared memory"]

_UNITS: dict[What, str] = {
    "spill stores": " bytes",
    "spill loads": " bytes",
    "stack": " bytes",
    "warps": " on an SM",
    "registers": "",
    "static shared memory": " bytes",
}


class Figures(msgspec.Struct, frozen=True):
    """The figures of one kernel on one arch; sizes in bytes.

    `warps` is how many of them an SM holds, None where the block size is unknown.
    """

    registers: int
    spill_stores: int
    spill_loads: int
    stack: int
    static_shared: int
    warps: int | None = None


class Change(msgspec.Struct, frozen=True):
    """One figure that is another one now."""

    what: What
    before: int
    after: int

    @property
    def worse(self) -> bool:
        """Whether it went in the bad direction: down for warps, up for the rest."""
        return self.after < self.before if self.what == "warps" else self.after > self.before

    def __str__(self) -> str:
        return f"{self.what} {self.before} to {self.after}{_UNITS[self.what]}"


def figures_of(row: ResourceRow) -> Figures:
    """The figures of a row."""
    return Figures(
        registers=row.registers,
        spill_stores=row.spill_stores,
        spill_loads=row.spill_loads,
        stack=row.stack,
        static_shared=row.static_shared,
        warps=None if row.occupancy is None else row.occupancy.warps,
    )


def changes(before: Figures, after: Figures) -> tuple[Change, ...]:
    """Every figure that differs, what weighs most first."""
    return tuple(_changes(before, after))


def regressions(before: Figures, after: Figures, percent: float = 0) -> tuple[Change, ...]:
    """What is worse: more spilled or local bytes; more registers where fewer warps fit.

    Figures may be larger by up to `percent` of what they were.
    """
    worse = {change.what: change for change in _changes(before, after) if change.worse}
    kept = [
        worse[what]
        for what in ("spill stores", "spill loads", "stack")
        if what in worse and _exceeds(worse[what], percent)
    ]
    registers = worse.get("registers")
    if registers is not None and "warps" in worse and _exceeds(registers, percent):
        kept += [worse["warps"], registers]
    return tuple(kept)


def weight(found: tuple[Change, ...]) -> tuple[int, int, int, int]:
    """A sort key, the worst last: bytes spilled, local bytes, warps lost, registers."""
    grown = {change.what: change.after - change.before for change in found}
    spilled = grown.get("spill stores", 0) + grown.get("spill loads", 0)
    return spilled, grown.get("stack", 0), -grown.get("warps", 0), grown.get("registers", 0)


def _exceeds(change: Change, percent: float) -> bool:
    return change.after > change.before * (1 + percent / 100)


def _changes(before: Figures, after: Figures) -> Iterator[Change]:
    pairs: tuple[tuple[What, int | None, int | None], ...] = (
        ("spill stores", before.spill_stores, after.spill_stores),
        ("spill loads", before.spill_loads, after.spill_loads),
        ("stack", before.stack, after.stack),
        ("warps", before.warps, after.warps),
        ("registers", before.registers, after.registers),
        ("static shared memory", before.static_shared, after.static_shared),
    )
    for what, old, new in pairs:
        if old is not None and new is not None and old != new:
            yield Change(what, old, new)
