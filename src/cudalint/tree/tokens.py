"""A file as its tokens: what is left when comments and white space are taken away.

For telling copies from forks only; the syntax of kernels is `cudalint.syntax`.
"""

from __future__ import annotations

import re
from collections import Counter

import msgspec

from cudalint.regex import regex

_PIECE = regex(
    rb"""
    (?P<space> (?: [^\S\n] | \\\r?\n )+ | // (?: \\\r?\n | [^\n] )* | /\*.*?(?:\*/|\Z) )
  | (?P<end> \n )
  | (?:u8|[uUL])? R"(?P<fence>[^()\\\s]{0,16})\(.*?(?:\)(?P=fence)"|\Z)
  | "(?:\\.|[^"\\\n])*"?
  | '(?:\\.|[^'\\\n])*'?
  | [A-Za-z_]\w*
  | \.?\d(?:[eEpP][+-]|'?[\w.])*
  | <<<|>>>|<<=|>>=|<=>|\.\.\.|->\*?|::|\#\#|\+\+|--|&&|\|\||[-+*/%&|^!=<>]=|<<
  | .
    """,
    re.VERBOSE | re.DOTALL,
)
_COMMENT_OR_LITERAL = regex(
    rb"//(?:\\\r?\n|[^\n])*|/\*.*?(?:\*/|\Z)|\"(?:\\.|[^\"\\\n])*\"?|'(?:\\.|[^'\\\n])'", re.DOTALL
)
_NEAR_LINES = 20
_NEAR_CHANGES = 3


class CodeLine(msgspec.Struct, frozen=True):
    """A line with code on it: its 1-based number, and its tokens with one space between."""

    number: int
    text: bytes


class Change(msgspec.Struct, frozen=True):
    """Where two files differ: 1-based line numbers, empty where one has nothing."""

    upper: tuple[int, ...]
    lower: tuple[int, ...]


def may_be_alike(upper: bytes, lower: bytes) -> bool:
    """Whether two files can have the same tokens, or differ in few lines.

    A quick look that spares most pairs the reading of their tokens.
    """
    if b'R"' in upper or b'R"' in lower:
        return True
    ours, theirs = _bare_lines(upper), _bare_lines(lower)
    if b"".join(ours) == b"".join(theirs):
        return True
    above, below = Counter(ours), Counter(theirs)
    return max((above - below).total(), (below - above).total()) <= _NEAR_CHANGES


def code_lines(data: bytes) -> tuple[CodeLine, ...]:
    """The lines that hold code, in order. A token belongs to the line it starts on."""
    lines: list[CodeLine] = []
    tokens: list[bytes] = []
    number = line = 1
    for piece in _PIECE.finditer(data.removeprefix(b"\xef\xbb\xbf")):
        kind, text = piece.lastgroup, piece.group()
        if kind == "end":
            if tokens:
                lines.append(CodeLine(line, b" ".join(tokens)))
                tokens = []
            number += 1
            continue
        if kind != "space":
            line = line if tokens else number
            tokens.append(text)
        number += text.count(b"\n")
    if tokens:
        lines.append(CodeLine(line, b" ".join(tokens)))
    return tuple(lines)


def same_tokens(upper: tuple[CodeLine, ...], lower: tuple[CodeLine, ...]) -> bool:
    """Whether two files hold the same tokens; only a directive's line end counts as one."""
    return _stream(upper) == _stream(lower)


def few_changes(
    upper: tuple[CodeLine, ...], lower: tuple[CodeLine, ...]
) -> tuple[Change, ...] | None:
    """Where two files of at least 20 code lines differ, if in at most 3 lines; else None."""
    if min(len(upper), len(lower)) < _NEAR_LINES:
        return None
    above, below = Counter(x.text for x in upper), Counter(x.text for x in lower)
    if max((above - below).total(), (below - above).total()) > _NEAR_CHANGES:
        return None
    from difflib import SequenceMatcher

    matcher = SequenceMatcher(None, [x.text for x in upper], [x.text for x in lower], False)
    changes = [
        Change(tuple(x.number for x in upper[a:b]), tuple(x.number for x in lower[c:d]))
        for tag, a, b, c, d in matcher.get_opcodes()
        if tag != "equal"
    ]
    changed = sum(max(len(change.upper), len(change.lower)) for change in changes)
    return tuple(changes) if changed <= _NEAR_CHANGES else None


def _bare_lines(data: bytes) -> list[bytes]:
    """The lines without comments and white space, empty ones left out."""
    spliced = data.removeprefix(b"\xef\xbb\xbf").replace(b"\\\r\n", b"").replace(b"\\\n", b"")
    code = _COMMENT_OR_LITERAL.sub(_without_comment, spliced)
    return [bare for line in code.split(b"\n") if (bare := b"".join(line.split()))]


def _without_comment(match: re.Match[bytes]) -> bytes:
    return b" " if match[0].startswith((b"//", b"/*")) else match[0]


def _stream(lines: tuple[CodeLine, ...]) -> bytes:
    ended = (x.text + b"\n" if x.text.startswith(b"#") else x.text + b" " for x in lines)
    return b"".join(ended)
