"""What `cudalint resources` tells of each kernel, as plain data.

One row for each kernel, arch and way of compiling it. Making rows of compile
results is `cudalint.resources.rows`; showing them, `cudalint.resources.formats`.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from cudalint.compile.model import SpillLine, unplaced
from cudalint.compile.occupancy import Occupancy, Usage

ShapeSource = Literal["settings", "launch", "bounds"]


class LaunchShape(msgspec.Struct, frozen=True):
    """The largest block that a kernel is launched with, as far as it is known.

    `threads` None is unknown; `dynamic_shared` is in bytes. `source` says where
    the threads come from: the settings' `[launches]`, launches with constant
    configurations, or `__launch_bounds__`. `shared_known` is false where the
    kernel has a dynamic pool whose size nothing tells.
    """

    threads: int | None = None
    dynamic_shared: int = 0
    source: ShapeSource | None = None
    shared_known: bool = True


class Origin(msgspec.Struct, frozen=True, order=True):
    """Where a kernel is written: `line` is 1-based, 0 when it was not found."""

    path: str
    line: int


class ResourceRow(msgspec.Struct, frozen=True):
    """The figures of one kernel (template instances are kernels of their own) on one arch.

    `path` is the compiled file, relative to the project root; `kernel` the
    demangled name with template arguments, `symbol` that of the cubin. `nvcc` is
    the version of the compiler, like "13.0.88"; `targets` those of the kernel
    tree that this way of compiling is for, sorted, empty outside a tree.
    Sizes are bytes: `stack` and the spills of one thread, `static_shared` of a
    block. `occupancy` is None where the block size or the arch is unknown.
    `spill_lines` are the lines that spill, the worst first.
    """

    path: str
    kernel: str
    symbol: str
    arch: str
    nvcc: str
    targets: tuple[str, ...]
    origin: Origin
    registers: int
    spill_stores: int
    spill_loads: int
    stack: int
    static_shared: int
    barriers: int
    shape: LaunchShape
    occupancy: Occupancy | None = None
    spill_lines: tuple[SpillLine, ...] = ()

    @property
    def group(self) -> tuple[str, str, tuple[str, ...]]:
        """What the rows of one kernel on several archs have in common."""
        return self.path, self.kernel, self.targets

    @property
    def unplaced(self) -> tuple[int, int]:
        """The bytes of stores and of loads that ptxas counts beyond those of `spill_lines`."""
        return unplaced(self.spill_stores, self.spill_loads, self.spill_lines)

    @property
    def usage(self) -> Usage | None:
        """What a block takes of an SM; None where the block size is unknown."""
        if self.shape.threads is None:
            return None
        return Usage(
            threads=self.shape.threads,
            registers=self.registers,
            static_shared=self.static_shared,
            dynamic_shared=self.shape.dynamic_shared,
            barriers=self.barriers,
        )


class FailedCompile(msgspec.Struct, frozen=True):
    """A compile that went wrong, of which there are no rows; `why` is one line.

    `arch` is "" where none was asked for and nvcc did not say.
    """

    path: str
    arch: str
    targets: tuple[str, ...]
    why: str

    @property
    def on(self) -> str:
        """The arch in words."""
        return self.arch or "the default arch"


class ResourceTable(msgspec.Struct, frozen=True):
    """All rows, by path, kernel, targets, then arch (oldest first); and what failed."""

    rows: tuple[ResourceRow, ...]
    failures: tuple[FailedCompile, ...] = ()
