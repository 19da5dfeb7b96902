"""Shadows: where a file of one layer replaces a file of a layer below it.

What is wrong with a shadow is for the rules CU401 to CU405.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from cudalint.tree.folders import inside
from cudalint.tree.model import KernelTree, Layer, Target


class Shadow(msgspec.Struct, frozen=True):
    """The file `upper` of `layer` replaces `lower` of `below`, in `target` (the first that does).

    `key` is what a `[shadow]` row calls it: the stem of a source, the name of a
    header.
    """

    key: str
    upper: str
    lower: str
    layer: Layer
    below: Layer
    target: Target

    @property
    def is_source(self) -> bool:
        """Whether it is a `.cu` file, and not a header."""
        return self.upper.endswith(".cu")

    @property
    def declared(self) -> bool:
        """Whether the layer's manifest has a row for it, or can't be judged by its rows."""
        manifest = self.layer.manifest
        if manifest is None:
            return False
        return not manifest.readable or self.key in manifest.shadow or self.key in manifest.unjudged


def shadows(tree: KernelTree) -> tuple[Shadow, ...]:
    """Every replacement in the tree's targets, each pair of files once, in order of path."""
    found: dict[tuple[str, str, str], Shadow] = {}
    for target in tree.targets:
        for shadow in _of_target(target):
            found.setdefault((shadow.layer.path, shadow.upper, shadow.lower), shadow)
    return tuple(found[pair] for pair in sorted(found))


def layers(tree: KernelTree) -> tuple[Layer, ...]:
    """Every layer of the tree once, in order of path."""
    return tuple(
        layer for _, layer in sorted({x.path: x for t in tree.targets for x in t.layers}.items())
    )


def lacks_parent(tree: KernelTree, layer: Layer) -> bool:
    """Whether a layer's hardware inherits from a folder that is not here."""
    names = {hw.name for hw in tree.hardware}
    return any(
        hw.inherits is not None and hw.inherits not in names and inside(layer.path, hw.path)
        for hw in tree.hardware
    )


def _of_target(target: Target) -> Iterator[Shadow]:
    for number, layer in enumerate(target.layers):
        for key, upper in (*layer.sources.items(), *layer.headers.items()):
            for below in target.layers[number + 1 :]:
                files = below.sources if upper.endswith(".cu") else below.headers
                lower = files.get(key)
                if lower is not None:
                    if lower != upper:
                        yield Shadow(key, upper, lower, layer, below, target)
                    break
