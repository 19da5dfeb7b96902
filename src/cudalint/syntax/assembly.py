"""Inline assembly: `asm` statements, found in text without a grammar.

What stands in their string literals is joined as the compiler joins it. What
the instructions mean is nobody's business here.
"""

from __future__ import annotations

import re

import msgspec

from cudalint.finding import Span
from cudalint.regex import regex
from cudalint.syntax.brackets import after_space, close_of
from cudalint.syntax.macros import substitute
from cudalint.syntax.model import Assembly, normal

_ASM = regex(
    rb"(?P<word>asm(?:(?<!\wasm)|(?<=\b__asm))(?:__)?)\b\s*"
    rb"(?:(?:__)?(?:volatile|inline|goto)(?:__)?\s*)*\("
)
_LITERAL = regex(
    rb'R"([^()\\\s]{0,16})\((?P<raw>.*?)\)\1"|"(?P<plain>(?:\\.|[^"\\])*)"|#\s*(?P<name>\w+)',
    re.DOTALL,
)
_LINE_COMMENT = regex(r"//[^\n]*")
_BLOCK_COMMENT = regex(r"/\*.*?\*/", re.DOTALL)
_ESCAPES = {rb"\n": b"\n", rb"\t": b"\t", rb"\r": b"\n", rb"\"": b'"', rb"\\": b"\\"}
_ESCAPE = regex(rb"\\(?:\r?\n|.)", re.DOTALL)


class FoundAsm(msgspec.Struct, frozen=True, gc=False):
    """An `asm` statement's offsets, its template, and what follows the template's colon.

    `template` still has line ends, and `#name` of a macro's body as `\\0name\\0`.
    """

    start: int
    name: tuple[int, int]
    end: int
    template: bytes
    operands: bytes


def asm_statements(code: bytes, bare: bytes) -> list[FoundAsm]:
    """The `asm` statements in `bare`; `code` is the same text with its literals."""
    if b"asm" not in bare:
        return []
    found = []
    for match in _ASM.finditer(bare):
        open_at = match.end() - 1
        close = close_of(bare, open_at)
        if close < 0:
            continue
        start = match.start()
        if bare[start - 2 : start] == b"__":
            start -= 2
        colon = _colon(bare, open_at + 1, close)
        end = after_space(bare, close + 1)
        end = end + 1 if bare[end : end + 1] == b";" else close + 1
        found.append(
            FoundAsm(
                start,
                (start, match.end("word")),
                end,
                _joined(code[open_at + 1 : colon]),
                code[colon + 1 : close],
            )
        )
    return found


def record(
    path: str, found: FoundAsm, function: int, base: int = 0, via_macro: str = ""
) -> Assembly:
    """An `Assembly` at its place in the file, `base` being where the text starts.

    Out of a macro it is unfinished: see `with_arguments` and `finished`.
    """
    statement = Span(path, base + found.start, base + found.end)
    template = found.template.decode("utf-8", "replace")
    return Assembly(
        span=statement,
        name_span=Span(path, base + found.name[0], base + found.name[1]),
        text=template if via_macro else _clean(template),
        operands=normal(found.operands),
        function=function,
        via_macro=via_macro,
    )


def with_arguments(asm: Assembly, values: dict[bytes, bytes], use: Span | None) -> Assembly:
    """An `asm` out of a macro's body with `values` put in, in a use or in another macro."""
    pieces = asm.text.split("\0")
    for place in range(1, len(pieces), 2):
        value = values.get(pieces[place].encode())
        if value is not None:
            pieces[place] = normal(value).strip('"')
    text = "\0".join(pieces)
    operands = normal(substitute(asm.operands.encode(), values)) if values else asm.operands
    return msgspec.structs.replace(
        asm, text=text if use is None else _clean(text), operands=operands, use=use
    )


def finished(asm: Assembly) -> Assembly:
    """The record of a macro's own body, `#name` being `name`."""
    return msgspec.structs.replace(asm, text=_clean(asm.text))


def _colon(bare: bytes, start: int, close: int) -> int:
    """Where the template ends: at the first colon outside of brackets, else at `close`."""
    depth = 0
    for at in range(start, close):
        char = bare[at]
        if char in b"([{":
            depth += 1
        elif char in b")]}":
            depth -= 1
        elif char == 0x3A and depth == 0:
            return at
    return close


def _joined(text: bytes) -> bytes:
    pieces = []
    for literal in _LITERAL.finditer(text):
        if literal["raw"] is not None:
            pieces.append(literal["raw"])
        elif literal["plain"] is not None:
            pieces.append(_ESCAPE.sub(lambda m: _ESCAPES.get(m.group(), b" "), literal["plain"]))
        else:
            pieces.append(b"\0" + literal["name"] + b"\0")
    return b"".join(pieces)


def _clean(template: str) -> str:
    """The instructions without their own comments, white space made one space."""
    text = template.replace("\0", "")
    if "/" in text:
        text = _BLOCK_COMMENT.sub(" ", _LINE_COMMENT.sub(" ", text))
    return " ".join(text.split())
