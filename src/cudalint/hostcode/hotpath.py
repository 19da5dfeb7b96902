"""What the rules on launch paths share: calls by name, and whether they are on a path.

A call is on a path when its function is, outside cold regions; in a lazy region
it is on one too, and said to be lazy. Who is on a path and why is
`cudalint.hostcode.launchpath`; how the rules say it is `cudalint.hostcode.pathreport`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING

import msgspec

from cudalint.devicecode.devicecode import device_only
from cudalint.project.headermacros import home

if TYPE_CHECKING:
    from cudalint.hostcode.launchpath import Witness
    from cudalint.project.callgraph import Node
    from cudalint.project.project import Project
    from cudalint.syntax.model import Call, Launch


class OnPath(msgspec.Struct, frozen=True):
    """A place on a launch path: the name of its function, and why that is on one.

    `lazy`: in a branch that makes the resource which it finds absent or too small.
    """

    function: str
    witness: Witness
    lazy: bool


class HotPath:
    """The calls of a run by name; the call graph is built at the first question about a path."""

    def __init__(self, project: Project) -> None:
        self._project = project

    @property
    def names(self) -> Iterable[str]:
        """The names of everything that is called anywhere."""
        return self._calls.keys()

    def calls(self, names: Iterable[str]) -> Iterator[Call]:
        """The calls of these names, in all files and through all macros, by path and place."""
        for name in sorted(names):
            yield from self._calls.get(name, ())

    def api_calls(self, names: Iterable[str]) -> Iterator[Call]:
        """Those of them that mean a free function at global scope, as API functions are."""
        return (call for call in self.calls(names) if self.is_api(call))

    def is_api(self, call: Call) -> bool:
        """Whether no class, namespace or object stands before the name, nor is meant."""
        plain = call.callee.partition("<")[0].removeprefix("::").strip()
        if call.receiver or plain != call.name:
            return False
        if call.callee.startswith("::") or call.function < 0 or call.name not in self._methods:
            return True
        function = self._project.models[home(call)].functions[call.function]
        return function.owner not in self._methods[call.name]

    def place(self, record: Call | Launch) -> OnPath | None:
        """Where `record` is on a launch path; None in device code, cold code and elsewhere."""
        node = self._node(record)
        witness = None if node is None else self._project.launch_paths.witness(node)
        if node is None or witness is None:
            return None
        return OnPath(node.function.name, witness, self._project.cold_regions.lazy(record))

    def lazy_place(self, record: Call | Launch) -> OnPath | None:
        """Where `record` runs at the first need alone: in a lazy region, or called in one."""
        node = self._node(record)
        if node is None:
            return None
        paths = self._project.launch_paths
        if paths.is_on_path(node.id):
            witness = paths.witness(node) if self._project.cold_regions.lazy(record) else None
        else:
            witness = self._project.lazy_paths.witness(node)
        return None if witness is None else OnPath(node.function.name, witness, lazy=True)

    def _node(self, record: Call | Launch) -> Node | None:
        """The function of `record`; None for device code, cold regions and macros' bodies."""
        path = home(record)
        if record.function < 0 or (record.via_macro and record.use is None):
            return None
        if device_only(self._project.models[path], record.function):
            return None
        node = self._project.graph.node_at(path, record.function)
        return None if node is None or self._project.cold_regions.cold(record) else node

    @cached_property
    def _calls(self) -> dict[str, list[Call]]:
        found: dict[str, list[Call]] = {}
        for path in sorted(self._project.models):
            model = self._project.models[path]
            for call in model.calls:
                found.setdefault(call.name, []).append(call)
            for call in self._project.header_macros.calls(model):
                found.setdefault(call.name, []).append(call)
        return found

    @cached_property
    def _methods(self) -> dict[str, set[str]]:
        """The classes that have a method of a name."""
        found: dict[str, set[str]] = {}
        for model in self._project.models.values():
            for function in model.functions:
                if function.owner:
                    found.setdefault(function.name, set()).add(function.owner)
        return found
