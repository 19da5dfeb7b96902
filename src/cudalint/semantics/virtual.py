"""Lays the files of a run out for libclang: one place for each, includes pointing there.

A quoted include that the run resolves names that file's place; one that it does
not know, and a system header that has no stub, is blanked.
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping

import msgspec

from cudalint.project.includes import Includes
from cudalint.source import SourceFile
from cudalint.syntax.model import FileModel, Include

_ROOT = "/cudalint/run"


class Layout(msgspec.Struct, frozen=True):
    """The texts by place, where the main file is, and how its offsets moved.

    `shifts` are `(offset in the main text, how much further on that is than in
    the file)`, by rising offset.
    """

    main: str
    files: dict[str, bytes]
    shifts: tuple[tuple[int, int], ...]

    def original(self, offset: int) -> int:
        """Where in the file on disk the byte at `offset` of the main text is."""
        moved = 0
        for start, shift in self.shifts:
            if start > offset:
                break
            moved = shift
        return offset - moved


def lay_out(
    path: str,
    models: Mapping[str, FileModel],
    sources: Mapping[str, SourceFile],
    includes: Includes,
    known: frozenset[str],
) -> Layout:
    """The file at `path` with all that it includes; `known` are the system headers there are."""
    files: dict[str, bytes] = {}
    shifts: tuple[tuple[int, int], ...] = ()
    for file in (path, *includes.closure(path)):
        text, moved = _rewrite(models[file], sources[file].data, includes, known)
        files[_place(file)] = text
        if file == path:
            shifts = moved
    return Layout(_place(path), files, shifts)


def _place(path: str) -> str:
    return posixpath.join(_ROOT, path.replace("..", "%2E%2E"))


def _rewrite(
    model: FileModel, data: bytes, includes: Includes, known: frozenset[str]
) -> tuple[bytes, tuple[tuple[int, int], ...]]:
    pieces: list[bytes] = []
    shifts: list[tuple[int, int]] = []
    at = size = 0
    for include in model.includes:
        start, end = include.span.start, include.span.end
        if start < at:
            continue
        kept = data[at:start]
        text = _directive(model.path, include, data[start:end], includes, known)
        pieces += (kept, text)
        size += len(kept) + len(text)
        at = end
        shifts.append((size, size - end))
    pieces.append(data[at:])
    return b"".join(pieces), tuple(shifts)


def _directive(
    path: str, include: Include, written: bytes, includes: Includes, known: frozenset[str]
) -> bytes:
    target = includes.resolve(path, include)
    if target is not None:
        return f'#include "{_place(target)}"'.encode()
    if include.path in known:
        return f"#include <{include.path}>".encode()
    return b"\n" * written.count(b"\n")
