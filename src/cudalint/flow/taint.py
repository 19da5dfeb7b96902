"""Follows values through the variables of one function, from where they come from.

A variable carries what any of its values carries, anywhere in its scope: order
and branches are not looked at.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection

from cudalint.flow.bindings import Bindings, Local

_WORD = re.compile(r"(?P<member>(?:\.|->|::)\s*(?:template\s+)?)?\b(?P<name>[A-Za-z_]\w*)")
_PART = re.compile(r"\s*(?:\.|->)")
_PLAIN = re.compile(r"auto|\w*?(?:int|long|short|char|float|double|half|bfloat|bool|dim)\w*|size_t")
Source = Callable[[str, int], bool]


class Taint:
    """Which variables of `bindings` carry what comes from a source.

    `source` tells of a name, and the offset after it, whether it is one by
    itself. The text that `cleaned` takes away (calls whose result is the same
    for everyone) carries nothing. `never` are names that carry nothing whatever
    is stored in them.
    """

    def __init__(
        self,
        bindings: Bindings,
        source: Source,
        never: Collection[str] = (),
        clean: re.Pattern[str] | None = None,
    ) -> None:
        self._bindings = bindings
        self._source = source
        self._never = never
        self._clean = clean
        self._tainted: set[int] = set()
        self._spread()

    def carries(self, start: int, end: int) -> bool:
        """Whether the text between two offsets has a source or a variable that carries one."""
        return self.first(start, end) is not None

    def first(self, start: int, end: int) -> str | None:
        """The first name in the text that is a source or carries one."""
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
            if local is not None and id(local) in self._tainted:
                if _PART.match(code, match.end()) and _is_class(local.type):
                    continue  # which of an object's parts carries it can't be told
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
        waiting = [
            local
            for local in self._bindings.locals()
            if local.name not in self._never and (local.values or local.element_values)
        ]
        changed = True
        while changed:
            changed = False
            for local in list(waiting):
                if self._is_given(local):
                    self._tainted.add(id(local))
                    waiting.remove(local)
                    changed = True

    def _is_given(self, local: Local) -> bool:
        values = list(local.values)
        if "*" not in local.type and not local.parameter:
            values += local.element_values
        return any(self.carries(value.start, value.end) for value in values)


def _is_class(type_: str) -> bool:
    """Whether a type is neither built in nor one of CUDA's vectors nor deduced."""
    return not any(_PLAIN.fullmatch(word) for word in re.findall(r"\w+", type_))
