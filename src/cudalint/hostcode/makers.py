"""Which functions of the project make the resource that a branch around their call tests.

`if (!buf_) allocBuffers();`: what a function's own body does decides, not its name. Calls
of the API, and of what may make something by its name, are `cudalint.hostcode.making`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from cudalint.devicecode.devicecode import enclosing
from cudalint.hostcode.absence import names
from cudalint.hostcode.making import assigned_to, given
from cudalint.hostcode.memorycalls import HOST_TAKING, MAKING, TAKING
from cudalint.regex import regex

if TYPE_CHECKING:
    from cudalint.devicecode.flow.text import CodeTexts
    from cudalint.syntax.model import Branch, Call, FileModel, Function

_MAKES = TAKING | HOST_TAKING | MAKING
_OF_THE_OBJECT = frozenset(("", "this", "*this"))
_CHANGED = regex(
    r"\b([A-Za-z_]\w*)\s*(?:\[[^\[\]]*\]\s*)*=(?!=)|&\s*(?:this\s*->\s*)?([A-Za-z_]\w*)\s*[,)]"
)


class Makers:
    """Answers for the functions of one run."""

    def __init__(self, models: Mapping[str, FileModel], codes: CodeTexts) -> None:
        self._models = models
        self._codes = codes
        self._set: dict[tuple[str, int], frozenset[str]] = {}

    def make(self, call: Call, branch: Branch, tested: frozenset[str]) -> bool:
        """Whether `call`, in `branch`, is of a function that makes what is `tested`."""
        if call.name not in self._making_names or branch.function < 0:
            return False
        path = branch.span.path
        owner = self._models[path].functions[branch.function].owner
        named = [
            place
            for place in self._by_name[call.name]
            if (
                call.receiver in _OF_THE_OBJECT and place[1].owner == owner
                if place[1].owner
                else not call.receiver
            )
        ]
        # Of several of a name, those of this file are meant; else any of them may be.
        meant = [place for place in named if place[0] == path] or named
        return bool(meant) and all(self._makes(*place, call, branch, tested) for place in meant)

    def _makes(
        self, path: str, function: Function, call: Call, branch: Branch, tested: frozenset[str]
    ) -> bool:
        """Whether `call` of just this function makes what is `tested`."""
        if (path, function.index) not in self._making:
            return False
        if function.owner and not tested.isdisjoint(self._changed(path, function)):
            return True
        if not tested.isdisjoint(names(given(call))):
            return True
        code = self._codes.of(call.span.path)
        return assigned_to(call, code, branch.span.start) in tested

    @cached_property
    def _making(self) -> frozenset[tuple[str, int]]:
        """The host functions whose own bodies take memory or make a handle: path and index."""
        found: set[tuple[str, int]] = set()
        for path, model in self._models.items():
            making = {
                enclosing(model, call.function)
                for call in model.calls
                if call.name in _MAKES and call.function >= 0 and not call.receiver
            }
            for index in making - {-1}:
                function = model.functions[index]
                if function.space == "host" and function.body is not None:
                    found.add((path, index))
        return frozenset(found)

    @cached_property
    def _making_names(self) -> frozenset[str]:
        return frozenset(self._models[path].functions[index].name for path, index in self._making)

    @cached_property
    def _by_name(self) -> dict[str, list[tuple[str, Function]]]:
        """All host functions that have a name and a body like those that make something."""
        found: dict[str, list[tuple[str, Function]]] = {}
        for path in sorted(self._models):
            for function in self._models[path].functions:
                known = function.name in self._making_names and not function.lambda_
                if known and function.space == "host" and function.body is not None:
                    found.setdefault(function.name, []).append((path, function))
        return found

    def _changed(self, path: str, function: Function) -> frozenset[str]:
        """The names that a function assigns, or whose addresses it gives away."""
        key = path, function.index
        if key not in self._set and function.body is not None:
            body = self._codes.of(path)[function.body.start : function.body.end]
            self._set[key] = frozenset(name for pair in _CHANGED.findall(body) for name in pair)
        return self._set[key]
