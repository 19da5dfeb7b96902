"""The branches and loops around places in one function, with the text of their conditions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec

from cudalint.regex import regex
from cudalint.syntax.brackets import close_of

if TYPE_CHECKING:
    from cudalint.devicecode.flow.bindings import Bindings
    from cudalint.finding import Span
    from cudalint.syntax.model import Branch, FileModel

_CONSTEXPR = regex(r"if\s+(?:constexpr\b|\(\s*(?:std\s*::\s*)?is_constant_evaluated\b)")
_AFTER_DO = regex(r"\s*while\s*\(")
LOOPS = frozenset({"for", "while", "do"})


class Guard(msgspec.Struct, frozen=True):
    """A branch whose statement a place is in; `condition` is a range of the file.

    The condition of an "else" is that of its `if`, that of a "for" stands between
    its semicolons. `constant`: it is decided when the code is compiled.
    """

    branch: Branch
    condition: tuple[int, int]
    constant: bool


class Branches:
    """The branches of one function, its lambdas included: `own`, in file order."""

    def __init__(self, bindings: Bindings, model: FileModel) -> None:
        self._code = bindings.code
        self._data = bindings.code.encode("latin-1")
        self.own = [
            branch
            for branch in model.branches
            if bindings.start <= branch.head.start < bindings.end
        ]
        self._ifs = {branch.span.end: branch for branch in self.own if branch.keyword == "if"}

    def around(self, at: int) -> Iterator[Guard]:
        """The guards of the place `at`, the outermost first."""
        for branch in self.own:
            if branch.head.start > at:
                break
            if branch.span.start <= at < branch.span.end:
                guard = self._guard(branch)
                if guard is not None:
                    yield guard

    def between(self, inside: int, at: int) -> list[Span]:
        """The statements of the branches and loops that hold `inside` and end before `at`."""
        return [
            branch.span
            for branch in self.own
            if branch.span.start <= inside < branch.span.end <= at and branch.keyword != "do"
        ]

    def other(self, branch: Branch) -> Branch | None:
        """The `if` of an "else"."""
        end = branch.head.start
        while end > 0 and self._code[end - 1].isspace():
            end -= 1
        return self._ifs.get(end)

    def _guard(self, branch: Branch) -> Guard | None:
        if branch.keyword == "else":
            other = self.other(branch)
            return None if other is None else self._with_head(branch, other)
        if branch.keyword == "do":
            after = _AFTER_DO.match(self._code, branch.span.end)
            if after is None:
                return None
            close = close_of(self._data, after.end() - 1)
            return Guard(branch, (after.end(), max(close, after.end())), False)
        return self._with_head(branch, branch)

    def _with_head(self, branch: Branch, head: Branch) -> Guard:
        constant = _CONSTEXPR.match(self._code, head.head.start, head.head.end) is not None
        start, end = condition_range(head, self._code)
        if head.keyword == "for":
            first = self._code.find(";", start, end)
            if first >= 0:
                second = self._code.find(";", first + 1, end)
                start, end = first + 1, second if second >= 0 else end
        return Guard(branch, (start, end), constant)


def condition_range(branch: Branch, code: str) -> tuple[int, int]:
    """What stands in the parentheses of a head, white space around it left out."""
    low, high = branch.head.start, branch.head.end
    start, end = code.find("(", low, high) + 1, code.rfind(")", low, high)
    while start < end and code[start].isspace():
        start += 1
    while end > start and code[end - 1].isspace():
        end -= 1
    return start, max(start, end)
