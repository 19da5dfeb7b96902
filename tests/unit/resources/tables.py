"""Resource tables made by hand, and what must not get through a format."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from cudalint.compile.archs import arch_limits
from cudalint.compile.model import SpillLine
from cudalint.compile.occupancy import occupancy
from cudalint.reporters.shownplaces import ShownPlaces
from cudalint.resources.measure import Measured
from cudalint.resources.model import (
    FailedCompile,
    LaunchShape,
    Origin,
    ResourceRow,
    ResourceTable,
)
from cudalint.source import SourceFile

HOSTILE = "k<img src=x onerror=alert(1)>&\"'|`*\x1b[31m\u202e"
"""A name that is markup, a table's cell end, an escape sequence and a direction override."""


def row(kernel: str = "k", arch: str = "sm_121", **more: Any) -> ResourceRow:
    """A row of 128 threads and 40 registers in `a.cu`, unless `more` says otherwise."""
    given: dict[str, Any] = {
        "path": "a.cu",
        "symbol": kernel,
        "nvcc": "13.0.88",
        "targets": (),
        "origin": Origin("a.cu", 3),
        "registers": 40,
        "spill_stores": 0,
        "spill_loads": 0,
        "stack": 0,
        "static_shared": 0,
        "barriers": 1,
        "shape": LaunchShape(128, 0, "bounds"),
    }
    found = ResourceRow(kernel=kernel, arch=arch, **(given | more))
    limits, usage = arch_limits(arch), found.usage
    if limits is None or usage is None:
        return found
    return msgspec.structs.replace(found, occupancy=occupancy(limits, usage))


def measured(
    *rows: ResourceRow, failures: tuple[FailedCompile, ...] = (), **files: str
) -> Measured:
    """What was measured, with the text of files by their stems (`a` is a.cu)."""
    sources = {
        f"{name}.cu": SourceFile(f"{name}.cu", text.encode()) for name, text in files.items()
    }
    return Measured(Path("/p"), ResourceTable(rows, failures), sources, ())


def places(found: Measured) -> ShownPlaces:
    return ShownPlaces(found.sources, "/p", "/p")


SPILLING = row(
    "spills",
    spill_stores=12,
    spill_loads=20,
    stack=16,
    spill_lines=(SpillLine("a.cu", 2, 12, 12), SpillLine("a.cu", 4, 0, 4)),
)
SPILLING_ON_90 = row("spills", "sm_90", spill_stores=8, spill_loads=8, stack=16)
UNKNOWN = row("unknown", shape=LaunchShape())
POOLED = row("pooled", registers=64, static_shared=1024, shape=LaunchShape(256, 0, "launch", False))
FULL = row("full", registers=24, shape=LaunchShape(256, 4096, "launch"))
EVERY = (FULL, POOLED, SPILLING_ON_90, SPILLING, UNKNOWN)
