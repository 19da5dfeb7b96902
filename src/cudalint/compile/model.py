"""What nvcc and ptxas said of a file, as plain data.

Running them is `cudalint.compile.stage`, reading their output
`cudalint.compile.ptxas`. The rules CU5 judge it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import msgspec


class SpillLine(msgspec.Struct, frozen=True):
    """The bytes that the instructions of one source line spill.

    `path` is relative to the project root, or as the tool wrote it for a file
    outside; `line` is 1-based. The counts are static: one execution of each
    instruction, as in ptxas' own figures.
    """

    path: str
    line: int
    stores: int
    loads: int


def unplaced(stores: int, loads: int, lines: Iterable[SpillLine]) -> tuple[int, int]:
    """What is left of the bytes that ptxas counts when those of `lines` are taken off."""
    for line in lines:
        stores, loads = stores - line.stores, loads - line.loads
    return stores, loads


class FunctionResources(msgspec.Struct, frozen=True):
    """ptxas' figures for one function on one arch.

    `symbol` is as in the cubin; `name` is it demangled, without parameters;
    `arity` is the number of parameters that the mangled name tells, -1 if none.
    `entry` is false for a `__device__` function that was not inlined.
    Sizes are bytes; `registers`, `barriers`, `shared`, `constant` are None when
    ptxas did not say (a non-entry function). `max_threads` and `min_blocks` are
    what `__launch_bounds__` came to in the PTX, None where it says nothing.
    `spill_lines` is filled where nvdisasm is found, most bytes first.
    """

    symbol: str
    name: str
    arch: str
    entry: bool
    stack: int
    spill_stores: int
    spill_loads: int
    registers: int | None = None
    barriers: int | None = None
    shared: int | None = None
    constant: int | None = None
    max_threads: int | None = None
    min_blocks: int | None = None
    arity: int = -1
    spill_lines: tuple[SpillLine, ...] = ()

    @property
    def unplaced(self) -> tuple[int, int]:
        """The bytes of stores and of loads that ptxas counts beyond those of `spill_lines`."""
        return unplaced(self.spill_stores, self.spill_loads, self.spill_lines)


class Diagnostic(msgspec.Struct, frozen=True):
    """One error or warning of nvcc, cicc or ptxas.

    `path` is as the tool wrote it, made relative to the project root where it
    lies inside, else "" ; `line` and `column` are 1-based, 0 when unknown (the
    column counts bytes of the line on disk). `function` is the symbol that
    ptxas named, "" if none; `number` is the tool's own ("177-D", "C7510").
    """

    severity: Literal["error", "warning"]
    text: str
    path: str
    line: int
    column: int
    function: str = ""
    number: str = ""


class Compilation(msgspec.Struct, frozen=True):
    """One run of nvcc: one file, one arch, the flags and include paths of one target.

    `failure` is "" when nvcc exited 0; else what went wrong in one line
    ("nvcc took longer than 60 s", the first error …). `arch` is "" when none
    was asked for and nvcc did not say. `dependencies` are the files inside the
    project root that the compile read, the source among them. `nvcc` is the
    version of the compiler, like "13.0.88"; "" when none was run.
    """

    arch: str
    targets: tuple[str, ...]
    functions: tuple[FunctionResources, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    failure: str = ""
    dependencies: tuple[str, ...] = ()
    nvcc: str = ""


class CompiledFile(msgspec.Struct, frozen=True):
    """Every compilation of one source file (path relative to the project root)."""

    path: str
    compilations: tuple[Compilation, ...]
