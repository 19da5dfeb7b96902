"""Blocks that inevitably end the program or throw, and handlers of exceptions.

Read from the text by its brackets, so that bodies of macros are read like
functions. Branches that free and return are `cudalint.hostcode.coldregions`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec

from cudalint.finding import Span
from cudalint.regex import regex
from cudalint.syntax.prepare import prepare

if TYPE_CHECKING:
    from cudalint.source import SourceFile
    from cudalint.syntax.model import FileModel

_ENDS = (
    rb"exit|_exit|_Exit|quick_exit|abort|terminate|rethrow_exception|throw_with_nested"
    rb"|__builtin_trap"
)
_HINTS = (b"throw", b"catch", b"xit", b"abort", b"terminate", b"__builtin_trap")
"""One of them is part of whatever `_MAY_END` finds, and is looked for many times faster."""
_MAY_END = regex(rb"\b(?:throw|catch|" + _ENDS + rb")\b")
_TOKEN = regex(
    rb"(?P<bracket>[(){}])|(?P<launch><<<|\bcu(?:da)?(?:Graph)?Launch)"
    rb"|\b(?:(?P<leaves>return|goto|co_return)|(?P<skips>break|continue)|(?P<loop>for|while)"
    rb"|(?P<fatal>throw\b(?!\s*\(\s*\))|(?:" + _ENDS + rb")\s*\())"
)
_QUALIFIED = regex(rb"(?:(?:\bstd\s*)?::\s*)?$")
_ATTRIBUTE = regex(rb"\[\[[^\[\]]*\]\]$")
_HEAD = regex(rb"\b(if|for|while|switch|catch)\s*(?:constexpr\s*)?$")
_KEYWORD = regex(rb"\b(else|do|try)$")
_BLANK = b" \t\r\n\v\f\\"
_NEAR = 80


class _Block(msgspec.Struct):
    """An open bracket. `head`: the keyword in front of a `{`, "" for a block on its own.

    `fatal`: where the statement is that ends it, −1 for none; `leaves`: there is another way
    out before; `loops` and `launches`: it has a loop, a launch.
    """

    start: int
    head: str
    fatal: int = -1
    leaves: bool = False
    loops: bool = False
    launches: bool = False


def fatal_branches(model: FileModel, source: SourceFile) -> Iterator[tuple[Span, str]]:
    """The blocks of a file that end in a crash, an exit or an exception, each with why.

    A branch that launches is work that ends, not a failure.
    """
    if not any(hint in source.data for hint in _HINTS) or not _MAY_END.search(source.data):
        return
    prepared = prepare(source.data)
    bodies = {
        function.body.start
        for function in model.functions
        if function.body is not None and not function.lambda_
    }
    texts: list[tuple[bytes, int, set[int] | None]] = [(prepared.bare, 0, bodies)]
    texts += [
        (definition.body, definition.body_at, None)
        for definition in prepared.definitions
        if _MAY_END.search(definition.body)
    ]
    for text, at, whole in texts:
        for start, end, why in _Reader(text, at, whole, model).found():
            yield Span(model.path, at + start, at + end), why


class _Reader:
    """Reads one text, at `at` of its file.

    `whole` are the starts of the functions' bodies in it; None: it is a macro's body.
    """

    def __init__(self, text: bytes, at: int, whole: set[int] | None, model: FileModel) -> None:
        self._text = text
        self._whole = whole or set()
        self._is_macro = whole is None
        self._regions = [(r.span.start - at, r.span.end - at) for r in model.regions]
        self._open: list[_Block] = []
        self._closed = (-1, -1)

    def found(self) -> Iterator[tuple[int, int, str]]:
        for token in _TOKEN.finditer(self._text):
            kind = token.lastgroup
            if kind == "bracket":
                yield from self._bracket(token.group(), token.start())
            elif kind == "fatal":
                self._end(token.start())
                if token.group().endswith(b"("):
                    self._open.append(_Block(token.end() - 1, "("))
            elif kind == "leaves":
                self._leave(loops=False)
            elif kind == "skips":
                self._leave(loops=True)
            else:
                for block in self._open:
                    block.loops |= kind == "loop"
                    block.launches |= kind == "launch"

    def _bracket(self, char: bytes, at: int) -> Iterator[tuple[int, int, str]]:
        if char == b"(":
            self._open.append(_Block(at, "("))
        elif char == b")":
            if self._open and self._open[-1].head == "(":
                self._closed = (self._open.pop().start, at)
        elif char == b"{":
            self._open.append(_Block(at, self._head(at)))
        else:
            while self._open and self._open[-1].head == "(":
                self._open.pop()
            if self._open:
                yield from self._close(self._open.pop(), at)

    def _close(self, block: _Block, at: int) -> Iterator[tuple[int, int, str]]:
        """What a block is that ends at `at`; one without a condition ends the one around it."""
        if (block.fatal < 0 and block.head != "catch") or self._is_cut(block.start, at):
            return
        alone = block.head in ("", "do")
        if block.head == "catch":
            yield block.start, at + 1, "handles an exception"
        elif alone and self._open:
            self._end_block(self._open[-1], block.fatal)
        elif block.launches:
            return
        elif block.head in ("if", "else"):
            yield block.start, at + 1, "is in a branch that ends the program or throws"
        elif not block.loops and (block.start in self._whole or (alone and self._is_macro)):
            yield block.start, at + 1, "always ends the program or throws"

    def _head(self, at: int) -> str:
        """The keyword of the statement whose block starts at `at`; "?" for another bracket."""
        before = self._text[max(0, at - _NEAR) : at].rstrip(_BLANK)
        before = _ATTRIBUTE.sub(b"", before).rstrip(_BLANK)
        start, end = self._closed
        if before.endswith(b")"):
            head = _HEAD.search(self._text[max(0, start - _NEAR) : start].rstrip(_BLANK))
            near = _ATTRIBUTE.sub(b"", self._text[end + 1 : at].strip(_BLANK))
            return head[1].decode() if head and not near else "?"
        keyword = _KEYWORD.search(before)
        if keyword:
            return keyword[1].decode()
        return "" if not before or before[-1:] in (b";", b"{", b"}") else "?"

    def _end(self, at: int) -> None:
        """Takes note of a statement at `at` that ends everything."""
        before = self._text[max(0, at - _NEAR) : at]
        qualifier = _QUALIFIED.search(before)
        before = before[: qualifier.start()] if qualifier else before
        if self._open and before.rstrip(_BLANK)[-1:] in (b";", b"{", b"}"):
            self._end_block(self._open[-1], at)

    def _end_block(self, block: _Block, at: int) -> None:
        if block.fatal < 0 and not block.leaves and not self._is_cut(block.start, at):
            block.fatal = at

    def _leave(self, *, loops: bool) -> None:
        """A way out of the blocks that are open; `loops`: out of or to the end of a loop only."""
        for block in reversed(self._open):
            block.leaves = True
            if loops and block.head in ("for", "while", "do"):
                return

    def _is_cut(self, start: int, end: int) -> bool:
        """Whether a preprocessor conditional begins or ends between, with one of both inside."""
        return any((a <= start < b) != (a <= end < b) for a, b in self._regions)
