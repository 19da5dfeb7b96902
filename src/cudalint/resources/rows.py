"""Makes the rows of a resource table out of what the compile stage said.

Which kernel is where is `cudalint.compile.locate`'s knowledge, how it is launched
`cudalint.resources.launching`'s.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import msgspec

from cudalint.compile.archs import arch_limits, arch_order
from cudalint.compile.locate import Locator
from cudalint.compile.occupancy import Occupancy, Usage, occupancy
from cudalint.lines import LineIndex
from cudalint.resources.model import (
    FailedCompile,
    LaunchShape,
    Origin,
    ResourceRow,
    ResourceTable,
)

if TYPE_CHECKING:
    from cudalint.compile.locate import FunctionPlace
    from cudalint.compile.model import Compilation, CompiledFile, FunctionResources
    from cudalint.context import Context


def resource_table(files: Iterable[CompiledFile], context: Context) -> ResourceTable:
    """The rows of every kernel of `files`, and the compiles that failed."""
    rows: list[ResourceRow] = []
    failures: list[FailedCompile] = []
    for file in files:
        locator = Locator(file, context)
        for compilation in file.compilations:
            if compilation.failure:
                arch, targets = compilation.arch, compilation.targets
                failures.append(FailedCompile(file.path, arch, targets, compilation.failure))
            else:
                rows += _rows(file.path, compilation, locator, context)
    return ResourceTable(tuple(sorted(_joined(rows), key=row_order)), tuple(failures))


def row_order(row: ResourceRow) -> tuple[object, ...]:
    """The sort key of rows that puts the archs of one kernel side by side, the oldest first."""
    return (*row.group, arch_order(row.arch))


def usage_of(function: FunctionResources, shape: LaunchShape) -> Usage | None:
    """What a block of `function` takes of an SM; None where the block size is unknown."""
    if shape.threads is None:
        return None
    return Usage(
        threads=shape.threads,
        registers=function.registers or 0,
        static_shared=function.shared or 0,
        dynamic_shared=shape.dynamic_shared,
        barriers=function.barriers or 0,
    )


def occupancy_of(function: FunctionResources, shape: LaunchShape) -> Occupancy | None:
    """The occupancy on the function's arch; None where arch or block size is unknown."""
    limits, usage = arch_limits(function.arch), usage_of(function, shape)
    return None if limits is None or usage is None else occupancy(limits, usage)


def _rows(
    path: str, compilation: Compilation, locator: Locator, context: Context
) -> Iterator[ResourceRow]:
    for function in compilation.functions:
        if not function.entry:
            continue
        place = locator.function(function)
        shape = context.launches.shape(function, place, path)
        yield ResourceRow(
            path=path,
            kernel=function.name,
            symbol=function.symbol,
            arch=function.arch or compilation.arch,
            nvcc=compilation.nvcc,
            targets=compilation.targets,
            origin=_origin(place, context),
            registers=function.registers or 0,
            spill_stores=function.spill_stores,
            spill_loads=function.spill_loads,
            stack=function.stack,
            static_shared=function.shared or 0,
            barriers=function.barriers or 0,
            shape=shape,
            occupancy=occupancy_of(function, shape),
            spill_lines=function.spill_lines,
        )


def _origin(place: FunctionPlace, context: Context) -> Origin:
    """The line of a kernel's name; of one in a header that is not shown, the `#include`."""
    span = place.span
    source = context.sources.get(span.path)
    if not place.known or source is None:
        return Origin(span.path, 0)
    return Origin(span.path, LineIndex(source.data).line_of(span.start))


def _joined(rows: Iterable[ResourceRow]) -> list[ResourceRow]:
    """Rows that differ in their targets alone, as one."""
    found: dict[ResourceRow, ResourceRow] = {}
    for row in rows:
        # What the occupancy is follows from the rest, and a dict has no hash.
        key = msgspec.structs.replace(row, targets=(), occupancy=None)
        targets = {*row.targets, *(found[key].targets if key in found else ())}
        found[key] = msgspec.structs.replace(row, targets=tuple(sorted(targets)))
    return list(found.values())
