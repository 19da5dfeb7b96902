"""From where a tool says something is to a place in the project.

Paths become relative to the project root; a column is worked out from the line
that nvcc's front end repeats, which has macros expanded and comments blanked.
What was said is read by `cudalint.compile.frontend` and `cudalint.compile.ptxas`.
"""

from __future__ import annotations

import posixpath
from pathlib import Path

import msgspec

from cudalint.compile.frontend import Complaint, Place
from cudalint.compile.model import Diagnostic
from cudalint.compile.ptx import LineTable
from cudalint.regex import regex

_WORD = regex(r"\w+|\S")


def relative_path(path: str, root: Path) -> str:
    """`path` relative to `root`, POSIX; "" for one that lies outside or is relative."""
    if not posixpath.isabs(path):
        return ""
    inside = posixpath.relpath(posixpath.normpath(path), root)
    return "" if inside == ".." or inside.startswith("../") else inside


class Placer:
    """Places what was said of one compile; source lines are read once, and only when needed."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._lines: dict[str, list[bytes]] = {}

    def complaint(self, complaint: Complaint) -> Diagnostic:
        """A message of nvcc or the host compiler as a diagnostic.

        One about a file outside the project is placed where the project
        instantiates what it complains of, if it says so.
        """
        first, *others = [Place(complaint.path, complaint.line), *complaint.context]
        path, line, column, text = relative_path(first.path, self._root), first.line, 0, ""
        if path:
            column = self._column(path, complaint)
        elif complaint.path:
            text = f" (in {posixpath.basename(complaint.path)}, line {complaint.line})"
            places = ((relative_path(place.path, self._root), place.line) for place in others)
            path, line = next(((inside, at) for inside, at in places if inside), ("", 0))
        return Diagnostic(
            severity=complaint.severity,
            text=complaint.text + text,
            path=path,
            line=line if path else 0,
            column=column,
            number=complaint.number,
        )

    def ptxas(self, diagnostic: Diagnostic, lines: LineTable) -> Diagnostic:
        """A message of ptxas about a line of PTX, moved to the source of that line."""
        source = lines.source(diagnostic.line) if diagnostic.line else None
        path = relative_path(source.path, self._root) if source else ""
        line, column = (source.line, source.column) if source and path else (0, 0)
        if line:
            line, column = self._written(path, lines.opcode(diagnostic.line)) or (line, column)
        return msgspec.structs.replace(diagnostic, path=path, line=line, column=column)

    def _written(self, path: str, opcode: str) -> tuple[int, int] | None:
        """Where the only line of a source that spells out an instruction has it.

        Inline assembly that is not volatile is moved to where its result is
        used, and the line table with it.
        """
        word = opcode.encode()
        found = [
            (at, line.find(word)) for at, line in enumerate(self._all(path), 1) if word in line
        ]
        if not opcode or len(found) != 1:
            return None
        return found[0][0], found[0][1] + 1

    def _column(self, path: str, complaint: Complaint) -> int:
        """The 1-based byte column of a complaint in its line on disk, 0 when unsure."""
        line = self._line(path, complaint.line)
        if complaint.column:
            return complaint.column if complaint.column <= len(line) else 0
        if not 0 <= complaint.caret < len(complaint.echo):
            return 0
        word = _WORD.match(complaint.echo, complaint.caret)
        if word is None:
            return 0
        echoed = [m.start() for m in _WORD.finditer(complaint.echo) if m[0] == word[0]]
        text = line.decode("utf-8", "surrogateescape")
        written = [m.start() for m in _WORD.finditer(text) if m[0] == word[0]]
        if len(echoed) != len(written) or word.start() not in echoed:
            return 0
        before = text[: written[echoed.index(word.start())]]
        return len(before.encode("utf-8", "surrogateescape")) + 1

    def _line(self, path: str, line: int) -> bytes:
        lines = self._all(path)
        return lines[line - 1] if 0 < line <= len(lines) else b""

    def _all(self, path: str) -> list[bytes]:
        """The lines of a file; none of one that can't be read."""
        if path not in self._lines:
            try:
                self._lines[path] = (self._root / path).read_bytes().split(b"\n")
            except OSError:
                self._lines[path] = []
        return self._lines[path]
