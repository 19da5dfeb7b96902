"""Reading the output of `ptxas -v`: figures for each function, and what ptxas complains of.

A pure function of text. Lines that are not ptxas' are passed over, whatever they
hold; those of nvcc's front end are read by `cudalint.compile.frontend`.
"""

from __future__ import annotations

import re
from typing import Literal

import msgspec

from cudalint.compile.demangle import demangle
from cudalint.compile.model import Diagnostic, FunctionResources
from cudalint.regex import regex

_FIGURE = "([0-9]{1,9})"
"""A figure that can be true: what is longer is none of ptxas'."""

_ENTRY = regex(r"Compiling entry function '([^']+)' for '([^']+)'")
_PROPERTIES = regex(r"Function properties for '?([^\s']+)'?")
_STACK = regex(
    rf"\b{_FIGURE} bytes stack frame, {_FIGURE} bytes spill stores, {_FIGURE} bytes spill loads"
)
_USED = regex(rf"Used {_FIGURE} registers(.*)")
_BARRIERS = regex(rf"used {_FIGURE} barriers")
_SHARED = regex(rf"\b{_FIGURE}(?:\+{_FIGURE})? bytes smem")
_CONSTANT = regex(rf"\b{_FIGURE}(?:\+{_FIGURE})? bytes cmem\[[0-9]+\]")
_SAID = regex(
    r"ptxas\s+(?:(?P<path>\S.*?), line (?P<line>[0-9]{1,9}); )?"
    r"(?P<kind>error|warning|fatal|info)\s*: (?P<text>.*)"
)
_NUMBER = regex(r"\((C\d+)\)\s*")
_FUNCTION = regex(
    r"(?:for entry(?: function)?|entry function|for function|in (?:the )?function|extern function)"
    r" '?([A-Za-z_$][\w$]*)'?",
    re.IGNORECASE,
)
_LONGEST_TEXT = 1000


class PtxasOutput(msgspec.Struct, frozen=True):
    """What one text of ptxas said, in its own order.

    A diagnostic's `path` and `line` are those of the PTX, "" and 0 when ptxas
    gave none.
    """

    functions: tuple[FunctionResources, ...]
    diagnostics: tuple[Diagnostic, ...]


class _Figures:
    """The figures of one function while its lines come in."""

    def __init__(self, symbol: str, arch: str, entry: bool) -> None:
        self.symbol = symbol
        self.arch = arch
        self.entry = entry
        self.stack: tuple[int, int, int] | None = None
        self.registers: int | None = None
        self.barriers: int | None = None
        self.shared: int | None = None
        self.constant: int | None = None

    def use(self, registers: str, rest: str) -> None:
        """Take a `Used N registers, …` line; what it leaves out is none of it."""
        self.registers = int(registers)
        barriers = _BARRIERS.search(rest)
        self.barriers = int(barriers.group(1)) if barriers else 0
        self.shared = _bytes(_SHARED, rest)
        self.constant = _bytes(_CONSTANT, rest)

    def resources(self) -> FunctionResources | None:
        """The finished record; None while ptxas has not told the stack frame."""
        if self.stack is None:
            return None
        name = demangle(self.symbol)
        return FunctionResources(
            symbol=self.symbol,
            name=name.text,
            arch=self.arch,
            entry=self.entry,
            stack=self.stack[0],
            spill_stores=self.stack[1],
            spill_loads=self.stack[2],
            registers=self.registers,
            barriers=self.barriers,
            shared=self.shared,
            constant=self.constant,
            arity=name.arity,
        )


def _bytes(pattern: re.Pattern[str], text: str) -> int:
    return sum(int(first) + int(second or 0) for first, second in pattern.findall(text))


class _Reader:
    """Reads line by line; `current` is the function whose properties come next."""

    def __init__(self, arch: str) -> None:
        self.arch = arch
        self.functions: dict[tuple[str, str], _Figures] = {}
        self.entries: list[_Figures] = []
        self.current: _Figures | None = None
        self.diagnostics: list[Diagnostic] = []

    def read(self, line: str) -> None:
        if "ptxas " not in line and "bytes stack frame" not in line:
            return
        if match := _ENTRY.search(line):
            self.arch = match.group(2)
            self.current = self.figures(match.group(1), entry=True)
            self.entries.append(self.current)
        elif match := _PROPERTIES.search(line):
            self.current = self.figures(match.group(1), entry=False)
        elif match := _STACK.search(line):
            if self.current is not None and self.current.stack is None:
                stack, stores, loads = match.groups()
                self.current.stack = (int(stack), int(stores), int(loads))
        elif match := _USED.search(line):
            if (owner := self.register_owner()) is not None:
                owner.use(*match.groups())
        elif match := _SAID.match(line.strip()):
            self.say(match)

    def figures(self, symbol: str, entry: bool) -> _Figures:
        """The record of a symbol on the arch at hand, made at its first mention."""
        key = (symbol, self.arch)
        if key not in self.functions:
            self.functions[key] = _Figures(symbol, self.arch, entry)
        return self.functions[key]

    def register_owner(self) -> _Figures | None:
        """Whose `Used …` line it is: ptxas may tell a callee's frame before its entry's use."""
        if self.current is not None and self.current.entry and self.current.registers is None:
            return self.current
        for entry in reversed(self.entries):
            if entry.registers is None:
                return entry
        if self.current is not None and self.current.registers is None:
            return self.current
        return None

    def say(self, match: re.Match[str]) -> None:
        text = match["text"].strip()[:_LONGEST_TEXT]
        number = _NUMBER.match(text)
        if match["kind"] == "info" and number is None:
            return
        severity: Literal["error", "warning"] = (
            "error" if match["kind"] in ("error", "fatal") else "warning"
        )
        function = _FUNCTION.search(text)
        self.diagnostics.append(
            Diagnostic(
                severity=severity,
                text=text[number.end() :] if number else text,
                path=match["path"] or "",
                line=int(match["line"] or 0),
                column=0,
                function=function.group(1) if function else "",
                number=number.group(1) if number else "",
            )
        )


def read_ptxas(text: str, arch: str = "") -> PtxasOutput:
    """Read everything that ptxas printed with `-v`, for one arch or for several.

    `arch` is that of functions which come before any `Compiling entry function`
    line. A function whose stack frame is never told is left out.
    """
    reader = _Reader(arch)
    for line in text.splitlines():
        reader.read(line)
    records = (figures.resources() for figures in reader.functions.values())
    return PtxasOutput(
        functions=tuple(record for record in records if record is not None),
        diagnostics=tuple(reader.diagnostics),
    )
