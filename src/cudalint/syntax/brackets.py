"""Matching brackets and splitting at top-level commas, in bytes.

Works on text whose comments and literals are blanked, whole or in part. Angle
brackets are no brackets here, save where a function says so.
"""

from __future__ import annotations

from array import array
from itertools import accumulate

from cudalint.regex import regex
from cudalint.syntax.effort import MAX_DEPTH, TooComplexError, spend
from cudalint.syntax.known import known

_CODE = regex(rb"\S")
_BRACKET = regex(rb"[()\[\]{}]")
_SPLITTER = regex(rb"[()\[\]{}<>,]")
_ANGLE_OR_END = regex(rb"[<>()\[\]{};]|&&|\|\|")
_OPEN = {ord("("): ord(")"), ord("["): ord("]"), ord("{"): ord("}")}
_CLOSERS = b")]}"
_NO_BRACKETS = bytes(set(range(256)) - set(b"()[]{}"))
_CHANGES = bytes.maketrans(b"([{)]}", b"\x01\x01\x01\xff\xff\xff")
_LONG = 200
"""What is longer is not kept to be looked up again."""
_TEMPLATE_NAME = regex(rb"[A-Za-z_]\w*\s*$")


def after_space(text: bytes | bytearray, at: int) -> int:
    """The first offset at or after `at` that holds no white space."""
    match = _CODE.search(text, at)
    return len(text) if match is None else match.start()


def close_of(text: bytes | bytearray, open_at: int, limit: int | None = None) -> int:
    """The offset of the bracket that closes the one at `open_at`, or −1.

    Brackets of other kinds in between must match too; the search ends at `limit`.
    """
    wanted: list[int] = []
    at, close = open_at, -1
    for match in _BRACKET.finditer(text, open_at, len(text) if limit is None else limit):
        at = match.start()
        char = text[at]
        if char in _OPEN:
            wanted.append(_OPEN[char])
        elif not wanted or wanted.pop() != char:
            break
        if not wanted:
            close = at
            break
    spend(at - open_at)
    return close


def balanced(text: bytes, start: int, end: int) -> bool:
    """Whether the brackets in `text[start:end]` match among themselves."""
    spend(end - start)
    wanted: list[int] = []
    for match in _BRACKET.finditer(text, start, end):
        char = text[match.start()]
        if char in _OPEN:
            wanted.append(_OPEN[char])
        elif not wanted or wanted.pop() != char:
            return False
    return not wanted


def split_arguments(text: bytes) -> list[tuple[int, int]]:
    """The ranges between top-level commas, white space stripped; none for blank text.

    Commas inside brackets, and inside template argument lists (a `<` after a
    name whose `>` comes before the next comma-level bracket closes), don't split.
    """
    if b"," not in text:
        start, end = _strip(text, 0, len(text))
        return [(start, end)] if start < end else []
    spend(len(text) >> 1)
    return list((_split_before if len(text) < _LONG else _split)(text))


def _split(text: bytes) -> tuple[tuple[int, int], ...]:
    ranges = []
    start = 0
    for comma in (*_top_level_commas(text), len(text)):
        ranges.append(_strip(text, start, comma))
        start = comma + 1
    return tuple(ranges) if len(ranges) > 1 or ranges[0][0] < ranges[0][1] else ()


# Rules ask for the arguments of a call again and again, each for its own ends.
_split_before = known(4096)(_split)


def _top_level_commas(text: bytes) -> list[int]:
    commas: list[int] = []
    depth = 0
    template_end = -1
    for match in _SPLITTER.finditer(text):
        at = match.start()
        if at < template_end:
            continue
        char = text[at]
        if char in _OPEN:
            depth += 1
        elif char in _CLOSERS:
            depth -= 1
        elif char == ord("<"):
            if depth == 0:
                template_end = max(template_end, template_close(text, at))
        elif char == ord(",") and depth <= 0:
            commas.append(at)
    return commas


def template_close(text: bytes, open_at: int) -> int:
    """The offset after the `>` of the template argument list at `open_at`, or −1.

    −1 also when the `<` is a comparison or a shift: no name before it, or no
    matching `>` before a bracket closes, a `;`, `&&` or `||`.
    """
    if not _TEMPLATE_NAME.search(text, max(0, open_at - 80), open_at):
        return -1
    depth = round_depth = 0
    close = -1
    at = open_at
    for match in _ANGLE_OR_END.finditer(text, open_at, open_at + 2000):
        at = match.start()
        char = text[at]
        if char in _OPEN:
            round_depth += 1
        elif char in _CLOSERS:
            round_depth -= 1
            if round_depth < 0:
                break
        elif char in b";&|":
            break
        elif round_depth == 0:
            if char == 0x3C:  # <
                depth += 1
            elif text[at - 1] != 0x2D:  # no ->
                depth -= 1
                if depth == 0:
                    close = at + 1
                    break
    spend((at - open_at) >> 1)
    return close


def deepest(text: bytes | bytearray) -> int:
    """How many brackets of `text` are open at once at most."""
    changes = array("b", text.translate(_CHANGES, _NO_BRACKETS))
    return max(accumulate(changes), default=0)


def refuse_depth(text: bytes | bytearray) -> None:
    """Raise TooComplexError for text whose brackets are nested too deep to go on with."""
    if sum(map(text.count, b"([{")) > MAX_DEPTH and deepest(text) > MAX_DEPTH:
        raise TooComplexError(f"brackets nested more than {MAX_DEPTH} deep")


def _strip(text: bytes, start: int, end: int) -> tuple[int, int]:
    piece = text[start:end].lstrip()
    start = end - len(piece)
    return start, start + len(piece.rstrip())
