"""What to compile: which files, for which archs, with whose flags and include paths.

A file of a kernel tree is compiled as each target that it is a part of compiles
it; any other file as its compile commands say, for the archs of the settings, else
of the command, else nvcc's default.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cudalint.compile.request import CompileRequest
from cudalint.compiledb.model import CompileCommand
from cudalint.discovery.walk import inside

if TYPE_CHECKING:
    from cudalint.settings.model import Settings
    from cudalint.tree.model import KernelTree, Target


_NO_COMMAND = (CompileCommand(),)
_MOST_COMMANDS = 16
"""A file with more is compiled by the first ones: a database is data that anyone may write."""


def plan(
    paths: Iterable[str],
    root: Path,
    trees: Sequence[KernelTree],
    settings: Settings,
    commands: Mapping[str, Sequence[CompileCommand]] | None = None,
) -> list[CompileRequest]:
    """The compiles that the `.cu` files at `paths` (relative to `root`) ask for.

    `commands` are those of files that are in no target.
    """
    targets: dict[str, list[Target]] = {}
    for tree in trees:
        for target in tree.targets:
            for source in target.sources.values():
                targets.setdefault(source, []).append(target)
    for source, users in targets.items():
        # No engine is built of a common/ alone, and a leaf may have what its files include.
        in_leaves = {target.hardware.name for target in users if target.leaf}
        targets[source] = [t for t in users if t.leaf or t.hardware.name not in in_leaves]
    includes: dict[str, tuple[str, ...]] = {}
    requests: list[CompileRequest] = []
    for path in paths:
        if not path.endswith(".cu"):
            continue
        for target in targets.get(path, ()):
            if target.name not in includes:
                includes[target.name] = _include_paths(target, root)
            for arch in settings.targets or (target.hardware.arch,):
                requests.append(
                    CompileRequest(
                        path,
                        str(root),
                        arch,
                        includes[target.name],
                        target.flags,
                        (target.name,),
                    )
                )
        if path not in targets:
            for command in (commands or {}).get(path, _NO_COMMAND)[:_MOST_COMMANDS]:
                requests += _as_commanded(path, root, command, settings)
    return requests


def _as_commanded(
    path: str, root: Path, command: CompileCommand, settings: Settings
) -> Iterator[CompileRequest]:
    real = os.path.realpath(root)
    folders = tuple(
        folder
        for folder in dict.fromkeys((*command.quoted, *command.folders))
        if inside(os.path.realpath(root / folder), real)
    )
    for arch in settings.targets or command.archs or (None,):
        yield CompileRequest(path, str(root), arch, folders, command.flags)


def _include_paths(target: Target, root: Path) -> tuple[str, ...]:
    """The target's include folders, in order, without leaves that hold no header.

    Such a leaf changes no include: left out, it lets the targets of one common
    file share a compile.
    """
    without = {
        layer.path
        for layer in target.layers
        if layer.kind == "leaf" and not layer.headers and not _has_folders(root / layer.path)
    }
    return tuple(folder for folder in target.includes if folder not in without)


def _has_folders(folder: Path) -> bool:
    """Whether a header could lie in a folder below."""
    try:
        with os.scandir(folder) as entries:
            return any(entry.is_dir() for entry in entries)
    except OSError:
        return True
