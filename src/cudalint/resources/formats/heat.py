"""Where a kernel spills, over its source: a strip of heat, and the worst lines below it."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

from cudalint.reporters.visible import visible

if TYPE_CHECKING:
    from cudalint.compile.model import SpillLine
    from cudalint.reporters.shownplaces import ShownPlaces
    from cudalint.resources.model import ResourceRow
    from cudalint.source import SourceFile

_WIDTH, _HEIGHT = 720, 22
_THINNEST = 2.0
_LINES_SHOWN = 10
_LONGEST_LINE = 160
_COLDEST = 0.25
"""How opaque the coolest line is: it has to be seen at all."""


def heat(row: ResourceRow, sources: dict[str, SourceFile], places: ShownPlaces) -> str:
    """The strips of the files that `row` spills in, the worst first, and its worst lines."""
    files: dict[str, list[SpillLine]] = {}
    for line in row.spill_lines:
        files.setdefault(line.path, []).append(line)
    hottest = max((line.stores + line.loads for line in row.spill_lines), default=1)
    texts = {
        path: sources[path].data.decode("utf-8", "replace").split("\n")
        for path in files
        if path in sources
    }
    strips = "".join(
        f"<figure><figcaption>{escape(places.path(path))}</figcaption>"
        f"{_strip(lines, len(texts.get(path, ())), hottest)}</figure>"
        for path, lines in files.items()
    )
    worst = "".join(
        _line(line, texts.get(line.path), hottest, places)
        for line in row.spill_lines[:_LINES_SHOWN]
    )
    table = f'<table class="lines"><tbody>{worst}</tbody></table>' if worst else ""
    title = f"<h3>{escape(visible(row.arch))}: where it spills</h3>"
    return f'<div class="heat">{title}{strips}{table}{_rest(row)}</div>'


def _strip(lines: Sequence[SpillLine], count: int, hottest: int) -> str:
    """One file from its first line to its last, as wide as the page lets it be."""
    length = max(count, *(line.line for line in lines), 1)
    width = max(_WIDTH / length, _THINNEST)
    marks = "".join(
        f'<rect class="hot" x="{(line.line - 1) / length * _WIDTH:.1f}" y="0" width="{width:.1f}"'
        f' height="{_HEIGHT}" fill-opacity="{_warmth(line, hottest):.2f}">'
        f"<title>line {line.line}: {line.stores} bytes of stores, {line.loads} of loads</title>"
        "</rect>"
        for line in lines
    )
    return (
        f'<svg class="strip" viewBox="0 0 {_WIDTH} {_HEIGHT}" preserveAspectRatio="none"'
        f' role="img" aria-label="spills over {length} lines">'
        f'<rect class="cold" width="{_WIDTH}" height="{_HEIGHT}"/>{marks}</svg>'
    )


def _line(line: SpillLine, text: Sequence[str] | None, hottest: int, places: ShownPlaces) -> str:
    code = ""
    if text is not None and 0 < line.line <= len(text):
        code = visible(text[line.line - 1].strip().expandtabs(1))[:_LONGEST_LINE]
    share = (line.stores + line.loads) / hottest * 60
    return (
        f"<tr><td>{escape(places.path(line.path))}:{line.line}</td>"
        f'<td><svg class="bar" viewBox="0 0 60 10" aria-hidden="true">'
        f'<rect class="hot" width="{share:.1f}" height="10"/></svg></td>'
        f"<td>{line.stores} st, {line.loads} ld</td><td><code>{escape(code)}</code></td></tr>"
    )


def _rest(row: ResourceRow) -> str:
    """What the strips do not show of the spills that ptxas counts."""
    if not row.spill_lines:
        return "<p>No disassembly tells which lines spill.</p>"
    stores, loads = row.unplaced
    if not stores and not loads:
        return ""
    return (
        f"<p>ptxas counts {row.spill_stores} bytes of stores and {row.spill_loads} of loads;"
        f" the lines account for {row.spill_stores - stores} and {row.spill_loads - loads}.</p>"
    )


def _warmth(line: SpillLine, hottest: int) -> float:
    return _COLDEST + (1 - _COLDEST) * (line.stores + line.loads) / hottest
