"""The columns that tables of resources have in every format, and what stands in their cells."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from cudalint.resources.model import ResourceRow


class Column(msgspec.Struct, frozen=True):
    """One figure: `title` as people read it, `cell` its text, `number` its value to sort by.

    `number` is None for a column of words. `hint` explains the title.
    """

    key: str
    title: str
    cell: Callable[[ResourceRow], str]
    number: Callable[[ResourceRow], float] | None = None
    hint: str = ""


def shared_text(row: ResourceRow) -> str:
    """Static, and dynamic shared memory where there is any: `1024`, `0+49152`, `0+?`."""
    if not row.shape.shared_known:
        return f"{row.static_shared}+?"
    dynamic = row.shape.dynamic_shared
    return f"{row.static_shared}+{dynamic}" if dynamic else str(row.static_shared)


def occupancy_text(row: ResourceRow) -> str:
    """The percentage; at most that much where dynamic shared memory is not known."""
    if row.occupancy is None:
        return "?"
    percent = f"{row.occupancy.fraction * 100:.0f} %"
    return percent if row.shape.shared_known else f"≤ {percent}"


def _blocks(row: ResourceRow) -> str:
    return "?" if row.occupancy is None else str(row.occupancy.blocks)


def _limiters(row: ResourceRow) -> str:
    return "" if row.occupancy is None else ", ".join(row.occupancy.limiters)


def _figure(key: str, title: str, value: Callable[[ResourceRow], int], hint: str = "") -> Column:
    return Column(key, title, lambda row: str(value(row)), lambda row: float(value(row)), hint)


COLUMNS = (
    Column("arch", "arch", lambda row: row.arch),
    _figure("registers", "regs", lambda row: row.registers, "registers of a thread"),
    _figure("spill_stores", "spill st", lambda row: row.spill_stores, "bytes of spilled stores"),
    _figure("spill_loads", "spill ld", lambda row: row.spill_loads, "bytes of spilled loads"),
    _figure("stack", "stack", lambda row: row.stack, "bytes of local memory of a thread"),
    Column(
        "shared",
        "shared",
        shared_text,
        lambda row: float(row.static_shared + row.shape.dynamic_shared),
        "bytes of shared memory of a block: static, + dynamic",
    ),
    _figure("barriers", "bar", lambda row: row.barriers, "named barriers of a block"),
    Column(
        "threads",
        "threads",
        lambda row: "?" if row.shape.threads is None else str(row.shape.threads),
        lambda row: float(row.shape.threads or 0),
        "threads of a block: of launches, of launch bounds, or of the settings",
    ),
    Column(
        "blocks",
        "blocks",
        _blocks,
        lambda row: -1.0 if row.occupancy is None else float(row.occupancy.blocks),
        "blocks on one SM at a time",
    ),
    Column(
        "occupancy",
        "occupancy",
        occupancy_text,
        lambda row: -1.0 if row.occupancy is None else row.occupancy.fraction,
        "warps on an SM over what it holds",
    ),
    Column("limiter", "limiter", _limiters, hint="what allows no more blocks"),
)
"""Those of each row; the kernel, which the rows of a group share, comes before them."""
