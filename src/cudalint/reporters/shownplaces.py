"""Places as people read them: paths as one types them where one is, lines, columns."""

from __future__ import annotations

import os
from collections.abc import Mapping

from cudalint.lines import LineIndex
from cudalint.reporters.visible import visible
from cudalint.source import SourceFile


class ShownPlaces:
    """The places in the files of one run; `root` and `cwd` are absolute."""

    def __init__(self, sources: Mapping[str, SourceFile], root: str, cwd: str) -> None:
        self._sources = sources
        self._root = root
        self._cwd = cwd
        self._indexes: dict[str, LineIndex] = {}

    def index(self, path: str) -> LineIndex:
        """The lines of the file at `path`; one empty line for a file that was not read."""
        if path not in self._indexes:
            source = self._sources.get(path)
            self._indexes[path] = LineIndex(b"" if source is None else source.data)
        return self._indexes[path]

    def has_text(self, path: str) -> bool:
        """Whether there is anything to show of the file at `path`."""
        return path in self._sources and bool(self._sources[path].data)

    def place(self, path: str, offset: int) -> str:
        """`path:line:column`, the column in characters."""
        position = self.index(path).position(offset)
        return f"{self.path(path)}:{position.line}:{position.column}"

    def path(self, path: str) -> str:
        """The path as one types it where one is."""
        if self._cwd != self._root:
            path = os.path.relpath(f"{self._root}/{path}", self._cwd)
        return visible(path)
