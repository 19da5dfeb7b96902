"""Model records out of raw ones: text read, names cut out, spans made."""

from __future__ import annotations

import re

from cudalint.finding import Span
from cudalint.syntax.brackets import split_arguments
from cudalint.syntax.model import (
    Argument,
    Call,
    Launch,
    SharedDeclaration,
    normal,
    read_arguments,
)
from cudalint.syntax.raw import Range, RawCall, RawShared

_SIMPLE = re.compile(rb"\s*([A-Za-z_]\w*)\s*")
_WRAPPED = re.compile(rb"\s*\(\s*&?\s*(?:::\s*)?([A-Za-z_]\w*)\s*\)\s*")
_LAST_NAME = re.compile(rb"(~?[A-Za-z_]\w*)\s*$")
_RECEIVER = re.compile(
    rb"(.*?)\s*(?:\.|->)\s*(?:template\s+)?(?:[A-Za-z_]\w*\s*::\s*)*$", re.DOTALL
)


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
    match = _LAST_NAME.search(callee, 0, end)
    if match is None:
        return None, ""
    receiver = _RECEIVER.fullmatch(callee, 0, match.start())
    return match.span(1), "" if receiver is None else normal(receiver.group(1))


def call_record(path: str, code: bytes, raw: RawCall, function: int, via_macro: str = "") -> Call:
    """A `Call` with its texts from `code`."""
    start, end = raw.span
    callee = code[start : raw.open_at]
    name_range, receiver = split_callee(callee)
    if name_range is None:
        name, low, high = "", start, raw.open_at
    else:
        low, high = start + name_range[0], start + name_range[1]
        name = code[low:high].decode("utf-8", "replace")
    return Call(
        span=Span(path, start, end),
        name_span=Span(path, low, high),
        statement=Span(path, *raw.statement),
        callee=name if name_range == (0, len(callee)) else normal(callee),
        name=name,
        receiver=receiver,
        argument_text=code[raw.open_at + 1 : end - 1],
        arguments_at=raw.open_at + 1,
        function=function,
        expression_statement=raw.whole,
        via_macro=via_macro,
    )


def launch_record(
    path: str, code: bytes, raw: RawCall, function: int, via_macro: str = ""
) -> Launch:
    """A `Launch` with its texts from `code`; `raw.configuration` is there."""
    start, end = raw.span
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
