"""What to compile: which files, for which archs, with whose flags and include paths.

A file of a kernel tree is compiled as each target that it is a part of compiles
it; any other file for the archs of the settings, else nvcc's default.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cudalint.compile.request import CompileRequest

if TYPE_CHECKING:
    from cudalint.settings.model import Settings
    from cudalint.tree.model import KernelTree, Target


def plan(
    paths: Iterable[str], root: Path, trees: Sequence[KernelTree], settings: Settings
) -> list[CompileRequest]:
    """The compiles that the `.cu` files at `paths` (relative to `root`) ask for."""
    targets: dict[str, list[Target]] = {}
    for tree in trees:
        for target in tree.targets:
            for source in target.sources.values():
                targets.setdefault(source, []).append(target)
    requests: list[CompileRequest] = []
    for path in paths:
        if not path.endswith(".cu"):
            continue
        for target in targets.get(path, ()):
            requests += _of_target(path, str(root), target, settings.targets)
        if path not in targets:
            archs = settings.targets or (None,)
            requests += (CompileRequest(path, str(root), arch) for arch in archs)
    return requests


def _of_target(
    path: str, root: str, target: Target, archs: Sequence[str]
) -> Iterable[CompileRequest]:
    for arch in archs or (target.hardware.arch,):
        include_paths = _include_paths(target)
        yield CompileRequest(path, root, arch, include_paths, target.flags, (target.name,))


def _include_paths(target: Target) -> tuple[str, ...]:
    """The folders of the target's layers, the most specific first, then those of its flags.

    A leaf without headers changes no include: left out, it lets the targets of
    one common file share a compile.
    """
    layers = (layer for layer in target.layers if layer.headers or layer.kind == "common")
    return tuple(dict.fromkeys((*(layer.path for layer in layers), *target.includes)))
