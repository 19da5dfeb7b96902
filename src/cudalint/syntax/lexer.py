"""Comments, literals and preprocessor lines of a file, found without a grammar.

One pass of one regular expression over the bytes. The result says where things
are; nothing is decoded, masked or judged here (`cudalint.syntax.prepare` does
that).
"""

from __future__ import annotations

import re

import msgspec

from cudalint.regex import regex
from cudalint.syntax.effort import TooComplexError, spend

MAX_ESCAPES = 200_000
"""How many backslashes a comment or a literal may hold, and how many pieces a directive."""

# A repetition of a group is kept in mind step by step, and so it is bounded.
_LINE_COMMENT = rb"//[^\\\n]*(?:\\(?:\r?\n|.)?[^\\\n]*){0,%d}" % MAX_ESCAPES
_BLOCK_COMMENT = rb"/\*(?:.*?\*/|.*\Z)"
_STRING = rb'"[^"\\\n]*(?:\\(?:\r?\n|.)?[^"\\\n]*){0,%d}"?' % MAX_ESCAPES
_CHAR = rb"'[^'\\\n]*(?:\\(?:\r?\n|.)?[^'\\\n]*){0,%d}'?" % MAX_ESCAPES
# Every alternative starts with a literal outside of any group: only then does the
# search skip plain text at the speed of C. A quote after R opens a raw string; one
# after a (hex) digit separates digits.
_TOKEN = regex(
    rb"/(?P<comment>" + _LINE_COMMENT[1:] + rb"|" + _BLOCK_COMMENT[1:] + rb")"
    rb'|"(?<=R")(?<![A-KM-TV-Za-tv-z0-79_]R")(?P<raw>[^()\\\s]{0,16})\((?:.*?\)(?P=raw)"|.*\Z)'
    rb'|"(?P<string>' + _STRING[1:] + rb")"
    rb"|'(?:(?<![0-9a-fA-F]')(?P<char>" + _CHAR[1:] + rb"))?"
    rb"|\#(?P<hash>)",
    re.DOTALL,
)
_LOGICAL_LINE = regex(
    rb"(?:[^\\\n/\"']+|\\(?:\r?\n|.)?|"
    + _LINE_COMMENT
    + rb"|"
    + _BLOCK_COMMENT
    + rb"|/|"
    + _STRING
    + rb"|"
    + _CHAR
    + rb"){0,%d}" % MAX_ESCAPES,
    re.DOTALL,
)
_KEYWORD = regex(rb"\#(?:[ \t]|/\*.*?\*/|\\\r?\n)*([A-Za-z_]\w*)?", re.DOTALL)
_SPLICE = regex(rb"\\\r?\n")
_TOKENS_AT_ONCE = 4096
_TOKEN_UNITS = 12
"""What a comment, a literal or a `#` takes, all in all."""
_DIRECTIVE_UNITS = 40
"""What a directive takes besides, in all stages."""


class Directive(msgspec.Struct, frozen=True, gc=False):
    """A preprocessor line: `#` at `start`, its logical line's end at `end` (LF excluded).

    `after` is where the text after the keyword begins.
    """

    keyword: bytes
    start: int
    after: int
    end: int


class Lexed(msgspec.Struct, frozen=True):
    """Where the comments, the insides of literals, and the directives are.

    Comments inside directives are listed too, in `comments` only; literals inside
    directives are not.
    """

    comments: list[tuple[int, int]]
    loose_comments: list[tuple[int, int]]
    literals: list[tuple[int, int]]
    directives: list[Directive]


def lex(data: bytes) -> Lexed:
    """Scan `data` once."""
    comments: list[tuple[int, int]] = []
    loose: list[tuple[int, int]] = []
    literals: list[tuple[int, int]] = []
    directives: list[Directive] = []
    directive_end = 0
    for count, match in enumerate(_TOKEN.finditer(data), 1):
        if not count % _TOKENS_AT_ONCE:
            spend(_TOKENS_AT_ONCE * _TOKEN_UNITS)
        start, at = match.span()
        if start < directive_end:
            continue
        kind = match.lastgroup
        if kind == "comment":
            if data[at : at + 1] == b"\\" and data[start + 1] == 0x2F:
                raise TooComplexError("a comment has too many backslashes")
            comments.append((start, at))
            loose.append((start, at))
        elif kind == "hash":
            if _starts_line(data, start, comments):
                spend(_DIRECTIVE_UNITS)
                directive = _directive(data, start)
                directives.append(directive)
                comments.extend(_comments_inside(data, directive))
                directive_end = directive.end
        elif kind == "raw":
            literals.append((start + 1, max(start + 1, at - 1)))
        elif kind is not None:
            closed = at - start > 1 and data[at - 1] == data[start]
            if not closed and data[at : at + 1] == b"\\":
                raise TooComplexError("a literal has too many backslashes")
            literals.append((start + 1, at - 1 if closed else at))
    return Lexed(comments, loose, literals, directives)


def splice(text: bytes) -> bytes:
    """Remove line splices (a backslash at the end of a line)."""
    return _SPLICE.sub(b"", text) if b"\\" in text else text


def _starts_line(data: bytes, at: int, comments: list[tuple[int, int]]) -> bool:
    """Whether only white space and a comment stand before `at` on its line."""
    end = _end_of_text(data, at)
    if not end or data[end - 1] == 0x0A or (end == 3 and data.startswith(b"\xef\xbb\xbf")):
        return True
    if not comments or comments[-1][1] != end:
        return False
    start = comments[-1][0]
    if data.find(b"\n", start, end) >= 0:
        return True
    end = _end_of_text(data, start)
    return not end or data[end - 1] == 0x0A


def _end_of_text(data: bytes, at: int) -> int:
    """Where what stands before `at` ends: after a line's end, or after no white space."""
    width = 64
    while True:
        low = max(0, at - width)
        piece = data[low:at].rstrip(b" \t\r\f\v")
        if piece or not low:
            return low + len(piece)
        width *= 8


def _directive(data: bytes, start: int) -> Directive:
    keyword = _KEYWORD.match(data, start)
    end = data.find(b"\n", start)
    if end < 0:
        end = len(data)
    if data.find(b"\\", start, end) >= 0 or data.find(b"/", start, end) >= 0:
        line = _LOGICAL_LINE.match(data, start)
        end = -1 if line is None else line.end()
    if keyword is None or end < 0:  # both match any text that starts with "#"
        raise AssertionError(data[start : start + 20])
    if data[end : end + 1] not in (b"\n", b""):
        raise TooComplexError("a directive is too long")
    if data[end - 1 : end] == b"\r":
        end -= 1
    after = min(keyword.end(), end)
    return Directive(keyword.group(1) or b"", start, after, end)


def _comments_inside(data: bytes, directive: Directive) -> list[tuple[int, int]]:
    if b"/" not in data[directive.start : directive.end]:
        return []
    found = []
    for match in _TOKEN.finditer(data, directive.start + 1, directive.end):
        if match.lastgroup == "comment":
            found.append(match.span())
    return found
