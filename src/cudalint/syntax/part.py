"""A part of a text: which one is to be read again after a change, and what goes with it.

A change is widened to whole declarations, with one more on each side of it: what is read
of others does not look so far. Their records are kept, moved by as much as the text grew.
Which nodes are the same in two trees, tree-sitter says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter
from typing import TypeVar

import msgspec
from tree_sitter import Node

from cudalint.syntax import moved
from cudalint.syntax.difference import common_ends
from cudalint.syntax.heads import head_start
from cudalint.syntax.prepare import Text
from cudalint.syntax.raw import Range, Raw

_BEHIND_ALL = 1 << 62

Record = TypeVar("Record")


class Part(msgspec.Struct, frozen=True):
    """What starts from `start` up to `end`, and what is around all of that.

    `growth` is by how much what lies behind it has moved.
    """

    start: int
    end: int
    growth: int

    def holds(self, place: Range) -> bool:
        """Whether a node or a record is of this part."""
        start, end = place
        return self.start <= start < self.end or (start < self.start and end >= self.end)

    def joined(self, old: Raw, new: Raw) -> Raw:
        """`new`, which was read of this part, and of `old` all that lies elsewhere."""
        start, end, by = self.start, self.end, self.growth
        left = end - by

        def both(
            before: Sequence[Record],
            now: Sequence[Record],
            place: Callable[[Record], Range],
            move: Callable[[Record, int], Record],
        ) -> list[Record]:
            placed = list(zip(before, map(place, before), strict=True))
            ahead = [record for record, (s, e) in placed if s < start and e < left]
            behind = [record for record, (s, _) in placed if s >= left]
            here = [record for record in now if self.holds(place(record))]
            return ahead + here + ([move(record, by) for record in behind] if by else behind)

        return Raw(
            both(old.functions, new.functions, attrgetter("span"), moved.moved_function),
            both(old.calls, new.calls, attrgetter("span"), moved.moved_call),
            both(old.shared, new.shared, attrgetter("span"), moved.moved_shared),
            both(old.branches, new.branches, attrgetter("head"), moved.moved_branch),
            both(old.scopes, new.scopes, attrgetter("span"), moved.moved_scope),
            both(old.aliases, new.aliases, attrgetter("span"), moved.moved_alias),
            both(old.constants, new.constants, attrgetter("span"), moved.moved_constant),
            both(old.statements, new.statements, _itself, moved.moved_range),
            both(old.errors, new.errors, _itself, moved.moved_range),
            new.defines,
        )


def changed_part(old: Text, text: Text, differing: Iterable[Range], root: Node) -> Part | None:
    """What is to be read again of `text`, whose tree has the `root`, after it was `old`.

    `differing` is where the trees do. None stands for all of it.
    """
    low, high = _BEHIND_ALL, 0
    for before, now in ((old.code, text.code), (old.bare, text.bare), (old.parse, text.parse)):
        start, tail = common_ends(before, now)
        low, high = min(low, start), max(high, len(now) - tail)
    for start, end in differing:
        low, high = min(low, start), max(high, end)
    if root.is_error:
        return None
    return _Change(text.bare, low, max(low, high), len(text.parse) - len(old.parse)).part(root)


class _Change:
    """A change from `low` to `high`, after which the text has grown by `growth`."""

    def __init__(self, bare: bytes, low: int, high: int, growth: int) -> None:
        self._bare = bare
        self._low = low
        self._high = high
        self._growth = growth

    def part(self, root: Node) -> Part | None:
        """The least part that holds the change and begins and ends between declarations."""
        nodes = root.children
        part = self._among(nodes, 0, _BEHIND_ALL)
        while part is not None:
            around = next((node for node in nodes if self._is_in(node)), None)
            body = None if around is None else around.child_by_field_name("body")
            if body is None or body.type != "declaration_list":
                break
            inside = body.children
            if not (len(inside) > 1 and self._is(inside[0], b"{") and self._is(inside[-1], b"}")):
                break
            opened, *nodes, closed = inside
            if self._low < opened.end_byte or self._high > closed.start_byte:
                break
            inner = self._among(nodes, opened.end_byte, closed.start_byte)
            if inner is None:
                break
            part = inner
        return part

    def _is_in(self, node: Node) -> bool:
        return (
            node.start_byte < self._low
            and self._high < node.end_byte
            and node.type in ("namespace_definition", "linkage_specification")
        )

    def _is(self, node: Node, brace: bytes) -> bool:
        """Whether a node is this brace, and is so in the text that heads are searched in."""
        return self._bare[node.start_byte : node.end_byte] == brace

    def _among(self, nodes: list[Node], start: int, end: int) -> Part | None:
        """The part among `nodes`, all that lies side by side from `start` to `end`."""
        count = len(nodes)
        first = next((at for at, node in enumerate(nodes) if node.end_byte >= self._low), count) - 1
        while first > 0 and not self._is_border(nodes, first):
            first -= 1
        last = next((at for at, node in enumerate(nodes) if node.start_byte > self._high), count)
        last += 1
        while last < count and not self._is_border(nodes, last):
            last += 1
        if last >= count and nodes and nodes[-1].end_byte >= end:
            return None
        return Part(
            head_start(self._bare, nodes[first].start_byte) if first > 0 else start,
            head_start(self._bare, nodes[last].start_byte) if last < count else end,
            self._growth,
        )

    def _is_border(self, nodes: list[Node], at: int) -> bool:
        """Whether what is read of a node, and of those behind it, begins behind the one before."""
        return head_start(self._bare, nodes[at].start_byte) > nodes[at - 1].end_byte


def _itself(place: Range) -> Range:
    return place
