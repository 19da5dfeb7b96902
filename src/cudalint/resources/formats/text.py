"""A resource table for a terminal: plain columns, one line for each kernel and arch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cudalint.reporters.visible import visible, width
from cudalint.resources.columns import COLUMNS

if TYPE_CHECKING:
    from cudalint.reporters.shownplaces import ShownPlaces
    from cudalint.resources.order import Group

_LONGEST_NAME = 48


def text(groups: Sequence[Group], places: ShownPlaces) -> str:
    """The table, with a line on what was counted below it."""
    if not groups:
        return "no kernels\n"
    lines = [["kernel", *(column.title for column in COLUMNS), "where"]]
    for group in groups:
        name = _short(visible(group[0].kernel))
        where = places.path(group[0].origin.path)
        if group[0].origin.line:
            where += f":{group[0].origin.line}"
        for row in group:
            cells = [visible(column.cell(row)) for column in COLUMNS]
            lines.append([name, *cells, where])
            name, where = "", ""
    widths = [max(_width(line[i]) for line in lines) for i in range(len(lines[0]))]
    numeric = [False, *(column.number is not None for column in COLUMNS), False]
    shown = ("  ".join(map(_padded, line, widths, numeric)).rstrip() for line in lines)
    return "\n".join(shown) + f"\n\n{_counted(groups)}\n"


def _counted(groups: Sequence[Group]) -> str:
    rows = [row for group in groups for row in group]
    archs = ", ".join(dict.fromkeys(row.arch for row in rows))
    versions = ", ".join(dict.fromkeys(row.nvcc for row in rows))
    spilling = sum(any(row.spill_stores or row.spill_loads for row in group) for group in groups)
    kernels = "1 kernel" if len(groups) == 1 else f"{len(groups)} kernels"
    spills = f"{spilling} of them spill{'s' if spilling == 1 else ''}" if spilling else "no spills"
    return f"{kernels} on {archs} with nvcc {versions}, {spills}"


def _short(name: str) -> str:
    """A long name with its middle left out: template arguments differ at the end."""
    if len(name) <= _LONGEST_NAME:
        return name
    half = (_LONGEST_NAME - 1) // 2
    return f"{name[:half]}…{name[-half:]}"


def _width(text: str) -> int:
    return sum(map(width, text))


def _padded(text: str, columns: int, right: bool) -> str:
    pad = " " * (columns - _width(text))
    return pad + text if right else text + pad
