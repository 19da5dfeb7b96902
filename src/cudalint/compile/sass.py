"""Which source lines spill: read from `nvdisasm -g -c` of a cubin.

A pure function of text. The figures that a rule judges are ptxas' own; this only
says where they come from.
"""

from __future__ import annotations

import re

from cudalint.compile.model import SpillLine

_SECTION = re.compile(r"\s*\.section\s+\.text\.([\w$.]+)\s*,")
_LABEL = re.compile(r"\.text\.([\w$.]+):")
_FUNCTION = re.compile(r"\s*\.type\s+([\w$.]+)\s*,\s*@function")
_START = re.compile(r"([\w$.]+):\s*$")
_SOURCE = re.compile(r'\s*//## File "([^"]+)", line (\d+)\s*$')
_SPILL = re.compile(r"\b(STL|LDL)((?:\.\w+)*)\b.*\"SpillRefill\"")
_WIDTHS = {"64": 8, "128": 16, "U8": 1, "S8": 1, "U16": 2, "S16": 2}


def read_spill_lines(text: str) -> dict[str, tuple[SpillLine, ...]]:
    """The lines that spill, by function symbol, most bytes first.

    Paths are as in the cubin's line table. An instruction that was inlined
    belongs to the line that it is written on. A function that is not inlined
    stands in the section of its caller `k`, called `$k$symbol`.
    """
    found: dict[str, dict[tuple[str, int], list[int]]] = {}
    functions: set[str] = set()
    symbol, place = "", ("", 0)
    for line in text.splitlines():
        if match := _SECTION.match(line) or _LABEL.match(line):
            symbol, place = match[1], ("", 0)
        elif match := _FUNCTION.match(line):
            functions.add(match[1])
        elif (match := _START.match(line)) and match[1] in functions:
            symbol, place = match[1].rpartition("$")[2], ("", 0)
        elif match := _SOURCE.match(line):
            place = (match[1], int(match[2]))
        elif (match := _SPILL.search(line)) and place[1]:
            counts = found.setdefault(symbol, {}).setdefault(place, [0, 0])
            counts[match[1] == "LDL"] += _width(match[2])
    return {symbol: _ordered(lines) for symbol, lines in found.items()}


def _width(modifiers: str) -> int:
    """How many bytes an access moves: four unless a modifier says otherwise."""
    return next((_WIDTHS[word] for word in modifiers.split(".") if word in _WIDTHS), 4)


def _ordered(lines: dict[tuple[str, int], list[int]]) -> tuple[SpillLine, ...]:
    spills = [SpillLine(path, line, *counts) for (path, line), counts in lines.items()]
    return tuple(sorted(spills, key=lambda s: (-s.stores - s.loads, s.path, s.line)))
