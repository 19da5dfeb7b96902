"""Macros that are given statements: `SWITCH(type, T, run<T>(x); check();)`.

The grammar takes arguments for expressions. Statements among them become a block
behind the use, `SWITCH(type, T);{run<T>(x); check();}`, at equal length; where
there is no room for that, the block alone.
"""

from __future__ import annotations

import re
from itertools import pairwise

from cudalint.regex import regex
from cudalint.syntax.attributes import blank
from cudalint.syntax.brackets import after_space, close_of, split_arguments

_USE = regex(rb"\w*[ \t\n]*\(")
_CONFIGURATION = regex(rb"<<<.*?>>>", re.DOTALL)
_CONTROL = regex(rb"(?:if|for|while|switch|do|try)\b")
_DECLARES = regex(rb"(?:const|constexpr|static|auto|unsigned|int|size_t|float|bool|dim3)\s+\w")
_STOP = regex(rb"[;(\[{]")

Range = tuple[int, int]


def open_blocks(bare: bytes | bytearray, parse: bytearray, shouted: list[Range]) -> None:
    """Make blocks of the statements that macros, which are `shouted`, are given, in `parse`."""
    if b";" not in bare:
        return
    opened: set[int] = set()
    # The inner ones first: a use with a block in it is a statement of the outer one.
    for start, end in reversed(shouted):
        match = _USE.match(bare, end)
        if match is None:
            continue
        open_at = match.end() - 1
        close = close_of(bare, open_at)
        if close < 0 or bare.find(b";", open_at, close) < 0:
            continue
        pieces = [(open_at + 1 + s, open_at + 1 + e) for s, e in _pieces(bare, open_at, close)]
        first = next((i for i, piece in enumerate(pieces) if _states(bare, *piece, opened)), -1)
        if first < 0:
            continue
        while first > 0 and _is_cut(bare, *pieces[first - 1]):
            first -= 1
        opened.add(open_at)
        _make_block(bare, parse, (start, open_at, close), pieces[first:])


def _pieces(bare: bytes | bytearray, open_at: int, close: int) -> list[Range]:
    """The arguments of a use; the commas of a launch's configuration are none of theirs."""
    text = bytes(bare[open_at + 1 : close])
    return split_arguments(_CONFIGURATION.sub(lambda m: b"_" * len(m.group()), text))


def _states(bare: bytes | bytearray, start: int, end: int, opened: set[int]) -> bool:
    """Whether an argument holds a statement that no bracket is around, or is a block.

    `opened` are the parentheses of uses that have become blocks.
    """
    if bare[start : start + 1] == b"{" or _CONTROL.match(bare, start):
        return bare.find(b";", start, end) >= 0
    at = start
    while match := _STOP.search(bare, at, end):
        if match.group() == b";" or match.start() in opened:
            return True
        at = close_of(bare, match.start(), end) + 1
        if at == 0:
            return False
    return False


def _is_cut(bare: bytes | bytearray, start: int, end: int) -> bool:
    """Whether a comma of its own ended an argument: in an open `<`, or between declarators."""
    if _DECLARES.match(bare, start):
        return True
    text = bare[start:end].replace(b"->", b"")
    return text.count(b"<") > text.count(b">")


def _make_block(
    bare: bytes | bytearray, parse: bytearray, use: tuple[int, int, int], pieces: list[Range]
) -> None:
    start, open_at, close = use
    comma = bare.rfind(b",", open_at, pieces[0][0])
    if comma >= 0 and pieces[0][0] - comma >= 3:
        parse[comma : comma + 3] = b");{"
    else:
        blank(parse, start, pieces[0][0])
        parse[max(pieces[0][0] - 1, start)] = ord("{")
    parse[close] = ord("}")
    for (_, end), (following, _) in pairwise(pieces):
        if bare[end - 1 : end] == b";" or (
            bare[end - 1 : end] == b"}" and bare[following : following + 1] == b"{"
        ):
            comma = after_space(bare, end)
            parse[comma] = ord(" ")
