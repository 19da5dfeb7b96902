"""Which source lines spill: read from `nvdisasm -gi -c` of a cubin.

A pure function of text. The figures that a rule judges are ptxas' own; this only
says where they come from. Newer toolkits mark the spills of most functions; else
they are told from local arrays by where they lie in the frame.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from cudalint.compile.model import SpillLine
from cudalint.regex import regex

_SECTION = regex(r"\s*\.section\s+\.text\.([\w$.]+)\s*,")
_LABEL = regex(r"\.text\.([\w$.]+):")
_FUNCTION = regex(r"\s*\.type\s+([\w$.]+)\s*,\s*@function")
_START = regex(r"([\w$.]+):\s*$")
_SOURCE = regex(r'\s*//## File "([^"]+)", line (\d{1,9})(?: inlined at .*)?\s*$')
_MARK = '"SpillRefill"'
_LOCAL = regex(r"\b(STL|LDL)((?:\.\w+)*)\b(.*)")
_IN_FRAME = regex(r"\[R1(?:\+0x([0-9a-f]{1,8}))?\]")
_WIDTHS = {"64": 8, "128": 16, "U8": 1, "S8": 1, "U16": 2, "S16": 2}

Place = tuple[str, int]
Counts = dict[Place, list[int]]


def read_spill_lines(
    text: str,
    local_arrays: Mapping[str, int] | None = None,
    is_ours: Callable[[str], bool] = lambda path: True,
) -> dict[str, tuple[SpillLine, ...]]:
    """The lines that spill, by function symbol, most bytes first.

    Paths are as in the cubin's line table. An instruction that was inlined
    belongs to the line that it is written on, or, if that is in a file which
    `is_ours` denies, to the innermost call of it that is ours. A function that is
    not inlined stands in the section of its caller `k`, called `$k$symbol`.
    `local_arrays` are the bytes of local arrays by symbol, which lie at the
    bottom of a frame. In a function of which nothing is marked all that lies above
    counts as spilled: the saved registers of its caller, and what no toolkit before
    13.5 marks. Whether it spills at all is ptxas' to say.
    """
    reader = _Reader(local_arrays or {}, is_ours)
    for line in text.splitlines():
        reader.read(line)
    found = reader.in_frame | reader.marked
    return {symbol: _ordered(lines) for symbol, lines in found.items()}


class _Reader:
    """Reads line by line; `places` are where the next instruction is from, innermost first."""

    def __init__(self, local_arrays: Mapping[str, int], is_ours: Callable[[str], bool]) -> None:
        self.local_arrays = local_arrays
        self.is_ours = is_ours
        self.marked: dict[str, Counts] = {}
        self.in_frame: dict[str, Counts] = {}
        self.functions: set[str] = set()
        self.symbol = ""
        self.places: list[Place] = []
        self.is_between = False
        """Whether lines of places come in, which belong together."""

    def read(self, line: str) -> None:
        if match := _SOURCE.match(line):
            if not self.is_between:
                self.places = []
            self.places.append((match[1], int(match[2])))
            self.is_between = True
            return
        self.is_between = False
        if match := _SECTION.match(line) or _LABEL.match(line):
            self.enter(match[1])
        elif match := _FUNCTION.match(line):
            self.functions.add(match[1])
        elif (match := _START.match(line)) and match[1] in self.functions:
            self.enter(match[1].rpartition("$")[2])
        elif (match := _LOCAL.search(line)) and self.places:
            self.count(match)

    def enter(self, symbol: str) -> None:
        self.symbol = symbol
        self.places = []

    def place(self) -> Place:
        ours = (place for place in self.places if self.is_ours(place[0]))
        return next(ours, self.places[0])

    def count(self, access: re.Match[str]) -> None:
        """Count an access of local memory, unless it is one of an array."""
        if _MARK in access[3]:
            found = self.marked
        elif self.is_above_arrays(access[3]):
            found = self.in_frame
        else:
            return
        counts = found.setdefault(self.symbol, {}).setdefault(self.place(), [0, 0])
        counts[access[1] == "LDL"] += _width(access[2])

    def is_above_arrays(self, operands: str) -> bool:
        address = _IN_FRAME.search(operands)
        if address is None:
            return False
        return int(address[1] or "0", 16) >= self.local_arrays.get(self.symbol, 0)


def _width(modifiers: str) -> int:
    """How many bytes an access moves: four unless a modifier says otherwise."""
    return next((_WIDTHS[word] for word in modifiers.split(".") if word in _WIDTHS), 4)


def _ordered(lines: Counts) -> tuple[SpillLine, ...]:
    spills = [SpillLine(path, line, *counts) for (path, line), counts in lines.items()]
    return tuple(sorted(spills, key=lambda s: (-s.stores - s.loads, s.path, s.line)))
