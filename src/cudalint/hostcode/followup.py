"""What a function does right after a statement: does it look at the error?

Only for rule CU309, which says what should have been looked at.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from cudalint.regex import regex

if TYPE_CHECKING:
    from cudalint.finding import Span
    from cudalint.syntax.model import FileModel

CHECKS = frozenset({"cudaGetLastError", "cudaPeekAtLastError", "cudaGetLastErrorString"})
_MACRO_CALL = regex(r"\b[A-Z][A-Z0-9_]{2,}\s*\(")
_HANDLER = regex(r"(?i)check|error|assert|verify")
_WORD = regex(r"[A-Za-z_]\w*")
_SKIPPED = regex(r"[\s;})]*")
_LEAVES_SWITCH = regex(r"break\s*;")


class FollowUp:
    """Answers for the statements of one file; `code` is its text without comments."""

    def __init__(self, file: FileModel, code: str, handlers: Collection[str]) -> None:
        self._file = file
        self._code = code
        self._names = CHECKS | set(handlers) | {m.name for m in file.macros if m.parameters}

    def checks(self, text: str) -> bool:
        """Whether a piece of code names a check, a handler or a macro that takes arguments.

        A name that says `check`, `error`, `assert` or `verify` is taken for one.
        """
        if _MACRO_CALL.search(text) or _HANDLER.search(text):
            return True
        return not self._names.isdisjoint(_WORD.findall(text))

    def after(self, statement: Span) -> bool:
        """Whether the next statement that runs after `statement` checks.

        What the other branches of an `if` or `switch` hold is stepped over.
        """
        at = statement.end
        for _ in range(64):
            match = _SKIPPED.match(self._code, at)
            at = match.end() if match else at
            if self._code.startswith("else", at):
                step = self._branch_at(at)
            elif _LEAVES_SWITCH.match(self._code, at):
                step = self._left_by_break(at)
            else:
                break
            if step <= at:
                return False
            at = step
        end = self._code.find(";", at)
        return self.checks(self._code[at : end if end >= 0 else len(self._code)])

    def _branch_at(self, at: int) -> int:
        ends = [b.span.end for b in self._file.branches if b.head.start == at]
        return max(ends, default=at)

    def _left_by_break(self, at: int) -> int:
        around = [
            b.span.end
            for b in self._file.branches
            if b.keyword not in ("if", "else") and b.span.start <= at < b.span.end
        ]
        return min(around, default=at)
