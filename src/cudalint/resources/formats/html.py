"""A resource table as one HTML page: sorted columns, a filter, staircases, heat over the source.

The page asks the network for nothing, and its policy forbids it to; what comes from
names and sources is text, never markup. Its style and script are the files beside this.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Sequence
from functools import cache
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING

import cudalint
from cudalint.compile.archs import arch_limits
from cudalint.compile.occupancy import register_staircase, shared_staircase
from cudalint.reporters.visible import visible
from cudalint.resources.columns import COLUMNS
from cudalint.resources.formats.heat import heat
from cudalint.resources.formats.staircase import Axis, staircase
from cudalint.resources.steps import next_steps

if TYPE_CHECKING:
    from cudalint.reporters.shownplaces import ShownPlaces
    from cudalint.resources.columns import Column
    from cudalint.resources.measure import Measured
    from cudalint.resources.model import ResourceRow
    from cudalint.resources.order import Group

_REGISTERS = Axis("registers")
_SHARED = Axis("KB", 1024)
_SPILLS = ("spill_stores", "spill_loads")


def html(groups: Sequence[Group], measured: Measured, places: ShownPlaces) -> str:
    """The whole page."""
    style, script = _beside("page.css"), _beside("page.js")
    policy = (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}';"
        " base-uri 'none'; form-action 'none'"
    )
    cards = "".join(_card(i, group, measured, places) for i, group in enumerate(groups))
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        f"<title>Kernel resources</title><style>{style}</style></head>\n<body>"
        f"<header><h1>Kernel resources</h1><p>{_summary(groups)}</p>{_failures(measured)}"
        '<label>Filter <input id="filter" type="search" autocomplete="off"'
        ' placeholder="kernel, file, arch, limiter"></label> <output id="shown"></output></header>'
        f"\n<main>{_table(groups, places)}\n{cards}</main>"
        f"\n<footer>cudalint {escape(cudalint.__version__)}</footer>"
        f"<script>{script}</script></body></html>\n"
    )


@cache
def _beside(name: str) -> str:
    return (files(__package__) / name).read_text("utf-8")


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _text(text: str) -> str:
    return escape(visible(text))


def _summary(groups: Sequence[Group]) -> str:
    rows = [row for group in groups for row in group]
    archs = ", ".join(dict.fromkeys(_text(row.arch) for row in rows))
    versions = ", ".join(dict.fromkeys(_text(row.nvcc) for row in rows))
    count = "1 kernel" if len(groups) == 1 else f"{len(groups)} kernels"
    return f"{count} on {archs}, nvcc {versions}" if rows else "no kernels"


def _failures(measured: Measured) -> str:
    """What could not be compiled, or nothing."""
    lines = "".join(
        f"<li>{_text(failure.path)} on {_text(failure.on)}: {_text(failure.why)}</li>"
        for failure in measured.table.failures
    )
    return f'<ul class="failures">{lines}</ul>' if lines else ""


def _table(groups: Sequence[Group], places: ShownPlaces) -> str:
    heads = "".join(
        f'<th scope="col"{_numeric(column)} title="{escape(column.hint)}">'
        f"<button>{column.title}</button></th>"
        for column in COLUMNS
    )
    bodies = "\n".join(_body(i, group, places) for i, group in enumerate(groups))
    return (
        '<div class="scroll"><table id="kernels"><thead><tr>'
        f'<th scope="col"><button>kernel</button></th>{heads}</tr></thead>\n{bodies}</table></div>'
    )


def _body(index: int, group: Group, places: ShownPlaces) -> str:
    """The rows of one kernel: they stay together however the table is sorted."""
    first = group[0]
    name = (
        f'<th scope="rowgroup" rowspan="{len(group)}" data-value="{_text(first.kernel)}">'
        f'<a href="#k{index}">{_text(first.kernel)}</a>'
        f"<small>{_where(first, places)}</small></th>"
    )
    rows = []
    for row in group:
        cells = "".join(_cell(column, row) for column in COLUMNS)
        rows.append(f"<tr>{name}{cells}</tr>")
        name = ""
    return f'<tbody data-kernel="k{index}">{"".join(rows)}</tbody>'


def _cell(column: Column, row: ResourceRow) -> str:
    text = _text(column.cell(row))
    if column.number is None:
        return f'<td data-value="{text}">{text}</td>'
    value = column.number(row)
    kind = "number spilled" if value and column.key in _SPILLS else "number"
    return f'<td class="{kind}" data-value="{value:.17g}">{text}</td>'


def _numeric(column: Column) -> str:
    return ' class="number"' if column.number is not None else ""


def _where(row: ResourceRow, places: ShownPlaces) -> str:
    line = f":{row.origin.line}" if row.origin.line else ""
    return f"{escape(places.path(row.origin.path))}{line}"


def _card(index: int, group: Group, measured: Measured, places: ShownPlaces) -> str:
    """What there is to see of one kernel besides its figures."""
    first = group[0]
    targets = ", ".join(map(_text, first.targets))
    return (
        f'<section id="k{index}"><h2>{_text(first.kernel)}</h2>'
        f"<p>{_where(first, places)}{f' for {targets}' if targets else ''}</p>"
        f"{''.join(_stairs(group))}{''.join(_heats(group, measured, places))}</section>\n"
    )


def _stairs(group: Group) -> Iterator[str]:
    for row in group:
        limits, usage, found = arch_limits(row.arch), row.usage, row.occupancy
        if limits is None or usage is None or found is None:
            yield f"<p>{_text(row.arch)}: block size or arch is unknown, and so is occupancy.</p>"
            continue
        shared = usage.static_shared + usage.dynamic_shared
        by_registers = register_staircase(limits, usage)
        stairs = _figure(
            staircase(by_registers, usage.registers, found.blocks, _REGISTERS),
            "Blocks on an SM over the registers of a thread",
        ) + _figure(
            staircase(shared_staircase(limits, usage), shared, found.blocks, _SHARED),
            "Blocks on an SM over the shared memory of a block",
        )
        steps = "".join(f"<li>{escape(str(step))}</li>" for step in next_steps(row.arch, usage))
        yield (
            f'<div class="arch"><h3>{_text(row.arch)}: {found.blocks} blocks of {usage.threads}'
            f" threads, {found.warps} of {found.warps_per_sm} warps, limited by"
            f' {escape(", ".join(found.limiters))}</h3><div class="pair">{stairs}</div>'
            f"{f'<ul>{steps}</ul>' if steps else ''}</div>"
        )


def _figure(picture: str, caption: str) -> str:
    return f"<figure>{picture}<figcaption>{caption}</figcaption></figure>"


def _heats(group: Group, measured: Measured, places: ShownPlaces) -> Iterator[str]:
    for row in group:
        if row.spill_stores or row.spill_loads:
            yield heat(row, measured.sources, places)
