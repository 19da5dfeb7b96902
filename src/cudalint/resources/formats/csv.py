"""A resource table as CSV (RFC 4180), one line for each kernel and arch."""

from __future__ import annotations

import csv as standard
import io
from collections.abc import Sequence
from typing import TYPE_CHECKING

from cudalint.reporters.visible import visible

if TYPE_CHECKING:
    from cudalint.resources.model import ResourceRow
    from cudalint.resources.order import Group

HEADER = (
    "path",
    "line",
    "kernel",
    "arch",
    "nvcc",
    "targets",
    "registers",
    "spill_stores",
    "spill_loads",
    "stack",
    "static_shared",
    "dynamic_shared",
    "barriers",
    "threads",
    "blocks_per_sm",
    "occupancy",
    "limiters",
)


def csv(groups: Sequence[Group]) -> str:
    """The rows in the order of the groups; what is unknown is empty."""
    stream = io.StringIO()
    writer = standard.writer(stream)
    writer.writerow(HEADER)
    for group in groups:
        writer.writerows(map(_cells, group))
    return stream.getvalue()


def _cells(row: ResourceRow) -> tuple[object, ...]:
    found = row.occupancy
    return (
        _path(row.path),
        row.origin.line or "",
        visible(row.kernel),
        row.arch,
        row.nvcc,
        " ".join(visible(target) for target in row.targets),
        row.registers,
        row.spill_stores,
        row.spill_loads,
        row.stack,
        row.static_shared,
        row.shape.dynamic_shared if row.shape.shared_known else "",
        row.barriers,
        "" if row.shape.threads is None else row.shape.threads,
        "" if found is None else found.blocks,
        "" if found is None else f"{found.fraction:.4f}",
        "" if found is None else " ".join(name.replace(" ", "-") for name in found.limiters),
    )


def _path(path: str) -> str:
    """A path that no spreadsheet takes for a formula."""
    return f"./{visible(path)}" if path[:1] in "=+-@" else visible(path)
