"""Answers in Graphviz's language: `cudalint graph f --format dot | dot -Tsvg`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from cudalint.reporters.graph.drawing import Drawing, Look

if TYPE_CHECKING:
    from cudalint.hostcode.explanation import Explanation
    from cudalint.reporters.shownplaces import ShownPlaces

_LOOKS: dict[Look, str] = {
    "asked": "penwidth=3",
    "cold": "style=dashed",
    "function": "",
    "launched": "shape=ellipse",
}


def dot(explanations: Sequence[Explanation], places: ShownPlaces) -> str:
    """One directed graph of all answers."""
    return "".join(f"{line}\n" for line in _lines(Drawing(explanations, places)))


def _lines(drawing: Drawing) -> Iterator[str]:
    yield "digraph launch_paths {"
    yield "  node [shape=box];"
    for box in drawing.boxes:
        look = f", {_LOOKS[box.look]}" if _LOOKS[box.look] else ""
        yield f"  {box.id} [label={_quoted(box.lines)}{look}];"
    for arrow in drawing.arrows:
        look = ", style=dashed" if arrow.cut else ""
        yield f"  {arrow.start} -> {arrow.end} [label={_quoted(arrow.lines)}{look}];"
    yield "}"


def _quoted(lines: Sequence[str]) -> str:
    """A label: in quoted strings a backslash begins an escape, and `\\n` ends a line."""
    escaped = (line.replace("\\", "\\\\").replace('"', '\\"') for line in lines)
    return '"' + "\\n".join(escaped) + '"'
