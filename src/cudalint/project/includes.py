"""Resolves quoted includes to the files of the run.

A file that the run does not know is left out; nothing is read here. Names in
angle brackets are the toolkit's or the system's.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cudalint.syntax.model import FileModel, Include
    from cudalint.tree.model import KernelTree


class Includes:
    """The quoted includes among the files of a run.

    A name is looked for beside the including file, then in the folders of its
    targets' layers (most specific first), as nvcc is told to; at last among all
    files, where exactly one path ends with it (an `-I` that is not known here).
    """

    def __init__(self, models: Mapping[str, FileModel], trees: Iterable[KernelTree]) -> None:
        self._models = models
        self._trees = tuple(trees)
        self._folders: dict[str, tuple[str, ...]] | None = None
        self._by_name: dict[str, list[str]] | None = None
        self._direct: dict[str, tuple[str, ...]] = {}
        self._closures: dict[str, tuple[str, ...]] = {}
        self._includers: dict[str, list[str]] | None = None

    def resolve(self, path: str, include: Include) -> str | None:
        """The known file that `include` of the file at `path` brings, or None."""
        if include.system:
            return None
        name = include.path
        beside = posixpath.normpath(posixpath.join(posixpath.dirname(path), name))
        if beside in self._models:
            return beside
        for folder in self._search(path):
            candidate = posixpath.normpath(posixpath.join(folder, name))
            if candidate in self._models:
                return candidate
        return self._only_ending_with(name)

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

    def _collect(self, path: str, found: dict[str, None]) -> None:
        pending = [path]
        while pending:
            current = pending.pop()
            fresh = [other for other in self._includes_of(current) if other not in found]
            found.update(dict.fromkeys(fresh))
            pending.extend(reversed(fresh))

    def _includes_of(self, path: str) -> tuple[str, ...]:
        """The known files that `path` includes itself, each once."""
        if path not in self._direct:
            found = (self.resolve(path, include) for include in self._models[path].includes)
            self._direct[path] = tuple(dict.fromkeys(f for f in found if f is not None))
        return self._direct[path]

    def _search(self, path: str) -> tuple[str, ...]:
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
