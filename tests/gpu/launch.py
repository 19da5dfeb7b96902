"""The launch tables of ``kernels/gb10/launch``: how each entry point is to be launched.

Reads and evaluates tables; needs no GPU. Building and launching is ``driver.py``'s work.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from .expressions import evaluate

KERNELS = Path(__file__).resolve().parents[2] / "kernels" / "gb10"


@dataclass(frozen=True)
class Geometry:
    """One launch: blocks, threads per block, bytes of dynamic shared memory."""

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared: int


@dataclass(frozen=True)
class Launch:
    """One table. ``file`` is relative to ``kernels/gb10``; ``leaf`` is "" for the baseline."""

    entry: str
    module: str
    file: str
    leaf: str
    sizes: tuple[str, ...]
    args: tuple[tuple[str, str], ...]
    grid: tuple[str | int, ...]
    block: tuple[str | int, ...]
    shared: str | int

    def geometry(self, sizes: Mapping[str, int]) -> Geometry:
        """The launch for these values of the table's ``sizes``; others are not visible to it."""
        visible = {name: int(sizes[name]) for name in self.sizes}

        def triple(expressions: tuple[str | int, ...]) -> tuple[int, int, int]:
            x, y, z = (evaluate(e, visible) for e in expressions)
            return x, y, z

        return Geometry(triple(self.grid), triple(self.block), evaluate(self.shared, visible))


def read_launch(path: Path) -> Launch:
    """Reads one table. Raises KeyError or ValueError where a key is missing or unknown."""
    table: dict[str, Any] = msgspec.toml.decode(path.read_bytes())
    launch = Launch(
        entry=table.pop("entry"),
        module=table.pop("module"),
        file=table.pop("file"),
        leaf=table.pop("leaf", ""),
        sizes=tuple(table.pop("sizes")),
        args=tuple((name, ctype) for name, ctype in table.pop("args")),
        grid=tuple(table.pop("grid")),
        block=tuple(table.pop("block")),
        shared=table.pop("shared"),
    )
    if table:
        raise ValueError(f"{path.name}: unknown keys {sorted(table)}")
    return launch


def read_launches(folder: Path = KERNELS / "launch") -> dict[tuple[str, str], Launch]:
    """All tables, by (leaf, entry), in the order of their file names."""
    launches = [read_launch(path) for path in sorted(folder.glob("*.toml"))]
    return {(launch.leaf, launch.entry): launch for launch in launches}
