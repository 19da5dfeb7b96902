"""Module names of a target: which manifest row gives each, and which stand in each other's way.

A module is what the host looks up; its name is the file's stem unless a
`[modules]` row says otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from cudalint.finding import Span
from cudalint.tree.model import Target, Value


class Naming(msgspec.Struct, frozen=True):
    """How the file with `stem` gets its module `name`: by `row`, or by its own stem (None).

    `rank` orders the namings of a target: the later one is the one that came
    into a more specific layer, or stands further down in the same manifest.
    """

    stem: str
    name: str
    path: str
    row: Value | None
    rank: tuple[int, bool, int, str]

    @property
    def place(self) -> Span:
        """Where the name is given: the row's value, else the whole file."""
        return self.row.span if self.row is not None else Span(self.path, 0, 0)


def namings(target: Target) -> tuple[Naming, ...]:
    """The naming of each source in force in `target`, in order of rank."""
    found: list[Naming] = []
    for stem, path in target.sources.items():
        row, depth = None, _depth_of_file(target, stem)
        for number, layer in enumerate(target.layers):
            if layer.manifest is not None and stem in layer.manifest.modules:
                row, depth = layer.manifest.modules[stem], number
                break
        at = row.span.start if row is not None else 0
        rank = (-depth, row is not None, at, path)
        found.append(Naming(stem, target.modules[stem], path, row, rank))
    return tuple(sorted(found, key=lambda naming: naming.rank))


def clashes(target: Target) -> Iterator[tuple[Naming, Naming]]:
    """Each naming that takes a name which an earlier one has: (later, earlier).

    Names that differ by case, or by `-` for `_`, are the same.
    """
    first: dict[str, Naming] = {}
    for naming in namings(target):
        earlier = first.setdefault(naming.name.lower().replace("-", "_"), naming)
        if earlier is not naming:
            yield naming, earlier


def lost_names(target: Target) -> Iterator[tuple[Value, Value]]:
    """Each row that renames what a lower manifest named, with the lower row, whose name is lost.

    A name is lost when no module of the target has it any more.
    """
    names = set(target.modules.values())
    for stem in target.sources:
        rows = [
            layer.manifest.modules[stem]
            for layer in target.layers
            if layer.manifest is not None and stem in layer.manifest.modules
        ]
        for lower in rows[1:]:
            if lower.value not in names:
                yield rows[0], lower


def _depth_of_file(target: Target, stem: str) -> int:
    for number, layer in enumerate(target.layers):
        if stem in layer.sources:
            return number
    raise LookupError(stem)
