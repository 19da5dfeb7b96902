"""Lays the files of a run out for libclang: one place for each, includes pointing there.

A quoted include that the run resolves names that file's place; one that it does
not know, and a system header that has no stub, is blanked.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import msgspec

from cudalint.project.includes import Includes
from cudalint.source import SourceFile
from cudalint.syntax.model import FileModel, Include

if TYPE_CHECKING:
    from cudalint.project.project import Project

_ROOT = "/cudalint/run"


class Layout(msgspec.Struct, frozen=True):
    """The texts by place, where the main file is, and how the offsets in each moved.

    `paths` are the files by their places. `shifts` are, for each place, `(offset
    in the text, how much further on that is than in the file)`, by rising offset.
    `arguments` are what the first compile command of the file defines and includes.
    """

    main: str
    files: dict[str, bytes]
    paths: dict[str, str]
    shifts: dict[str, tuple[tuple[int, int], ...]]
    arguments: tuple[str, ...] = ()

    def original(self, offset: int, place: str | None = None) -> int:
        """Where in the file on disk the byte at `offset` of a text is, by default the main one."""
        moved = 0
        for start, shift in self.shifts[place or self.main]:
            if start > offset:
                break
            moved = shift
        return offset - moved

    def moved(self, offset: int, place: str) -> int:
        """Where in a text the byte at `offset` of the file on disk is."""
        moved = 0
        for start, shift in self.shifts[place]:
            if start - shift > offset:
                break
            moved = shift
        return offset + moved


def lay_out(
    path: str, project: Project, sources: Mapping[str, SourceFile], known: frozenset[str]
) -> Layout:
    """The file at `path` with all that it includes; `known` are the system headers there are."""
    includes = project.includes
    layout = Layout(place(path), {}, {}, {}, tuple(_arguments(path, project)))
    for file in (path, *includes.closure(path)):
        text, moved = _rewrite(project.models[file], sources[file].data, includes, known, path)
        layout.files[place(file)] = text
        layout.paths[place(file)] = file
        layout.shifts[place(file)] = moved
    return layout


def _arguments(path: str, project: Project) -> Iterator[str]:
    for command in project.commands.of(path)[:1]:
        for name, text in command.defines:
            yield f"-U{name}" if text is None else f"-D{name}={text}"
    for file in project.includes.forced(path):
        yield from ("-include", place(file))


def place(path: str) -> str:
    """Where libclang finds the file at `path`."""
    return posixpath.join(_ROOT, path.replace("..", "%2E%2E"))


def _rewrite(
    model: FileModel, data: bytes, includes: Includes, known: frozenset[str], unit: str
) -> tuple[bytes, tuple[tuple[int, int], ...]]:
    pieces: list[bytes] = []
    shifts: list[tuple[int, int]] = []
    at = size = 0
    for include in model.includes:
        start, end = include.span.start, include.span.end
        if start < at:
            continue
        kept = data[at:start]
        target = includes.resolve(model.path, include, unit)
        text = _directive(target, include, data[start:end], known)
        pieces += (kept, text)
        size += len(kept) + len(text)
        at = end
        shifts.append((size, size - end))
    pieces.append(data[at:])
    return b"".join(pieces), tuple(shifts)


def _directive(
    target: str | None, include: Include, written: bytes, known: frozenset[str]
) -> bytes:
    if target is not None:
        return f'#include "{place(target)}"'.encode()
    if include.path in known:
        return f"#include <{include.path}>".encode()
    return b"\n" * written.count(b"\n")
