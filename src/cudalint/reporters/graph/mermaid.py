"""Answers as a Mermaid flowchart, which code hosts draw in Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from cudalint.reporters.graph.drawing import Drawing

if TYPE_CHECKING:
    from cudalint.hostcode.explanation import Explanation
    from cudalint.reporters.shownplaces import ShownPlaces

_PLAIN = frozenset(" ,.:;/_-+='()~*!?@$%|{}[]")


def mermaid(explanations: Sequence[Explanation], places: ShownPlaces) -> str:
    """One flowchart of all answers."""
    return "".join(f"{line}\n" for line in _lines(Drawing(explanations, places)))


def _lines(drawing: Drawing) -> Iterator[str]:
    yield "flowchart TD"
    yield "  classDef asked stroke-width:3px"
    yield "  classDef cold stroke-dasharray:5"
    for box in drawing.boxes:
        label = _quoted(box.lines)
        shape = f"([{label}])" if box.look == "launched" else f"[{label}]"
        mark = f":::{box.look}" if box.look in ("asked", "cold") else ""
        yield f"  {box.id}{shape}{mark}"
    for arrow in drawing.arrows:
        line = "-.->" if arrow.cut else "-->"
        yield f"  {arrow.start} {line}|{_quoted(arrow.lines)}| {arrow.end}"


def _quoted(lines: Sequence[str]) -> str:
    """A label; what Mermaid or HTML could take for their own is written as a character code."""
    escaped = (
        "".join(c if c.isalnum() or c in _PLAIN else f"#{ord(c)};" for c in line) for line in lines
    )
    return '"' + "<br>".join(escaped) + '"'
