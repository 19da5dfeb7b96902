"""Between cudalint's places and the protocol's: paths and URIs, offsets and positions."""

from __future__ import annotations

from pathlib import Path

from lsprotocol import types
from pygls import uris

from cudalint.finding import Span
from cudalint.lines import LineIndex, Position, Unit
from cudalint.run import Run

_UNITS: dict[str, Unit] = {"utf-8": "bytes", "utf-16": "utf16", "utf-32": "characters"}


class Places:
    """The places of one run, in the columns that the client counts (`encoding`)."""

    def __init__(self, run: Run, encoding: str) -> None:
        self._run = run
        self._unit = _UNITS[encoding]
        self._indexes: dict[str, LineIndex] = {}
        self._uris: dict[str, str] = {}

    def uri(self, path: str) -> str:
        """The URI of a path that is relative to the run's root."""
        if path not in self._uris:
            self._uris[path] = uri_of(Path(self._run.root) / path)
        return self._uris[path]

    def range(self, span: Span) -> types.Range:
        """What to mark: it stops at the end of a line rather than reach into the next."""
        found = self._index(span.path).range(span.start, span.end, self._unit)
        return types.Range(_position(found.start), _position(found.end))

    def edited(self, span: Span) -> types.Range:
        """What to replace: exactly the span."""
        index = self._index(span.path)
        start, end = (index.position(offset, self._unit) for offset in (span.start, span.end))
        return types.Range(_position(start), _position(end))

    def offset(self, path: str, position: types.Position) -> int:
        """The byte at a position; the last one for a line that is not there."""
        place = Position(position.line + 1, position.character + 1)
        try:
            return self._index(path).offset(place, self._unit)
        except IndexError:
            return len(self._run.sources[path].data)

    def _index(self, path: str) -> LineIndex:
        if path not in self._indexes:
            self._indexes[path] = LineIndex(self._run.sources[path].data)
        return self._indexes[path]


def uri_of(path: Path) -> str:
    """The URI of an absolute path. Raises ValueError for one that has none."""
    uri: str | None = uris.from_fs_path(str(path))
    if uri is None:
        raise ValueError(f"no URI for {path}")
    return uri


def path_of(uri: str) -> Path | None:
    """The path of a `file:` URI; None for a document that is no file."""
    path = uris.to_fs_path(uri) if uri.startswith("file:") else None
    return Path(path) if path else None


def _position(position: Position) -> types.Position:
    return types.Position(position.line - 1, position.column - 1)
