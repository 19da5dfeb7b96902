"""Records that plain patterns find in blanked text: variables, constants, directives.

Each function is one pass of one pattern over text without comments, literals
and directives, so nothing here can match inside those.
"""

from __future__ import annotations

import re

import msgspec

from cudalint.finding import Span
from cudalint.syntax.brackets import split_arguments
from cudalint.syntax.lexer import Directive
from cudalint.syntax.macros import Definition
from cudalint.syntax.model import Comment, Constant, Include, Macro, normal

_INCLUDE = re.compile(rb"\s*(?:<([^>\n]*)>|\"([^\"\n]*)\")")
_STREAM = re.compile(
    rb"\b((?:cudaStream_t|CUstream|(?:\w+::)*CUDAStream|(?:\w+::)*cuda_stream_view|"
    rb"(?:\w+::)*stream_ref))\b\s*(?:const\b)?([&*\s]*[A-Za-z_]\w*\s*(?=[;,=({)\[:])(?:[^;{}]|\{[^{};]*\})*)"
)
_STREAM_NAME = re.compile(rb"([&*\s]*)([A-Za-z_]\w*)\s*(\[)?")
_CONSTANT = re.compile(
    rb"const(?<!\wconst)(?:expr\b|\s+(?:static\s+|inline\s+)*(?:unsigned|signed|int|long|short|char|bool|auto|"
    rb"(?:std\s*::\s*)?(?:s?size_t|u?int\d+_t))\b)[^;{}()=]*?\b([A-Za-z_]\w*)\s*(=|\{)"
)
_NAME = re.compile(rb"[*&\s]*[A-Za-z_]\w*")
_FLAG_REST = rb"\s+(?:const\s+)?([A-Za-z_]\w*)\s*(?:=\s*([^;{]+)|\{([^;{}]*)\}\s*);"
_FLAGS = (
    re.compile(rb"bool(?<!\wbool)" + _FLAG_REST),
    re.compile(rb"auto(?<!\wauto)" + _FLAG_REST),
)
_STATIC = re.compile(rb"static(?<!\wstatic)\b[^;(){}=]*(?:=|\{|\()")
_BRACKET_OR_END = re.compile(rb"[;(){}\[\]]")
_CONSOLE = re.compile(rb"(?<![\w.>])(?:(?:::\s*)?std\s*::\s*)?(?:cout|cerr|clog)\b(?!\s*\()")


class Found(msgspec.Struct, frozen=True, gc=False):
    """A match: its range, a name and a text."""

    start: int
    end: int
    name: str
    text: str


def includes(path: str, data: bytes, directives: list[Directive]) -> tuple[Include, ...]:
    """`#include` lines, in order; those that name a macro are left out."""
    found = []
    for directive in directives:
        if directive.keyword not in (b"include", b"include_next", b"import"):
            continue
        match = _INCLUDE.match(data, directive.after, directive.end)
        if match is not None:
            target = match.group(1) if match.group(1) is not None else match.group(2)
            span = Span(path, directive.start, directive.end)
            found.append(
                Include(span, target.decode("utf-8", "replace"), match.group(1) is not None)
            )
    return tuple(found)


def macros(path: str, definitions: list[Definition]) -> tuple[Macro, ...]:
    """The `#define`s; literals' insides are blank in their bodies."""
    return tuple(
        Macro(
            span=Span(path, d.start, d.end),
            name_span=Span(path, d.name_at, d.name_at + len(d.name)),
            name=d.name.decode("utf-8", "replace"),
            parameters=None
            if d.parameters is None
            else tuple(p.decode("utf-8", "replace") for p in d.parameters),
            body=normal(d.body),
        )
        for d in definitions
    )


def comments(path: str, data: bytes, ranges: list[tuple[int, int]]) -> tuple[Comment, ...]:
    """The comments, with whether each stands alone on its line."""
    found = []
    for start, end in ranges:
        line = data.rfind(b"\n", 0, start) + 1
        text = data[start:end].decode("utf-8", "replace").rstrip("\r")
        found.append(
            Comment(Span(path, start, end), text, not data[line:start].strip(b" \t\xef\xbb\xbf"))
        )
    return tuple(found)


def streams(bare: bytes) -> list[Found]:
    """Declarations of stream variables (parameters are matched as well)."""
    if b"tream" not in bare:
        return []
    found = []
    for match in _STREAM.finditer(bare):
        start, declarators = match.start(2), match.group(2)
        for low, high in split_arguments(declarators):
            name = _STREAM_NAME.match(declarators, low, high)
            if name is None:
                break
            stars = "*" if name.group(3) or b"*" in name.group(1) else ""
            at = start + name.start(2)
            text = normal(match.group(1)) + stars
            found.append(Found(at, at + len(name.group(2)), name.group(2).decode(), text))
            after = declarators[name.end() : high].lstrip()[:1]
            if after in (b":", b")") or _closes_more(declarators[:high]):
                break
    return found


def _closes_more(text: bytes) -> bool:
    return text.count(b")") > text.count(b"(")


def constants(path: str, bare: bytes) -> list[Constant]:
    """`constexpr` and `const` integer variables with an initialiser of at most 200 bytes."""
    found = []
    for match in _CONSTANT.finditer(bare):
        end = bare.find(b";", match.end(), match.end() + 600)
        # What depends on the thread or the block is no constant.
        if end < 0 or bare.find(b"Idx.", match.end(), end) >= 0:
            continue
        start = match.start(1)
        text = bare[start:end]
        pieces = split_arguments(text) if b"," in text else [(0, len(text.rstrip()))]
        for low, high in pieces:
            piece = bare[start + low : start + high]
            name, separator, value = piece.partition(b"=")
            if not separator and piece.endswith(b"}"):
                name, _, value = piece[:-1].partition(b"{")
            if value.strip() and len(value) <= 200 and _NAME.fullmatch(name.strip()):
                span = Span(path, start + low, start + high)
                found.append(Constant(span, normal(name), normal(value)))
    return found


def flags(bare: bytes) -> list[Found]:
    """`bool` and `auto` variables with an initialiser."""
    found = [
        Found(m.start(), m.end(), m.group(1).decode(), normal(m.group(2) or m.group(3) or b""))
        for pattern in _FLAGS
        for m in pattern.finditer(bare)
    ]
    return sorted(found, key=lambda f: f.start)


def statics(bare: bytes) -> list[Found]:
    """`static` declarations with an initialiser, to their `;`, which no bracket holds."""
    found = []
    for match in _STATIC.finditer(bare):
        depth = 0
        for bracket in _BRACKET_OR_END.finditer(bare, match.end() - 1):
            char = bracket.group()
            depth += (char in b"({[") - (char in b")}]")
            if depth < 0:
                break
            if depth == 0 and char == b";":
                found.append(Found(match.start(), bracket.end(), "", ""))
                break
    return found


def console(bare: bytes) -> list[Found]:
    """Uses of `cout`, `cerr` and `clog`, as written."""
    if b"cout" not in bare and b"cerr" not in bare and b"clog" not in bare:
        return []
    return [
        Found(m.start(), m.end(), "".join(m.group().decode().split()), "")
        for m in _CONSOLE.finditer(bare)
    ]
