"""Targets: which layers an engine build compiles, and what is in force after shadowing.

Reading the layers is `cudalint.tree.layers`; judging them are the rules CU4.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator
from typing import Literal, TypeVar

import msgspec

from cudalint.tree.folders import Folders, join
from cudalint.tree.hardware import circles, read_kernel_source
from cudalint.tree.landmarks import COMMON, HARDWARE, MANIFEST, MODEL
from cudalint.tree.layers import has_sources, link_faults, read_layer
from cudalint.tree.model import Hardware, KernelTree, Layer, ManifestFault, Target, Value

_T = TypeVar("_T")


def resolve_tree(root: str, hardware: tuple[Hardware, ...], folders: Folders) -> KernelTree:
    """The tree at `root` (relative to the project root) with all its targets."""
    archs = {hw.name: hw.arch for hw in hardware}
    hardware = tuple(
        msgspec.structs.replace(hw, arch=hw.arch or archs.get(hw.inherits or "")) for hw in hardware
    )
    resolution = _Resolution(root, hardware, folders)
    targets = tuple(target for hw in hardware for target in resolution.targets_of(hw))
    manifests = tuple(sorted(resolution.manifests))
    return KernelTree(root or ".", hardware, targets, manifests, resolution.faults)


class _Resolution:
    def __init__(self, root: str, hardware: tuple[Hardware, ...], folders: Folders) -> None:
        self._root = root
        self._folders = folders
        self._by_name = {hw.name: hw for hw in hardware}
        self._layers: dict[str, Layer] = {}
        self._kernel_sources: dict[str, str | None] = {}
        self._faults: set[ManifestFault] = {
            *link_faults(root, root, folders),
            *circles(hardware),
        }
        self.manifests: set[str] = set()

    @property
    def faults(self) -> tuple[ManifestFault, ...]:
        """What was found on the way, in order of place."""
        return tuple(sorted(self._faults))

    def targets_of(self, hw: Hardware) -> Iterator[Target]:
        """The targets of one hardware folder: its common/ alone, then each leaf."""
        self._faults.update(link_faults(hw.path, hw.path, self._folders))
        self._note(hw.path, HARDWARE)
        parent = self._by_name.get(hw.inherits or "")
        parent = None if parent is hw else parent
        commons = list(self._commons(hw, parent))
        if commons:
            yield _target(hw, parent, "", commons)
        for model in self._folders.list(hw.path).folders:
            if model != COMMON:
                yield from self._model_targets(hw, parent, model, commons)

    def _commons(self, hw: Hardware, parent: Hardware | None) -> Iterator[Layer]:
        for owner in (hw, parent):
            if owner is not None and COMMON in self._folders.list(owner.path).folders:
                yield self._layer(posixpath.join(owner.path, COMMON), "common", owner)

    def _model_targets(
        self, hw: Hardware, parent: Hardware | None, model: str, commons: list[Layer]
    ) -> Iterator[Target]:
        source = self._kernel_source(hw, model)
        places = [(hw, model), (hw, source)]
        if parent is not None:
            source = source or self._kernel_source(parent, model)
            places += [(parent, model), (parent, source)]
        leaves: dict[str, dict[str, Layer]] = {}
        for owner, name in places:
            for quant, leaf in self._leaves(owner, name):
                leaves.setdefault(quant, {}).setdefault(owner.path, leaf)
        for quant in sorted(leaves):
            layers = [*leaves[quant].values(), *commons]
            yield _target(hw, parent, posixpath.join(model, quant), layers)

    def _leaves(self, owner: Hardware, model: str | None) -> Iterator[tuple[str, Layer]]:
        if model is None or model not in self._folders.list(owner.path).folders:
            return
        folder = posixpath.join(owner.path, model)
        self._faults.update(link_faults(folder, owner.path, self._folders))
        for quant in self._folders.list(folder).folders:
            path = posixpath.join(folder, quant)
            if has_sources(path, self._folders) or self._folders.list(path).links:
                yield quant, self._layer(path, "leaf", owner)

    def _layer(self, path: str, kind: Literal["leaf", "common"], hw: Hardware) -> Layer:
        layer = self._layers.get(path)
        if layer is None:
            layer = self._layers[path] = read_layer(path, kind, hw.path, self._root, self._folders)
            self._faults.update(link_faults(path, hw.path, self._folders))
            self._note(path, MANIFEST)
        return layer

    def _note(self, folder: str, name: str) -> None:
        if name in self._folders.list(folder).files:
            self.manifests.add(posixpath.join(folder, name))

    def _kernel_source(self, hw: Hardware, model: str) -> str | None:
        path = join(hw.path, model)
        if path not in self._kernel_sources:
            self._note(path, MODEL)
            source, faults = read_kernel_source(path, self._folders)
            self._kernel_sources[path] = None if source == model else source
            self._faults.update(faults)
        return self._kernel_sources[path]


def _target(hw: Hardware, parent: Hardware | None, leaf: str, layers: list[Layer]) -> Target:
    sources: dict[str, str] = {}
    headers: dict[str, str] = {}
    renames: dict[str, str] = {}
    for layer in reversed(layers):
        sources.update(layer.sources)
        headers.update(layer.headers)
        if layer.manifest is not None:
            renames.update((stem, row.value) for stem, row in layer.manifest.modules.items())
    name = posixpath.join(hw.name, leaf or COMMON)
    return Target(
        name=name,
        hardware=hw,
        leaf=leaf,
        layers=tuple(layers),
        sources=dict(sorted(sources.items())),
        headers=dict(sorted(headers.items())),
        modules={stem: renames.get(stem, stem) for stem in sorted(sources)},
        flags=_flags(hw, parent, layers),
        includes=_includes(hw, parent, layers),
    )


def _flags(hw: Hardware, parent: Hardware | None, layers: list[Layer]) -> tuple[str, ...]:
    """HARDWARE's flags, then common's, then the leaf's, each flag once."""
    rows: list[Value] = [] if parent is None else list(parent.flags)
    rows += hw.flags
    for layer in reversed(layers):
        rows += layer.manifest.flags if layer.manifest is not None else ()
    flags = _once(row.value for row in rows)
    return tuple(argument for flag in flags for argument in flag)


def _includes(hw: Hardware, parent: Hardware | None, layers: list[Layer]) -> tuple[str, ...]:
    """The layers' folders, the most specific first, then the folders of `-I` flags."""
    extra = [] if parent is None else list(parent.includes)
    extra += hw.includes
    for layer in reversed(layers):
        extra += layer.manifest.includes if layer.manifest is not None else ()
    return _once([*(layer.path for layer in layers), *extra])


def _once(values: Iterable[_T]) -> tuple[_T, ...]:
    return tuple(dict.fromkeys(values))
