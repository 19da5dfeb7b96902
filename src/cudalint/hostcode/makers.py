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
        makers = self._by_name.get(call.name)
        if makers is None or branch.function < 0:
            return False
        owner = self._models[branch.span.path].functions[branch.function].owner
        of_the_object = call.receiver in _OF_THE_OBJECT
        for path, function in makers:
            if function.owner and not (of_the_object and function.owner == owner):
                continue
            if not function.owner and call.receiver:
                continue
            if function.owner and not tested.isdisjoint(self._changed(path, function)):
                return True
            if not tested.isdisjoint(names(given(call))):
                return True
            code = self._codes.of(call.span.path)
            if assigned_to(call, code, branch.span.start) in tested:
                return True
        return False

    @cached_property
    def _by_name(self) -> dict[str, list[tuple[str, Function]]]:
        """The host functions whose own bodies take memory or make a handle."""
        found: dict[str, list[tuple[str, Function]]] = {}
        for path in sorted(self._models):
            model = self._models[path]
            making = {
                enclosing(model, call.function)
                for call in model.calls
                if call.name in _MAKES and call.function >= 0 and not call.receiver
            }
            for index in sorted(making - {-1}):
                function = model.functions[index]
                if function.space == "host" and function.body is not None:
                    found.setdefault(function.name, []).append((path, function))
        return found

    def _changed(self, path: str, function: Function) -> frozenset[str]:
        """The names that a function assigns, or whose addresses it gives away."""
        key = path, function.index
        if key not in self._set and function.body is not None:
            body = self._codes.of(path)[function.body.start : function.body.end]
            self._set[key] = frozenset(name for pair in _CHANGED.findall(body) for name in pair)
        return self._set[key]
