"""Resolves includes to the files of the run.

A file that the run does not know is left out; nothing is read here. Names in
angle brackets are the toolkit's or the system's, unless a compile command's
folders hold them, or they have a folder of their own.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cudalint.compiledb.model import CompileCommand
    from cudalint.syntax.model import FileModel, Include
    from cudalint.tree.model import KernelTree


Search = tuple[tuple[str, ...], tuple[str, ...]]
"""Folders for quoted names alone, and folders for all names, in order."""

_NOWHERE: Search = ((), ())


class Includes:
    """The includes among the files of a run.

    A quoted name is looked for beside the including file, then in the folders of
    its targets' layers (most specific first), as nvcc is told to, then in those of
    its compile commands; at last among all files, where exactly one path ends with
    it (an `-I` that is not known here). A name in angle brackets is looked for in
    the folders of compile commands, and at last among all files if it has a folder.

    A translation unit sees every file with the folders of its own command (of all
    its commands in their order, when it has several). A file without a command is
    seen by itself with the folders of all units that include it, those of the
    first unit by path first: where units disagree, that one's answer counts.
    """

    def __init__(
        self,
        models: Mapping[str, FileModel],
        trees: Iterable[KernelTree],
        commands: Mapping[str, Sequence[CompileCommand]] | None = None,
    ) -> None:
        self._models = models
        self._trees = tuple(trees)
        self._commands = commands or {}
        self._folders: dict[str, tuple[str, ...]] | None = None
        self._by_name: dict[str, list[str]] | None = None
        self._direct: dict[tuple[str, int], tuple[str, ...]] = {}
        self._closures: dict[str, tuple[str, ...]] = {}
        self._includers: dict[str, list[str]] | None = None
        self._searches: dict[str, Search] = {}
        self._of_headers: dict[str, Search] | None = None
        self._numbers: dict[Search, int] = {}

    def stand_in(self, models: Mapping[str, FileModel]) -> None:
        """Take these models for those that were given: they include the same, at other places."""
        self._models = models

    def resolve(self, path: str, include: Include, unit: str | None = None) -> str | None:
        """The known file that `include` of the file at `path` brings, or None.

        `unit` is the file whose compile it is part of, by default `path` itself.
        """
        return self._find(path, include.path, include.system, self._search(path, unit or path))

    def _find(self, path: str, name: str, system: bool, search: Search) -> str | None:
        folders = search[1]
        if not system:
            folders = (posixpath.dirname(path), *self._layers(path), *search[0], *folders)
        for folder in folders:
            candidate = posixpath.normpath(posixpath.join(folder, name))
            if candidate in self._models:
                return candidate
        # `<engine/queue.h>` is a project's own way to name its headers, `<queue>` is not.
        return self._only_ending_with(name) if not system or "/" in name else None

    def lacks(self, unit: str) -> bool:
        """Whether a quoted include in the compile of `unit` is no known file."""
        return any(
            not include.system and self.resolve(path, include, unit) is None
            for path in (unit, *self.closure(unit))
            for include in self._models[path].includes
        )

    def closure(self, path: str) -> tuple[str, ...]:
        """The known files that `path` includes, directly or not, in order, without itself."""
        if path not in self._closures:
            found: dict[str, None] = {}
            self._collect(path, found)
            found.pop(path, None)
            self._closures[path] = tuple(found)
        return self._closures[path]

    def directive(self, path: str, included: str) -> Include | None:
        """The first include of the file at `path` that brings `included`, directly or not."""
        for include in self._models[path].includes:
            file = self.resolve(path, include)
            if file is not None and included in (file, *self.closure(file)):
                return include
        return None

    def includers(self, path: str) -> tuple[str, ...]:
        """The known files whose closure holds `path`, sorted."""
        if self._includers is None:
            self._includers = {}
            for other in sorted(self._models):
                if self._models[other].includes:
                    for included in self.closure(other):
                        self._includers.setdefault(included, []).append(other)
        return tuple(self._includers.get(path, ()))

    def _collect(self, unit: str, found: dict[str, None]) -> None:
        found.update(dict.fromkeys(self.forced(unit)))
        pending = [unit, *reversed(found)]
        while pending:
            current = pending.pop()
            fresh = [other for other in self._includes_of(current, unit) if other not in found]
            found.update(dict.fromkeys(fresh))
            pending.extend(reversed(fresh))

    def forced(self, unit: str) -> Iterator[str]:
        """The known files that the unit's commands include before its first line."""
        for command in self._commands.get(unit, ()):
            for forced in command.forced:
                if forced.path is not None and forced.path in self._models:
                    yield forced.path
                    continue
                file = self._find(unit, forced.name, False, (command.quoted, command.folders))
                if file is not None:
                    yield file

    def _includes_of(self, path: str, unit: str) -> tuple[str, ...]:
        """The known files that `path` includes itself in the compile of `unit`, each once."""
        search = self._search(path, unit)
        key = (path, self._numbers.setdefault(search, len(self._numbers)))
        if key not in self._direct:
            found = (
                self._find(path, include.path, include.system, search)
                for include in self._models[path].includes
            )
            self._direct[key] = tuple(dict.fromkeys(f for f in found if f is not None))
        return self._direct[key]

    def _search(self, path: str, unit: str) -> Search:
        """Where commands say to look for what `path` includes in the compile of `unit`."""
        if not self._commands:
            return _NOWHERE
        if unit in self._commands:
            return self._search_of_unit(unit)
        if self._of_headers is None:
            self._of_headers = self._searches_of_headers()
        return self._of_headers.get(unit) or self._of_headers.get(path, _NOWHERE)

    def _search_of_unit(self, unit: str) -> Search:
        if unit not in self._searches:
            commands = self._commands[unit]
            self._searches[unit] = _merged([(c.quoted, c.folders) for c in commands])
        return self._searches[unit]

    def _searches_of_headers(self) -> dict[str, Search]:
        users: dict[str, dict[Search, None]] = {}
        for unit in sorted(self._commands):
            if unit in self._models:
                for file in self.closure(unit):
                    if file not in self._commands:
                        users.setdefault(file, {})[self._search_of_unit(unit)] = None
        return {file: _merged(list(searches)) for file, searches in users.items()}

    def _layers(self, path: str) -> tuple[str, ...]:
        if self._folders is None:
            self._folders = {}
            for tree in self._trees:
                for target in tree.targets:
                    folders = tuple(layer.path for layer in target.layers)
                    for file in (*target.sources.values(), *target.headers.values()):
                        known = self._folders.get(file, ())
                        self._folders[file] = tuple(dict.fromkeys(known + folders))
        return self._folders.get(path, ())

    def _only_ending_with(self, name: str) -> str | None:
        if self._by_name is None:
            self._by_name = {}
            for path in self._models:
                self._by_name.setdefault(posixpath.basename(path), []).append(path)
        if name.startswith(("/", "../")):
            return None
        ending = "/" + posixpath.normpath(name)
        found = [
            path
            for path in self._by_name.get(posixpath.basename(name), ())
            if ("/" + path).endswith(ending)
        ]
        return found[0] if len(found) == 1 else None


def _merged(searches: Sequence[Search]) -> Search:
    """The folders of all, each once, in order."""
    if len(searches) == 1:
        return searches[0]
    quoted = dict.fromkeys(folder for search in searches for folder in search[0])
    folders = dict.fromkeys(folder for search in searches for folder in search[1])
    return tuple(quoted), tuple(folders)
