"""A resource table as JSON, with everything that is known of each row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from cudalint.resources.steps import next_steps

if TYPE_CHECKING:
    from cudalint.resources.model import FailedCompile, ResourceRow
    from cudalint.resources.order import Group

SCHEMA_VERSION = 1
"""Counts up when a key goes or means something else; new keys may come at any time."""


def json(groups: Sequence[Group], failures: Sequence[FailedCompile]) -> str:
    """The rows in the order of the groups, and the compiles that failed."""
    document = {
        "version": SCHEMA_VERSION,
        "rows": [_row(row) for group in groups for row in group],
        "failures": [msgspec.to_builtins(failure) for failure in failures],
    }
    return msgspec.json.format(_encoded(document), indent=2).decode() + "\n"


def _encoded(document: dict[str, Any]) -> bytes:
    """As UTF-8; file names that are no text keep their bytes, shown as escapes."""
    return msgspec.json.encode(clean(document))


def clean(value: Any) -> Any:
    """Plain data without what UTF-8 can't hold."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, dict):
        return {key: clean(inner) for key, inner in value.items()}
    return [clean(inner) for inner in value] if isinstance(value, list | tuple) else value


def _row(row: ResourceRow) -> dict[str, Any]:
    stores, loads = row.unplaced
    found = row.occupancy
    return {
        "path": row.path,
        "kernel": row.kernel,
        "symbol": row.symbol,
        "arch": row.arch,
        "nvcc": row.nvcc,
        "targets": row.targets,
        "defined_in": row.origin.path,
        "line": row.origin.line or None,
        "registers": row.registers,
        "spill_stores": row.spill_stores,
        "spill_loads": row.spill_loads,
        "stack": row.stack,
        "static_shared": row.static_shared,
        "dynamic_shared": row.shape.dynamic_shared if row.shape.shared_known else None,
        "barriers": row.barriers,
        "threads": row.shape.threads,
        "threads_from": row.shape.source,
        "blocks_per_sm": None if found is None else found.blocks,
        "occupancy": None if found is None else round(found.fraction, 4),
        "limiters": [] if found is None else found.limiters,
        "next_steps": [msgspec.to_builtins(step) for step in next_steps(row.arch, row.usage)],
        "spill_lines": [msgspec.to_builtins(line) for line in row.spill_lines],
        "unplaced_stores": stores if row.spill_lines else None,
        "unplaced_loads": loads if row.spill_lines else None,
    }
