"""What nvcc needs to know for one source file: its targets' archs, flags and folders.

Running nvcc is `cudalint.compile`.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from cudalint.tree.model import KernelTree


class Unit(msgspec.Struct, frozen=True):
    """One way to compile a source file, and the names of the targets that do.

    `arch` is None where no HARDWARE.toml says. `includes` are folders relative
    to the project root, in order; `flags` passed the allow-list.
    """

    targets: tuple[str, ...]
    arch: str | None
    flags: tuple[str, ...]
    includes: tuple[str, ...]


def units(trees: Iterable[KernelTree], path: str) -> tuple[Unit, ...]:
    """The different ways in which the trees' targets compile the source at `path`.

    Empty for a file that is in force in no target: a header, or a file outside
    of every tree.
    """
    ways: dict[tuple[str | None, tuple[str, ...], tuple[str, ...]], list[str]] = {}
    for tree in trees:
        for target in tree.targets:
            if path in target.sources.values():
                way = (target.hardware.arch, target.flags, target.includes)
                ways.setdefault(way, []).append(target.name)
    return tuple(Unit(tuple(names), *way) for way, names in ways.items())
