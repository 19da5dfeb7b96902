"""Records that plain patterns find in blanked text: variables, constants, directives.

Each function is one pass of one pattern over text without comments, literals
and directives, so nothing here can match inside those.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from cudalint.finding import Span
from cudalint.regex import regex
from cudalint.syntax.brackets import split_arguments
from cudalint.syntax.effort import spend
from cudalint.syntax.lexer import Directive
from cudalint.syntax.macros import Definition
from cudalint.syntax.model import Comment, Constant, Include, Macro, normal

_INCLUDE = regex(rb"\s*(?:<([^>\n]*)>|\"([^\"\n]*)\")")
# It begins with what all the names have in common; what stands before that is
# looked at afterwards. The empty group is where the type's name ends.
_STREAM = regex(
    rb"tream(?:(?<=\bcudaStream)_t|(?<=\bCUstream)|(?<=\bCUDAStream)|(?<=\bcuda_stream)_view|"
    rb"(?<=\bstream)_ref)\b()\s*(?:const\b)?"
    rb"([&*\s]*[A-Za-z_]\w*\s*(?=[;,=({)\[:])[^;{}]*(?:\{[^{};]*\}[^;{}]*)*)"
)
_SCOPED_NAME = regex(rb"(?:(?<!\w)\w+::)*(?<!\w)\w+\Z")
_STREAM_NAME = regex(rb"([&*\s]*)([A-Za-z_]\w*)\s*(\[)?")
_CONSTANT = regex(
    rb"const(?<!\wconst)(?:expr\b|\s+(?:static\s+|inline\s+)*(?:unsigned|signed|int|long|short|char|bool|auto|"
    rb"(?:std\s*::\s*)?(?:s?size_t|u?int\d+_t))\b)"
)
# The value's `=` or `{` is the first bracket, `=` or `;` after the type.
_PLAIN_CONSTANT = regex(rb"[\w\s:]{0,300}(?<!\w)([A-Za-z_]\w*)\s*=([^;,]{1,599});")
_VALUE_OR_END = regex(rb"[;{}()=]")
_LAST_NAME = regex(rb"(?<!\w)[A-Za-z_]\w*\s*\Z")
_NAME = regex(rb"[*&\s]*[A-Za-z_]\w*")
_NO_CONSOLE = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.>")
"""What stands before a name of a console stream makes it something else."""
_FLAG_REST = rb"\s+(?:const\s+)?([A-Za-z_]\w*)\s*(?:=\s*([^;{]{1,4000})|\{([^;{}]*)\}\s*);"
_FLAGS = (
    (b"bool", regex(rb"bool(?<!\wbool)" + _FLAG_REST)),
    (b"auto", regex(rb"auto(?<!\wauto)" + _FLAG_REST)),
)
_STATIC = regex(rb"static(?<!\wstatic)\b[^;(){}=]{0,2000}(?:=|\{|\()")
_BRACKET_OR_END = regex(rb"[;(){}\[\]]")
_WORD_AHEAD = regex(rb"\s*(?:[A-Za-z_#~]|\Z)")
_CONSOLE = regex(rb"c(?:out|err|log)\b(?!\s*\()")
_BEFORE_CONSOLE = regex(rb"(?<![\w.>])(?:::\s*)?std\s*::\s*\Z")


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
    last = 0
    for start, end in ranges:
        line = data.rfind(b"\n", last, start) + 1
        # After a comment on the same line none stands alone.
        alone = (line > 0 or not last) and not data[line:start].strip(b" \t\xef\xbb\xbf")
        text = data[start:end].decode("utf-8", "replace").rstrip("\r")
        found.append(Comment(Span(path, start, end), text, alone))
        last = end
    return tuple(found)


def streams(bare: bytes) -> list[Found]:
    """Declarations of stream variables (parameters are matched as well)."""
    if b"tream" not in bare:
        return []
    found = []
    for match in _STREAM.finditer(bare):
        start, declarators = match.start(2), match.group(2)
        type_ = _stream_type(bare, match.start(1))
        for low, high in split_arguments(declarators):
            name = _STREAM_NAME.match(declarators, low, high)
            if name is None:
                break
            stars = "*" if name.group(3) or b"*" in name.group(1) else ""
            at = start + name.start(2)
            text = type_ + stars
            found.append(Found(at, at + len(name.group(2)), name.group(2).decode(), text))
            after = declarators[name.end() : high].lstrip()[:1]
            if after in (b":", b")") or _closes_more(declarators[:high]):
                break
    return found


def _stream_type(bare: bytes, end: int) -> str:
    """The type's name that ends at `end`, with its scopes where it is no type of CUDA's own."""
    if bare.endswith(b"cudaStream_t", 0, end):
        return "cudaStream_t"
    match = _SCOPED_NAME.search(bare, max(0, end - 200), end)
    name = "" if match is None else match.group().decode()
    own = name.rpartition("::")[2]
    return own if own in ("cudaStream_t", "CUstream") else name


def _closes_more(text: bytes) -> bool:
    return text.count(b")") > text.count(b"(")


def constants(path: str, bare: bytes) -> list[Constant]:
    """`constexpr` and `const` integer variables with an initialiser of at most 200 bytes."""
    found = []
    value_at = -1
    for match in _CONSTANT.finditer(bare):
        if value_at >= match.end():
            continue
        plain = _PLAIN_CONSTANT.match(bare, match.end())
        if plain is not None:
            start, value_at = plain.start(1), plain.start(2) - 1
            value = plain[2].rstrip()
            if len(value) <= 200 and b"Idx." not in value and (written := normal(value)):
                span = Span(path, start, value_at + 1 + len(value))
                found.append(Constant(span, plain[1].decode(), written))
            continue
        ends = _VALUE_OR_END.search(bare, match.end())
        if ends is None:
            break
        value_at = ends.start()
        if bare[value_at] in b"={":
            name = _LAST_NAME.search(bare, max(match.end(), value_at - 300), value_at)
            if name is not None:
                found += _declared(path, bare, name.start(), value_at + 1)
    return found


def _declared(path: str, bare: bytes, start: int, value: int) -> Iterator[Constant]:
    """The constants of a declaration whose first name and first value begin there."""
    end = bare.find(b";", value, value + 600)
    # What depends on the thread or the block is no constant.
    if end < 0 or bare.find(b"Idx.", value, end) >= 0:
        return
    for low, high in split_arguments(bare[start:end]):
        piece = bare[start + low : start + high]
        name, separator, text = piece.partition(b"=")
        if not separator and piece.endswith(b"}"):
            name, _, text = piece[:-1].partition(b"{")
        if text.strip() and len(text) <= 200 and _NAME.fullmatch(name.strip()):
            yield Constant(Span(path, start + low, start + high), normal(name), normal(text))


def flags(bare: bytes) -> list[Found]:
    """`bool` and `auto` variables with an initialiser."""
    found = [
        Found(m.start(), m.end(), m.group(1).decode(), normal(m.group(2) or m.group(3) or b""))
        for word, pattern in _FLAGS
        if word in bare
        for m in pattern.finditer(bare)
    ]
    return sorted(found, key=lambda f: f.start)


def statics(bare: bytes) -> list[Found]:
    """`static` declarations with an initialiser, to their `;`, which no bracket holds."""
    found: list[Found] = []
    if b"static" not in bare:
        return found
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
            # A word goes on with no declaration: what ends here is a function's body.
            if depth == 0 and char == b"}" and _WORD_AHEAD.match(bare, bracket.end()):
                break
            spend(1)
    return found


def console(bare: bytes) -> list[Found]:
    """Uses of `cout`, `cerr` and `clog`, as written."""
    if b"cout" not in bare and b"cerr" not in bare and b"clog" not in bare:
        return []
    found = []
    for match in _CONSOLE.finditer(bare):
        start, end = match.span()
        if bare[start - 1 : start] in b" \t\n:" or not start:
            scope = _BEFORE_CONSOLE.search(bare, max(0, start - 40), start)
            if scope is not None:
                start = scope.start()
        if not start or bare[start - 1] not in _NO_CONSOLE:
            found.append(Found(start, end, "".join(bare[start:end].decode().split()), ""))
    return found
