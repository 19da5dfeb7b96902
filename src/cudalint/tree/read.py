"""Finds the kernel trees that a run's files lie in, and reads them.

Nothing outside a tree is read, no symbolic link is followed, nothing is
executed. What the trees' manifests say wrong is in them as faults; the rules
CU4 judge them.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from cudalint.tree.folders import Folders, join
from cudalint.tree.landmarks import is_hardware
from cudalint.tree.model import Hardware, KernelTree, OtherHardware

_DEPTH = 3
"""A leaf lies this many folders below the tree's root, `<hw>/<model>/<quant>`."""


class Trees(msgspec.Struct, frozen=True):
    """The trees in order of their roots, and the hardware folders in them that are not for CUDA."""

    cuda: tuple[KernelTree, ...] = ()
    others: tuple[OtherHardware, ...] = ()


def read_trees(root: Path, folders: Iterable[str]) -> tuple[KernelTree, ...]:
    """The CUDA trees that the given folders are a part of, as in `find_trees`."""
    return find_trees(root, folders).cuda


def find_trees(
    root: Path, folders: Iterable[str], contents: Mapping[str, bytes] | None = None
) -> Trees:
    """The trees that the given folders are a part of.

    `root` is the project root, `folders` are relative to it ("" or "." is the
    root itself): the folders that hold the files of the run, sources and
    manifests. What lies deeper than they do is only read when it is part of a
    tree that a folder lies in. `contents` are what files, by absolute path, are
    to be taken to hold.
    """
    reader = Folders(root, contents)
    candidates = sorted({c for folder in folders for c in _candidates(folder)})
    found = {path for path in candidates if is_hardware(path, reader)}
    if not found:
        return Trees()
    from cudalint.tree.hardware import read_hardware
    from cudalint.tree.targets import resolve_tree

    trees: list[KernelTree] = []
    others: list[OtherHardware] = []
    for tree_root in sorted({posixpath.dirname(path) for path in found}):
        # A project root that is itself a <hw>/ has its tree's root outside: no siblings.
        paths = [""] if tree_root == "" and "" in found else _siblings(tree_root, reader)
        read = [read_hardware(path, tree_root, reader) for path in paths]
        others += (hw for hw in read if isinstance(hw, OtherHardware))
        hardware = tuple(hw for hw in read if isinstance(hw, Hardware))
        if hardware:
            trees.append(resolve_tree(tree_root, hardware, reader))
    return Trees(tuple(trees), tuple(others))


def tree_files(trees: Iterable[KernelTree]) -> tuple[str, ...]:
    """Every source, header and manifest of the trees, in order of path."""
    paths: set[str] = set()
    for tree in trees:
        paths.update(tree.manifests)
        for target in tree.targets:
            for layer in target.layers:
                paths.update(layer.sources.values(), layer.headers.values())
    return tuple(sorted(paths))


def _candidates(folder: str) -> list[str]:
    """The folders that are the `<hw>/` if `folder` is a part of a tree."""
    at = join("", folder)
    found: list[str] = []
    for _ in range(_DEPTH):
        if posixpath.basename(at) == "..":
            break
        found.append(at)
        if not at:
            break
        at = posixpath.dirname(at)
    return found


def _siblings(tree_root: str, folders: Folders) -> list[str]:
    paths = (posixpath.join(tree_root, name) for name in folders.list(tree_root).folders)
    return [path for path in paths if is_hardware(path, folders)]
