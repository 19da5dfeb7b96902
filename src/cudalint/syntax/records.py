"""Model records out of raw ones: text read, names cut out, spans made."""

from __future__ import annotations

import re

from cudalint.finding import Span
from cudalint.regex import regex
from cudalint.syntax.brackets import split_arguments
from cudalint.syntax.effort import spend
from cudalint.syntax.known import known
from cudalint.syntax.model import (
    Argument,
    Call,
    Launch,
    SharedDeclaration,
    normal,
    read_arguments,
)
from cudalint.syntax.raw import Range, RawCall, RawShared

_SIMPLE = regex(rb"\s*([A-Za-z_]\w*)\s*")
_BYTES_A_UNIT = 16
"""Of text that is copied into a record."""
_CALL_UNITS = 60
_LAUNCH_UNITS = 400
"""What a call takes, and a launch with the findings that it may become."""

_WRAPPED = regex(rb"\s*\(\s*&?\s*(?:::\s*)?([A-Za-z_]\w*)\s*\)\s*")
_LAST_NAME = regex(rb"(~?[A-Za-z_]\w*)\s*\Z")
_AFTER_RECEIVER = regex(rb"(?:\.|->)\s*(?:template\s+)?(?:[A-Za-z_]\w*\s*::\s*)*\Z", re.DOTALL)
_LONG_CALLEE = 200
"""What is longer is not kept to be looked up again."""
_WINDOW = 400
"""In so many bytes before its end is what matters of a callee."""


def split_callee(callee: bytes) -> tuple[Range | None, str]:
    """The range of the last identifier in `callee`, and the receiver before it.

    Template arguments at the end are skipped, and parentheses around a plain name,
    as in `(f)(x)` and `(&f)(x)`. None when no identifier is last.
    """
    simple = _SIMPLE.fullmatch(callee)
    if simple is not None:
        return simple.span(1), ""
    wrapped = _WRAPPED.fullmatch(callee)
    if wrapped is not None:
        return wrapped.span(1), ""
    end = len(callee.rstrip())
    if callee[:end].endswith(b">"):
        end = _template_open(callee, end)
    match = _at_end(_LAST_NAME, callee, end)
    if match is None:
        return None, ""
    after = _at_end(_AFTER_RECEIVER, callee, match.start())
    return match.span(1), "" if after is None else normal(callee[: after.start()])


def _at_end(pattern: re.Pattern[bytes], text: bytes, end: int) -> re.Match[bytes] | None:
    """The longest match of `pattern` that ends at `end`, but for one of hundreds of bytes."""
    low = max(0, end - _WINDOW)
    match = pattern.search(text, low, end)
    if low and match is not None and match.start() == low:
        return pattern.search(text, 0, end)
    return match


def call_record(path: str, code: bytes, raw: RawCall, function: int, via_macro: str = "") -> Call:
    """A `Call` with its texts from `code`."""
    start, end = raw.span
    written = code[start : raw.open_at]
    read = _callee_read if len(written) < _LONG_CALLEE else _read_callee
    callee, name, receiver, low, high = read(written)
    spend(_CALL_UNITS + (end - start) // _BYTES_A_UNIT)
    return Call(
        Span(path, start, end),
        Span(path, start + low, start + high),
        Span(path, *raw.statement),
        callee,
        name,
        receiver,
        code[raw.open_at + 1 : end - 1],
        raw.open_at + 1,
        function,
        raw.whole,
        via_macro,
    )


def _read_callee(written: bytes) -> tuple[str, str, str, int, int]:
    """The callee as it reads, its name, its receiver, and where the name stands in it."""
    callee = written.decode("utf-8", "replace")
    if callee.isidentifier() and callee.isascii():
        return callee, callee, "", 0, len(written)
    callee = normal(written)
    name_range, receiver = split_callee(written)
    if name_range is None:
        return callee, "", receiver, 0, len(written)
    low, high = name_range
    return callee, written[low:high].decode("utf-8", "replace"), receiver, low, high


# What is called in a tree is called in many places.
_callee_read = known(8192)(_read_callee)


def launch_record(
    path: str, code: bytes, raw: RawCall, function: int, via_macro: str = ""
) -> Launch:
    """A `Launch` with its texts from `code`; `raw.configuration` is there."""
    start, end = raw.span
    spend(_LAUNCH_UNITS + (end - start) // _BYTES_A_UNIT)
    low, high = raw.configuration or (raw.open_at, raw.open_at)
    kernel = code[start:low]
    name_range, _ = split_callee(kernel)
    name_low, name_high = name_range or (0, len(kernel.rstrip()))
    return Launch(
        span=Span(path, start, end),
        name_span=Span(path, start + name_low, start + name_high),
        statement=Span(path, *raw.statement),
        kernel=normal(kernel),
        name=normal(kernel[name_low:name_high]) if name_range else "",
        configuration=read_arguments(path, code[low + 3 : high - 3], low + 3)
        if raw.written is None
        else tuple(
            Argument(Span(path, low, high), normal(raw.written[s:e]))
            for s, e in split_arguments(raw.written)
        ),
        arguments=read_arguments(path, code[raw.open_at + 1 : end - 1], raw.open_at + 1),
        function=function,
        via_macro=via_macro,
    )


def shared_record(
    path: str, code: bytes, raw: RawShared, function: int, via_macro: str = ""
) -> SharedDeclaration:
    """A `SharedDeclaration`."""
    return SharedDeclaration(
        span=Span(path, *raw.span),
        name_span=Span(path, *raw.name_range),
        statement=Span(path, *raw.statement),
        name=normal(code[slice(*raw.name_range)]),
        type=raw.type,
        kind=raw.kind,  # type: ignore[arg-type]
        dimensions=raw.dimensions,
        initializer=raw.initializer,
        function=function,
        via_macro=via_macro,
    )


def _template_open(text: bytes, end: int) -> int:
    """Where the `<` of the template arguments that end at `end` stands; `end` if none."""
    depth = round_depth = 0
    for at in range(end - 1, -1, -1):
        char = text[at]
        if char in b")]}":
            round_depth += 1
        elif char in b"([{":
            round_depth -= 1
        elif round_depth == 0 and char == 0x3E and text[at - 1 : at] != b"-":
            depth += 1
        elif round_depth == 0 and char == 0x3C:
            depth -= 1
            if depth == 0:
                return at
    return end
