"""Follows values through the variables of one function, from where they come from.

A use of a variable carries what the values that may reach it carry: the last one
that is given on every way to the use, and those after it; in a loop also those
that the turn before ends with.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from typing import TYPE_CHECKING

from cudalint.devicecode.flow.bindings import Bindings, Local, Value
from cudalint.devicecode.flow.branches import LOOPS, Branches
from cudalint.regex import regex

if TYPE_CHECKING:
    from cudalint.finding import Span

_WORD = regex(r"(?P<member>(?:\.|->|::)\s*(?:template\s+)?)?\b(?P<name>[A-Za-z_]\w*)")
_PART = regex(r"\s*(?:\.|->)")
_PLAIN = regex(r"auto|\w*?(?:int|long|short|char|float|double|half|bfloat|bool|dim)\w*|size_t")
_LAMBDA = regex(r"\s*=?\s*\[[^\]]*\]\s*(?:__\w+__(?!\w)\s*)*[({]")
Source = Callable[[str, int], bool]


class Taint:
    """Which variables of `bindings` carry what comes from a source, and where.

    `source` tells of a name, and the offset after it, whether it is one by
    itself. The text that `clean` matches, up to the bracket that closes (calls
    whose result is the same for everyone), carries nothing. `never` are names
    that carry nothing whatever is stored in them; `given` are values that carry
    it from the start. `parts`: a member of an object carries what is stored in
    the object. What a lambda returns is not known, and taken to carry nothing.
    """

    def __init__(
        self,
        bindings: Bindings,
        branches: Branches,
        source: Source,
        never: Collection[str] = (),
        clean: re.Pattern[str] | None = None,
        given: Collection[Value] = (),
        parts: bool = False,
    ) -> None:
        self._bindings = bindings
        self._branches = branches
        self._source = source
        self._never = never
        self._clean = clean
        self._parts = parts
        self._tainted: set[Value] = set(given)
        self._reaching: dict[tuple[int, int], tuple[Value, ...]] = {}
        self._spread()

    def first(self, start: int, end: int) -> str | None:
        """The first name in the text that is a source or carries one, None if none does."""
        code = self._bindings.code
        skip = self._skipped(start, end)
        for match in _WORD.finditer(code, start, end):
            at = match.start("name")
            if any(low <= at < high for low, high in skip):
                continue
            name = match["name"]
            local = None if match["member"] else self._bindings.find(name, at)
            if (local is None or local.parameter) and self._source(name, match.end()):
                return name
            if local is None or name in self._never:
                continue
            is_part = not self._parts and _PART.match(code, match.end())
            if is_part and _is_class(local.type):
                continue  # which of an object's parts carries it can't be told
            if not self._tainted.isdisjoint(self._at(local, at)):
                return name
        return None

    def _skipped(self, start: int, end: int) -> list[tuple[int, int]]:
        if self._clean is None:
            return []
        brackets = self._bindings.brackets
        return [
            (match.start(), brackets.close(match.end() - 1))
            for match in self._clean.finditer(self._bindings.code, start, end)
        ]

    def _spread(self) -> None:
        waiting = {
            value
            for local in self._bindings.locals()
            if local.name not in self._never
            for value in _values(local)
            if not _LAMBDA.match(self._bindings.code, value.start, value.end)
        }
        changed = True
        while changed:
            carrying = {value for value in waiting if self.first(value.start, value.end)}
            self._tainted |= carrying
            waiting -= carrying
            changed = bool(carrying)

    def _at(self, local: Local, at: int) -> tuple[Value, ...]:
        """The values of `local` that may be there at the offset `at`."""
        if len(local.values) < 2 or at >= self._bindings.end:
            return _values(local)
        key = (id(local), at)
        found = self._reaching.get(key)
        if found is None:
            values = sorted(local.values, key=lambda value: value.start)
            reaching = self._until_certain([v for v in values if v.end <= at], at)
            for low, high in self._loops(at):
                if local.start < low:
                    later = [v for v in values if v.start > at and low <= v.start < high]
                    reaching += self._until_certain(later, high - 1)
            found = self._reaching[key] = (*reaching, *_elements(local))
        return found

    def _until_certain(self, values: list[Value], at: int) -> list[Value]:
        """The last of `values`, back to the one that every way to `at` goes through.

        Without those that another one certainly replaces, in the same branch.
        """
        found: list[Value] = []
        replacing: list[list[Span]] = []
        for value in reversed(values):
            if any(all(b.covers(value.start) for b in spans) for spans in replacing):
                continue
            found.append(value)
            if not value.adds:
                around = self._branches.between(value.start, at)
                if not around:
                    break
                replacing.append(around)
        return found

    def _loops(self, at: int) -> Iterable[tuple[int, int]]:
        """The loops whose head or body `at` is in."""
        for branch in self._branches.own:
            if branch.keyword in LOOPS and branch.head.start <= at < branch.span.end:
                yield branch.head.start, branch.span.end


def _elements(local: Local) -> list[Value]:
    """What is stored in parts of a variable, not in what it points or refers to."""
    refers = "*" in local.type or "&" in local.type or local.parameter
    return [] if refers else local.element_values


def _values(local: Local) -> tuple[Value, ...]:
    return (*local.values, *_elements(local))


def _is_class(type_: str) -> bool:
    """Whether a type is neither built in nor one of CUDA's vectors nor deduced."""
    return not any(_PLAIN.fullmatch(word) for word in re.findall(r"\w+", type_))
