"""How far each directive reaches: a line, a block between BEGIN and END, the file.

Also which BEGIN and END belong together. What lies within reach is
`cudalint.suppress.judgement`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

import msgspec

from cudalint.finding import Span
from cudalint.lines import LineIndex
from cudalint.suppress.model import Directive

Key = tuple[int, int | None]
"""A directive by its place in the file's list, and an item by its place in the
directive's; None for a bare word."""

Name = frozenset[str] | str | None
"""What an item of a BEGIN and the item of its END have in common."""


class Reach(msgspec.Struct, frozen=True):
    """Where one item of a directive holds.

    Exactly one of the three: the 1-based `line`, the byte range `block`, or the
    whole file when both are None.
    """

    key: Key
    line: int | None = None
    block: tuple[int, int] | None = None

    @property
    def rank(self) -> int:
        """The narrowest first: 0 for a line, 1 for a block, 2 for the file."""
        return 0 if self.line is not None else 1 if self.block is not None else 2


class Reaches(msgspec.Struct, frozen=True):
    """The reach of every directive of a file.

    `partners` maps an item of an END to the item of its BEGIN; `idle` are the
    items that reach nothing, each with what is wrong with it.
    """

    reaches: tuple[Reach, ...]
    partners: dict[Key, Key]
    idle: dict[Key, Literal["unclosed", "unopened", "late"]]


def measure(directives: Sequence[Directive], data: bytes, comments: Iterable[Span]) -> Reaches:
    """How far each of a file's `directives` reaches; `comments` are all of the file's."""
    text = _Layout(data, comments)
    found: list[Reach] = []
    partners: dict[Key, Key] = {}
    idle: dict[Key, Literal["unclosed", "unopened", "late"]] = {}
    opened: dict[Key, None] = {}
    by_name: dict[Name, list[Key]] = {}
    for at, directive in enumerate(directives):
        for key in _keys(at, directive):
            if directive.form == "NOLINTBEGIN":
                opened[key] = None
                by_name.setdefault(_name(directives, key), []).append(key)
            elif directive.form == "NOLINTEND":
                same = by_name.get(_name(directives, key))
                if not same:
                    idle[key] = "unopened"
                    continue
                begin = same.pop()  # the innermost open one of that name
                del opened[begin]
                partners[key] = begin
                block = (directives[begin[0]].span.start, directive.span.end)
                found.append(Reach(begin, block=block))
            elif directive.form == "ignore-file":
                if text.code_before(directive.span.start):
                    idle[key] = "late"
                else:
                    found.append(Reach(key))
            else:
                found.append(Reach(key, line=text.target(directive)))
    idle.update((key, "unclosed") for key in opened)
    return Reaches(tuple(sorted(found, key=lambda reach: reach.rank)), partners, idle)


def _keys(at: int, directive: Directive) -> Iterator[Key]:
    """The keys of a directive's items, one for a bare word."""
    if directive.items is None:
        yield at, None
    else:
        yield from ((at, item) for item in range(len(directive.items)))


def _name(directives: Sequence[Directive], key: Key) -> Name:
    """What makes an item of a BEGIN and one of an END the same: the rules, else the words."""
    items = directives[key[0]].items
    if items is None or key[1] is None:
        return None
    item = items[key[1]]
    return item.codes or item.text


class _Layout:
    """Which lines of a file hold code, comments or nothing."""

    def __init__(self, data: bytes, comments: Iterable[Span]) -> None:
        self.index = LineIndex(data)
        code = bytearray(data)
        for comment in comments:
            text = data[comment.start : comment.end]
            code[comment.start : comment.end] = b"\n".join(
                b" " * len(line) for line in text.split(b"\n")
            )
        self._code = bytes(code)
        self._first = self._first_code()
        # For each line the first from it on (itself too) that holds code, and
        # the first that holds code or nothing at all; past the end none does.
        count = self.index.count
        self._next_code = list(range(count + 2))
        self._next_uncommented = list(range(count + 2))
        for line in range(count, 0, -1):
            if self._blank(self._code, line):
                self._next_code[line] = self._next_code[line + 1]
                if not self._blank(data, line):
                    self._next_uncommented[line] = self._next_uncommented[line + 1]

    def _blank(self, text: bytes, line: int) -> bool:
        start, end = self.index.bounds(line)
        return not text[start:end].strip()

    def _first_code(self) -> int | None:
        """The first line with code; preprocessor lines have none."""
        spliced = False
        for line in range(1, self.index.count + 1):
            start, end = self.index.bounds(line)
            text = self._code[start:end].strip()
            if text and not spliced and not text.startswith(b"#"):
                return line
            spliced = text.endswith(b"\\") and (spliced or text.startswith(b"#"))
        return None

    def target(self, directive: Directive) -> int:
        """The line that a NOLINT, NOLINTNEXTLINE or ignore speaks of.

        NOLINTNEXTLINE passes over lines of comments, so that a reason may go on
        and directives may be stacked; an ignore on its own line passes over empty
        lines too, to the next statement. Past the end of the file it is a line
        on which nothing can be.
        """
        line = self.index.line_of(directive.span.start)
        if directive.form == "NOLINT":
            return line
        if directive.form == "NOLINTNEXTLINE":
            return self._next_uncommented[line + 1]
        first = self.index.line_of(directive.comment.start)
        last = self.index.line_of(max(directive.comment.start, directive.comment.end - 1))
        return line if self._next_code[first] <= last else self._next_code[line + 1]

    def code_before(self, offset: int) -> bool:
        """Whether code stands on a line before that of `offset`."""
        return self._first is not None and self._first < self.index.line_of(offset)
