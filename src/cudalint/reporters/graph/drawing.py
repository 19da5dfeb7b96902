"""Answers as one drawing: what has a box, and which arrows there are. Formats say how it looks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Literal

import msgspec

from cudalint.reporters.graph.words import how
from cudalint.reporters.visible import visible

if TYPE_CHECKING:
    from cudalint.hostcode.chain import Hop, Named
    from cudalint.hostcode.explanation import Explanation
    from cudalint.reporters.shownplaces import ShownPlaces

Look = Literal["asked", "cold", "function", "launched"]


class Box(msgspec.Struct):
    """A function or what is launched; `lines` are its name, its place, why it is cold."""

    id: str
    lines: list[str]
    look: Look


class Arrow(msgspec.Struct, frozen=True):
    """A call or launch; `lines` are how it is made, where, and why it does not count."""

    start: str
    end: str
    lines: tuple[str, ...]
    cut: bool


class Drawing:
    """The boxes and arrows of all answers, each once, in the order in which they are told."""

    def __init__(self, explanations: Sequence[Explanation], places: ShownPlaces) -> None:
        self._places = places
        self._boxes: dict[Named | str, Box] = {}
        self._arrows: dict[Arrow, None] = {}
        for explanation in explanations:
            for chain in explanation.chains:
                self._function(chain.root)
                self._hops((*chain.down, *chain.below))
                for function, why in chain.cold:
                    box = self._function(function)
                    box.look = "cold"
                    box.lines = [*box.lines[:2], visible(f"cold: {why}")]
            box = self._function(explanation.function)
            box.look = "asked"
            if explanation.why and len(box.lines) == 2:
                box.lines.append(visible(f"cold: {explanation.why}"))
            self._hops(explanation.callers, box)

    @property
    def boxes(self) -> Iterable[Box]:
        """The boxes, in order."""
        return self._boxes.values()

    @property
    def arrows(self) -> Iterable[Arrow]:
        """The arrows, in order."""
        return self._arrows

    def _function(self, function: Named) -> Box:
        place = self._places.place(function.span.path, function.span.start)
        return self._box(function, [visible(function.name), place], "function")

    def _box(self, key: Named | str, lines: list[str], look: Look) -> Box:
        if key not in self._boxes:
            self._boxes[key] = Box(f"n{len(self._boxes)}", lines, look)
        return self._boxes[key]

    def _hops(self, hops: Iterable[Hop], end: Box | None = None) -> None:
        """Draw hops; all of them lead to `end` where one is given."""
        for hop in hops:
            start, to = self._function(hop.caller), end
            if to is None and hop.kind == "launch":
                name = visible(hop.callee.name)
                to = self._box(hop.callee.name, [name], "launched")
            elif to is None:
                to = self._function(hop.callee)
            place = self._places.place(hop.span.path, hop.span.start)
            cut = [visible(f"cut: this {hop.cut}")] if hop.cut else []
            lines = (visible(how(hop)), place, *cut)
            self._arrows[Arrow(start.id, to.id, lines, bool(hop.cut))] = None
