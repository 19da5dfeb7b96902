"""`#define`s of one file: reading them, and textual expansion of their uses.

Expansion is what the C preprocessor does, in small: arguments are substituted,
`##` pastes, `#` makes a literal. It is bounded in depth and size, and knows the
file's own macros only.
"""

from __future__ import annotations

import re

import msgspec

from cudalint.regex import regex
from cudalint.syntax.brackets import after_space, close_of, split_arguments
from cudalint.syntax.effort import spend
from cudalint.syntax.lexer import Directive

_HEAD = regex(rb"\s*([A-Za-z_]\w*)(\(([^()]*)\))?")
_WORD = regex(rb"[A-Za-z_]\w*")
_PASTE = regex(rb"(?<!\s)\s*\#\#\s*")
_STRINGIFY = regex(rb"(?<!\#)\#(?!\#)\s*[A-Za-z_]\w*")
_SPLICE = regex(rb"\\[ \r]?\n")
_LITERAL = regex(rb"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)+'")
MAX_DEPTH = 8
_DEFINITION_UNITS = 40
_EXPANSION_UNITS = 100
"""What a `#define` takes, and what a text that is expanded or filled in, however short."""

MAX_EXPANSION = 64 * 1024


class Definition(msgspec.Struct, frozen=True):
    """A `#define`. `body` has the length of its source range `[body_at, end)`:

    comments, splices and literals' insides are blanked, line ends kept.
    `literal_body` is the same with the literals whole.
    """

    name: bytes
    parameters: tuple[bytes, ...] | None
    body: bytes
    start: int
    name_at: int
    body_at: int
    end: int
    literal_body: bytes = b""


def read_definitions(text: bytes, directives: list[Directive]) -> list[Definition]:
    """The `#define`s in `text`: the file with comments blanked and CR made a space."""
    found = []
    for directive in directives:
        if directive.keyword != b"define":
            continue
        spend(_DEFINITION_UNITS)
        line = text[directive.after : directive.end]
        line = _SPLICE.sub(lambda m: b"\n".rjust(len(m.group())), line)
        whole = line
        line = _LITERAL.sub(_hollow, line)
        head = _HEAD.match(line)
        if head is None:
            continue
        parameters = None
        if head.group(2) is not None:
            names = (p.strip() for p in head.group(3).split(b","))
            parameters = tuple(n.replace(b"...", b"__VA_ARGS__") for n in names if n)
        found.append(
            Definition(
                name=head.group(1),
                parameters=parameters,
                body=line[head.end() :],
                start=directive.start,
                name_at=directive.after + head.start(1),
                body_at=directive.after + head.end(),
                end=directive.end,
                literal_body=whole[head.end() :],
            )
        )
    return found


def parseable(body: bytes) -> bytes:
    """The body as a parser can take it, length kept: `a##b` is one name, `#x` is `x`."""
    if b"#" not in body:
        return body
    joined = _PASTE.sub(lambda m: b"_" * len(m.group()), body)
    return joined.replace(b"#", b" ")


def _hollow(literal: re.Match[bytes]) -> bytes:
    text = literal.group()
    if text == b'"C"':  # a linkage, not a string
        return text
    return text[:1] + b" " * (len(text) - 2) + text[-1:]


class Expander:
    """Expands uses of a file's macros; the last definition of a name is not special."""

    def __init__(self, definitions: list[Definition]) -> None:
        self.by_name: dict[bytes, Definition] = {d.name: d for d in definitions}

    def expand(self, text: bytes) -> bytes:
        """`text` with every known macro expanded, within the bounds of the module."""
        return self._expand(text, frozenset(), MAX_DEPTH)

    def without_empty(self, text: bytes) -> bytes:
        """`text` with the macros that stand for nothing blanked, at equal length."""

        def kept(word: re.Match[bytes]) -> bytes:
            definition = self.by_name.get(word.group())
            nothing = (
                definition is not None
                and definition.parameters is None
                and not definition.body.strip()
            )
            return b" " * len(word.group()) if nothing else word.group()

        return _WORD.sub(kept, text)

    def _expand(self, text: bytes, hidden: frozenset[bytes], depth: int) -> bytes:
        if depth == 0 or len(text) > MAX_EXPANSION:
            return text
        spend(_EXPANSION_UNITS + len(text))
        pieces: list[bytes] = []
        at = size = 0
        while match := _WORD.search(text, at):
            definition = self.by_name.get(match.group())
            end = match.end()
            if definition is None or definition.name in hidden:
                replacement = match.group()
            elif definition.parameters is None:
                inner = _PASTE.sub(b"", definition.body.strip())
                replacement = self._expand(inner, hidden | {definition.name}, depth - 1)
            else:
                open_at = after_space(text, end)
                close = close_of(text, open_at) if text[open_at : open_at + 1] == b"(" else -1
                if close < 0:
                    replacement = match.group()
                else:
                    values = argument_values(definition, text[open_at + 1 : close])
                    expanded = {
                        name: self._expand(value, hidden, depth - 1)
                        for name, value in values.items()
                    }
                    inner = substitute(definition.body, values, expanded).strip()
                    replacement = self._expand(inner, hidden | {definition.name}, depth - 1)
                    end = close + 1
            pieces += (text[at : match.start()], replacement)
            size += match.start() - at + len(replacement)
            if size > MAX_EXPANSION:
                return text
            at = end
        pieces.append(text[at:])
        return b"".join(pieces)


def argument_values(definition: Definition, arguments: bytes) -> dict[bytes, bytes]:
    """What each parameter of `definition` stands for in a use with `arguments`."""
    names = definition.parameters or ()
    ranges = split_arguments(arguments)
    values = {name: arguments[s:e] for name, (s, e) in zip(names, ranges, strict=False)}
    if names and names[-1] == b"__VA_ARGS__":
        first = ranges[len(names) - 1][0] if len(ranges) >= len(names) else len(arguments)
        values[b"__VA_ARGS__"] = arguments[first:]
    return values


def substitute(
    text: bytes, values: dict[bytes, bytes], expanded: dict[bytes, bytes] | None = None
) -> bytes:
    """`text` out of a macro's body with parameters replaced, `##` pasted, `#x` a literal.

    Parameters next to `##` stand for `values`, others for `expanded`, as in C.
    """
    spend(_EXPANSION_UNITS + len(text))
    if b"#" in text:
        text = _STRINGIFY.sub(b'""', _PASTE.sub(b"##", text))

    def value(word: re.Match[bytes]) -> bytes:
        start, end = word.span()
        pasted = text[end : end + 2] == b"##" or text[max(0, start - 2) : start] == b"##"
        chosen = values if pasted or expanded is None else expanded
        return chosen.get(word.group(), word.group())

    return _WORD.sub(value, text).replace(b"##", b"")
