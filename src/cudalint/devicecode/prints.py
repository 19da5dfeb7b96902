"""Finds the calls that print or assert, and tells which of them device code makes.

How they are reported and mended is rule CU201's business.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cudalint.devicecode.devicecode import enclosing, on_device
from cudalint.project.headermacros import home

if TYPE_CHECKING:
    from cudalint.project.conditions import EveryBuild
    from cudalint.project.project import Project
    from cudalint.syntax.model import Call

NAMES = frozenset({"printf", "vprintf", "puts", "assert"})
"""The functions of the C library that the device has too, and that write to the host."""


class PrintJudge:
    """Judges the calls that print or assert, in all files of a run."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._conditions: dict[str, EveryBuild] = {}

    def calls(self) -> Iterator[Call]:
        """The calls of the C library's functions, those in macros' bodies included."""
        for model in self._project.models.values():
            own = {
                f.name
                for f in model.functions
                if f.name in NAMES and (f.kind == "definition" or f.owner or f.scope)
            }
            for call in (*model.calls, *self._project.header_macros.calls(model)):
                if call.name in NAMES and not call.receiver and _is_plain(call, own):
                    yield call

    def verdict(self, call: Call) -> str | None:
        """The name of the device code that makes the call, None where host code does."""
        model = self._project.models[home(call)]
        if not on_device(model, call.function):
            return None
        for span in (call.span, call.use):
            if span is not None and self._of(span.path).leave_out(span):
                return None
        return model.functions[enclosing(model, call.function)].name or "a lambda"

    def _of(self, path: str) -> EveryBuild:
        if path not in self._conditions:
            from cudalint.project.conditions import every_build

            model = self._project.models[path]
            self._conditions[path] = every_build(self._project, model, default_build=False)
        return self._conditions[path]


def _is_plain(call: Call, own: set[str]) -> bool:
    """Whether it is the C library's function, and no function of the file's own."""
    qualifier = call.callee[: len(call.callee) - len(call.name)]
    return qualifier in ("::", "std::", "::std::") or (not qualifier and call.name not in own)
