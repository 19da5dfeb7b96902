"""Holds what was measured now to the recorded baseline: what is worse, new, or gone.

The file itself is `cudalint.resources.baseline`; reporting what is worse is rule
CU506, saying the rest `cudalint.runner`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from cudalint.finding import Level
from cudalint.resources.baseline import Baseline, Recorded
from cudalint.resources.compare import Change, figures_of, regressions, weight
from cudalint.resources.rows import resource_table
from cudalint.run import Notification

if TYPE_CHECKING:
    from cudalint.compile.model import CompiledFile
    from cudalint.context import Context
    from cudalint.resources.model import ResourceRow

_NAMED = 5


class Regression(msgspec.Struct, frozen=True):
    """What is worse of one kernel on one arch, the weightiest first, never nothing.

    `line` is what it was compared with, maybe of another nvcc.
    """

    row: ResourceRow
    line: Recorded
    changes: tuple[Change, ...]


def regression(row: ResourceRow, baseline: Baseline, percent: float) -> Regression | None:
    """What is worse of `row`, at the worst of its targets; None when nothing is.

    Figures of another nvcc may be larger by `percent`.
    """
    found = []
    for line in baseline.of(row):
        allowed = 0.0 if line.nvcc == row.nvcc else percent
        worse = regressions(line.figures, figures_of(row), allowed)
        if worse:
            found.append(Regression(row, line, worse))
    return max(found, key=lambda one: weight(one.changes), default=None)


def remarks(
    files: Iterable[CompiledFile], root: Path, context: Context, baseline: Baseline
) -> Iterator[Notification]:
    """What is to be said of the baseline that is no finding: new, gone, of another nvcc."""
    recorded = {line.path for line in baseline.lines}
    gone = sorted(path for path in recorded if not (root / path).is_file())
    if gone:
        yield _remark(f"{baseline.label} has kernels of files that are gone: {_listed(gone)}")
    versions: set[tuple[str, str]] = set()
    for file in files:
        rows = resource_table([file], context).rows
        yield from _of_file(file, rows, baseline)
        versions |= {
            (row.nvcc, line.nvcc)
            for row in rows
            for line in baseline.of(row)
            if row.nvcc != line.nvcc
        }
    for now, before in sorted(versions):
        yield _remark(
            f"{baseline.label} is of nvcc {before}, and {now} compiled:"
            " figures may be somewhat larger"
        )


def _of_file(
    file: CompiledFile, rows: Sequence[ResourceRow], baseline: Baseline
) -> Iterator[Notification]:
    new = [row.kernel for row in rows if not baseline.of(row)]
    if new:
        yield _remark(f"{baseline.label} lacks kernels of '{file.path}': {_listed(new)}")
    if any(compilation.failure for compilation in file.compilations):
        return
    present = {(row.symbol, row.arch) for row in rows}
    archs = {compilation.arch for compilation in file.compilations}
    gone = [
        line.kernel
        for line in baseline.lines
        if line.path == file.path and line.arch in archs and line.key[1:] not in present
    ]
    if gone:
        yield _remark(f"'{file.path}' has no more of its recorded kernels: {_listed(gone)}")


def _listed(names: Iterable[str]) -> str:
    distinct = list(dict.fromkeys(names))
    more = f" and {len(distinct) - _NAMED} more" if len(distinct) > _NAMED else ""
    return ", ".join(f"'{name}'" for name in distinct[:_NAMED]) + more


def _remark(message: str) -> Notification:
    return Notification("resource-baseline", Level.NOTE, message)
