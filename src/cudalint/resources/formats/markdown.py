"""A resource table as Markdown (GitHub's tables), for pull requests and job summaries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cudalint.regex import regex
from cudalint.reporters.visible import visible
from cudalint.resources.columns import COLUMNS

if TYPE_CHECKING:
    from cudalint.reporters.shownplaces import ShownPlaces
    from cudalint.resources.order import Group

_SPECIAL = regex(r"([\\`*_{}\[\]<>()#+!|~&@])")


def markdown(groups: Sequence[Group], places: ShownPlaces) -> str:
    """The table; a kernel's name stands in the first row of its group."""
    titles = ["kernel", *(column.title for column in COLUMNS), "where"]
    rules = ["---", *("---:" if column.number else "---" for column in COLUMNS), "---"]
    lines = [_line(titles), _line(rules)]
    for group in groups:
        origin = group[0].origin
        where = f"{places.path(origin.path)}:{origin.line}" if origin.line else ""
        name, where = escaped(visible(group[0].kernel)), escaped(where or places.path(origin.path))
        for row in group:
            cells = [escaped(visible(column.cell(row))) for column in COLUMNS]
            lines.append(_line([name, *cells, where]))
            name, where = "", ""
    return "\n".join(lines) + "\n"


def escaped(text: str) -> str:
    """`text` so that Markdown shows it as it is: no markup, no link, no cell's end."""
    return _SPECIAL.sub(r"\\\1", text.replace("\t", " "))


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
