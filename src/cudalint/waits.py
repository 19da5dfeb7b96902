"""Finds the calls with which the host waits for the GPU, and judges where they are.

Which functions are on a launch path is `cudalint.launchpath`; how the finding is
worded is rule CU301's business.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

import msgspec

from cudalint.devicecode import device_only
from cudalint.headermacros import home

if TYPE_CHECKING:
    from cudalint.launchpath import Witness
    from cudalint.project import Project
    from cudalint.syntax.model import Call

WAITS = frozenset(
    {
        *("cudaDeviceSynchronize", "cudaThreadSynchronize", "cudaStreamSynchronize"),
        *("cudaEventSynchronize", "cuCtxSynchronize", "cuStreamSynchronize"),
        "cuEventSynchronize",
    }
)
"""The calls of the runtime and the driver that return when work of the GPU is done."""


class Wait(msgspec.Struct, frozen=True):
    """A wait that should not be: in device code (`witness` None), or on a launch path."""

    function: str
    witness: Witness | None


def waits_of(project: Project, functions: Collection[str]) -> Iterator[Call]:
    """The calls that wait, in all files and through all macros.

    `functions` are further functions that do: qualified names, or plain ones
    for methods and functions of any class and namespace.
    """
    names = WAITS | {name.rpartition("::")[2] for name in functions}
    for model in project.models.values():
        for call in model.calls:
            if call.name in names and _is_wait(call, functions):
                yield call
        for call in project.header_macros.calls(model):
            if call.name in names and _is_wait(call, functions):
                yield call


def _is_wait(call: Call, functions: Collection[str]) -> bool:
    plain = call.callee.removeprefix("::")
    if call.name in WAITS and plain == call.name:
        return True
    return plain in functions or call.name in functions


class WaitJudge:
    """Judges single waits; the call graph is built at the first one in host code."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._methods = {
            (function.owner, function.name)
            for model in project.models.values()
            for function in model.functions
            if function.owner and function.name in WAITS
        }

    def judge(self, call: Call) -> Wait | None:
        """What is wrong with the wait, None for one that is where it may be."""
        path = home(call)
        model = self._project.models[path]
        if call.function < 0 or self._is_method(call):
            return None
        if device_only(model, call.function):
            name = model.functions[call.function].name or "a lambda"
            return Wait(name, None) if call.name == "cudaDeviceSynchronize" else None
        node = self._project.graph.node_at(path, call.function)
        if node is None or self._project.cold_regions.holds(call):
            return None
        witness = self._project.launch_paths.witness(node)
        if witness is None:
            return None
        from cudalint.terminal import terminal_copy

        return None if terminal_copy(call, model) else Wait(node.function.name, witness)

    def _is_method(self, call: Call) -> bool:
        """Whether an unqualified call in a class means a method of that class."""
        if not self._methods or call.callee.startswith("::"):
            return False
        function = self._project.models[home(call)].functions[call.function]
        return (function.owner, call.name) in self._methods
