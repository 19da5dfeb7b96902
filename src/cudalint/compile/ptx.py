"""What the PTX between nvcc's front end and ptxas tells: launch bounds, local arrays, lines.

A pure function of text. ptxas' own words are read by `cudalint.compile.ptxas`.
"""

from __future__ import annotations

import re
from bisect import bisect_right

import msgspec

from cudalint.regex import regex

_ENTRY = regex(
    r"^[ \t]*(?:\.visible |\.weak )?\.entry\s+([\w$.]+)\s*(?:\([^()]*\))?([^{;]*)[{;]",
    re.MULTILINE,
)
_SIZE = r"([0-9]{1,5})\b"
"""A size that can be true: no block has more than five digits of threads."""

_MAX_THREADS = regex(rf"\.(?:maxntid|reqntid)\s+{_SIZE}(?:\s*,\s*{_SIZE})?(?:\s*,\s*{_SIZE})?")
_MIN_BLOCKS = regex(rf"\.minnctapersm\s+{_SIZE}")
_FUNCTION = regex(
    r"^[ \t]*(?:\.(?:visible|weak|extern) )?\.(?:entry|func)\s*(?:\([^()]*\)\s*)?([\w$.]+)"
    r"|^[ \t]*\.local\s+(?:\.align\s+\d+\s+)?\.b8\s+[\w$.]+\[([0-9]{1,9})\]",
    re.MULTILINE,
)
_LOC = regex(r"^\s*\.loc\s+([0-9]{1,9})\s+([0-9]{1,9})\s+([0-9]{1,9})\b")
_DOTTED = regex(r"(?<![\w%.$])[a-z]\w*(?:(?:\.|::)\w+)+")
_FILE = regex(r'^\s*\.file\s+([0-9]{1,9})\s+"([^"]*)"', re.MULTILINE)


class EntryBounds(msgspec.Struct, frozen=True):
    """The launch bounds of one entry; None for what it does not say."""

    max_threads: int | None
    min_blocks: int | None


class SourceLine(msgspec.Struct, frozen=True):
    """A place in a source file as the PTX names it; 1-based."""

    path: str
    line: int
    column: int


def read_bounds(text: str) -> dict[str, EntryBounds]:
    """The launch bounds of every entry, by symbol."""
    found: dict[str, EntryBounds] = {}
    for match in _ENTRY.finditer(text):
        threads = _MAX_THREADS.search(match.group(2))
        blocks = _MIN_BLOCKS.search(match.group(2))
        count = None
        if threads:
            x, y, z = (int(size or 1) for size in threads.groups())
            count = x * y * z
        found[match.group(1)] = EntryBounds(count, int(blocks.group(1)) if blocks else None)
    return found


def read_local_arrays(text: str) -> dict[str, int]:
    """The bytes of local arrays that each function declares, by symbol; none are left out."""
    found: dict[str, int] = {}
    symbol = ""
    for match in _FUNCTION.finditer(text):
        if match[1]:
            symbol = match[1]
        elif symbol:
            found[symbol] = found.get(symbol, 0) + int(match[2])
    return found


class LineTable:
    """Maps lines of a PTX text to the source lines that they come from."""

    def __init__(self, text: str) -> None:
        self._files = {int(number): path for number, path in _FILE.findall(text)}
        self._at: list[int] = []
        self._places: list[tuple[int, int, int]] = []
        self._lines = text.split("\n")
        for number, line in enumerate(self._lines, 1):
            if match := _LOC.match(line):
                file, row, column = (int(group) for group in match.groups())
                self._at.append(number)
                self._places.append((file, row, column))
            elif line.startswith("}"):
                self._at.append(number + 1)
                self._places.append((0, 0, 0))

    def source(self, line: int) -> SourceLine | None:
        """The source of the PTX's `line`; None outside functions or with no line information."""
        index = bisect_right(self._at, line) - 1
        if index < 0:
            return None
        file, row, column = self._places[index]
        path = self._files.get(file)
        if path is None or row == 0:
            return None
        return SourceLine(path, row, column)

    def opcode(self, line: int) -> str:
        """The longest dotted word of the PTX's `line`, such as `cvt.rn.satfinite.e2m1x2.f32`."""
        text = self._lines[line - 1] if 0 < line <= len(self._lines) else ""
        return max(_DOTTED.findall(text), key=len, default="")
