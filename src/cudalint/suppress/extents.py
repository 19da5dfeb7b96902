"""The statement, declaration head, loop head or macro that a finding stands in.

A suppression works on any of its lines, whether or not the rule named them as
`Finding.extents`.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate
from typing import TYPE_CHECKING

from cudalint.finding import Span

if TYPE_CHECKING:
    from cudalint.syntax.model import Call, FileModel, Launch, SharedDeclaration


class Extents:
    """The extents of one file; none for a file without a model."""

    def __init__(self, model: FileModel | None, data: bytes) -> None:
        self._data = data
        self._at: dict[int, Span] = {}
        self._macros: tuple[Span, ...] = ()
        self._heads: list[Span] = []
        self._ends: list[int] = []
        if model is None:
            return
        self._macros = tuple(macro.span for macro in model.macros)
        heads = (b.head for b in model.branches if b.keyword not in ("else", "do"))
        self._heads = sorted(heads, key=lambda head: head.start)
        # How far each and those before it go: a head can hold another, in a lambda.
        self._ends = list(accumulate((head.end for head in self._heads), max))
        records: tuple[Call | Launch | SharedDeclaration, ...]
        for records in (model.calls, model.launches, model.shared):
            for record in records:
                self._at[record.name_span.start] = record.statement
                self._at[record.span.start] = record.statement
        for function in model.functions:
            self._at[function.head.start] = function.head
            self._at[function.name_span.start] = function.head
            for parameter in function.parameters:
                self._at[parameter.span.start] = function.head

    def around(self, span: Span) -> Iterator[Span]:
        """What `span`, a finding's own, stands in."""
        statement = self._at.get(span.start)
        if statement is not None:
            yield statement
        at = bisect_right(self._heads, span.start, key=lambda head: head.start)
        for nth in range(at - 1, -1, -1):
            head = self._heads[nth]
            if self._ends[nth] <= span.start:
                break
            if head.covers(span.start):
                written = self._data[head.start : head.end].rstrip()
                yield Span(head.path, head.start, head.start + len(written))
        at = bisect_right(self._macros, span.start, key=lambda macro: macro.start) - 1
        if at >= 0 and self._macros[at].covers(span.start):
            yield self._macros[at]
