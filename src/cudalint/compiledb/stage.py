"""The compile commands of a run's files, out of the databases that stand for them.

A database that is named must be usable; one that was only found is told of and
left out when it is not. What the manifests of a kernel tree say comes first: for
the sources of its targets no database is asked.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from cudalint.compiledb.error import DatabaseError
from cudalint.compiledb.find import NAME, OutsideError, load, load_inside, nearest
from cudalint.compiledb.model import CompileCommand, ReadCommand
from cudalint.finding import Level
from cudalint.run import Notification
from cudalint.settings.origin import SettingsError

if TYPE_CHECKING:
    from cudalint.compiledb.read import Database
    from cudalint.tree.model import KernelTree

AUTO, NEVER = "auto", "never"


class CompileCommands(msgspec.Struct, frozen=True):
    """The commands by file, each with what of it was not taken; all paths relative to the root."""

    by_path: dict[str, tuple[ReadCommand, ...]] = {}
    notifications: tuple[Notification, ...] = ()

    @property
    def commands(self) -> dict[str, tuple[CompileCommand, ...]]:
        """The distinct commands of each file."""
        return {
            path: tuple(dict.fromkeys(read.command for read in reads))
            for path, reads in self.by_path.items()
        }


def compile_commands(
    paths: Iterable[str],
    root: Path,
    trees: Sequence[KernelTree],
    setting: str,
    option: str | None,
    cwd: Path,
) -> CompileCommands:
    """The commands of the sources at `paths` (relative to `root`).

    `setting` and `option` are what the settings and the command line say:
    "auto", "never", or a database or its folder, relative to the root and to
    `cwd`; the command line goes first, and may name one outside the root.
    Raises SettingsError for a named database that can't be used.
    """
    of_trees = {
        source for tree in trees for target in tree.targets for source in target.sources.values()
    }
    wanted = [path for path in paths if path not in of_trees]
    said = setting if option is None else option
    if said == NEVER or not wanted:
        return CompileCommands()
    roots = tuple(dict.fromkeys((str(root), os.path.realpath(root))))
    if said == AUTO:
        return _found(wanted, roots)
    try:
        database = _named(setting, roots) if option is None else _at(option, cwd, roots)
        return CompileCommands(_commands(wanted, database))
    except DatabaseError as error:
        name = "compile-commands" if option is None else "--compile-commands"
        raise SettingsError(f"{name}: {error}") from None


def _found(wanted: Sequence[str], roots: Sequence[str]) -> CompileCommands:
    """By the nearest database of each file."""
    files: dict[str, list[str]] = {}
    for path, database in nearest(wanted, roots[0]).items():
        files.setdefault(database, []).append(path)
    by_path: dict[str, tuple[ReadCommand, ...]] = {}
    notifications: list[Notification] = []
    for label in sorted(files):
        try:
            data = load_inside(label, roots[0])
            by_path |= _commands(files[label], _database(label, data, roots[0], roots))
        except DatabaseError as error:
            message = f"{error}; it is left out: mend it, or say --compile-commands {NEVER}"
            notifications.append(Notification("compile-commands-unusable", Level.WARNING, message))
    return CompileCommands(dict(sorted(by_path.items())), tuple(notifications))


def _named(setting: str, roots: Sequence[str]) -> Database:
    label = posixpath.normpath(setting)
    if Path(roots[0], label).is_dir():
        label = posixpath.join(label, NAME)
    try:
        data = load_inside(label, roots[0])
    except OutsideError as error:
        raise DatabaseError(f"{error}; name it with --compile-commands") from None
    return _database(label, data, roots[0], roots)


def _at(option: str, cwd: Path, roots: Sequence[str]) -> Database:
    label = posixpath.join(option, NAME) if (cwd / option).is_dir() else option
    return _database(label, load(str(cwd / label), label), str(cwd), roots)


def _database(label: str, data: bytes, base: str, roots: Sequence[str]) -> Database:
    from cudalint.compiledb.read import Database

    folder = posixpath.normpath(posixpath.join(base, posixpath.dirname(label)))
    return Database(label, data, folder, roots)


def _commands(wanted: Iterable[str], database: Database) -> dict[str, tuple[ReadCommand, ...]]:
    found = ((path, database.commands(path)) for path in wanted)
    return {path: reads for path, reads in found if reads}


def incomplete(
    by_path: Mapping[str, Sequence[ReadCommand]], unresolved: Iterable[str], *, compiling: bool
) -> list[Notification]:
    """At most one notification for each thing that commands ask for and do not get.

    `unresolved` are files with a quoted include that was not found; `compiling`
    says that nvcc may be run. Folders outside the root are told of only where an
    include was not found, arguments that nvcc is not given only for its sources.
    """
    without = (read for path in unresolved for read in by_path.get(path, ()))
    outside = {folder for read in without for folder in read.outside}
    responses = {name for reads in by_path.values() for read in reads for name in read.responses}
    refused = {
        flag
        for path, reads in by_path.items()
        if compiling and path.endswith(".cu")
        for read in reads
        for flag in read.refused
    }
    told = (
        (outside, "include folders outside the project root are not searched"),
        (
            responses,
            "files of arguments are not opened (with CMake, generate for Ninja, or set "
            "CMAKE_CUDA_USE_RESPONSE_FILE_FOR_INCLUDES to OFF after project())",
        ),
        (refused, "flags that are not harmless in every case are not given to nvcc"),
    )
    return [
        Notification(
            "compile-commands-incomplete",
            Level.NOTE,
            f"compile commands: {what}: {_some(sorted(names))}",
            None,
            "\n".join(sorted(names)),
        )
        for names, what in told
        if names
    ]


def _some(names: Sequence[str]) -> str:
    """The first of them, and how many more there are."""
    return names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"
