"""Why some threads of a block may not reach a place in a function.

A branch or loop around it that depends on the thread, or a return before it that
does. What must be reached by all, the rules say.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec

from cudalint.finding import Span
from cudalint.flow.branches import LOOPS, Branches, Guard
from cudalint.flow.threads import ThreadDependence

if TYPE_CHECKING:
    from cudalint.flow.bindings import Bindings
    from cudalint.syntax.model import FileModel

_RETURN = re.compile(r"\breturn\b")


class Cause(msgspec.Struct, frozen=True):
    """`kind`: "condition", "loop" or "return"; `name` is what differs; `span` the place."""

    kind: str
    name: str
    span: Span


class Divergence:
    """Answers for one function."""

    def __init__(self, model: FileModel, bindings: Bindings) -> None:
        self._model = model
        self._bindings = bindings
        self._branches = Branches(bindings, model)
        self._dependence: ThreadDependence | None = None

    def cause(self, at: int) -> Cause | None:
        """Why some threads may not come to the offset `at`, or not as often; None if all do."""
        for guard in self._branches.around(at):
            name = self._first(guard)
            if name is not None:
                kind = "loop" if guard.branch.keyword in LOOPS else "condition"
                return Cause(kind, name, guard.branch.head)
        for leave in self._returns(at):
            for guard in self._branches.around(leave):
                if guard.branch.span.covers(at) or self._excludes(leave, at):
                    continue
                name = self._first(guard)
                if name is not None:
                    span = Span(self._model.path, leave, leave + len("return"))
                    return Cause("return", name, span)
        return None

    def _first(self, guard: Guard) -> str | None:
        if guard.constant:
            return None
        if self._dependence is None:
            self._dependence = ThreadDependence(self._bindings, self._model)
        return self._dependence.first(*guard.condition)

    def _returns(self, at: int) -> Iterator[int]:
        """The returns of the same function before `at`; those of other lambdas are not."""
        lambdas = [
            f.body
            for f in self._model.functions
            if f.lambda_
            and f.body is not None
            and self._bindings.start <= f.span.start < self._bindings.end
        ]
        for match in _RETURN.finditer(self._bindings.code, self._bindings.start, at):
            if all(b.covers(at) or not b.covers(match.start()) for b in lambdas):
                yield match.start()

    def _excludes(self, leave: int, at: int) -> bool:
        """Whether the two places are in an `if` and its `else`."""
        for guard in self._branches.around(at):
            if guard.branch.keyword == "else":
                other = self._branches.other(guard.branch)
                if other is not None and other.span.covers(leave):
                    return True
        return False
