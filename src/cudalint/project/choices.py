"""Calls that may mean several overloads, and which one they mean where that matters.

Where all of them do the same to a launch path, nothing is asked. Else the number
of arguments is held to the defaults that the classes state, and then libclang is
asked; where it can't tell, the call means each of them and is uncertain.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from cudalint.project.effects import effects
from cudalint.regex import regex

if TYPE_CHECKING:
    from cudalint.project.callgraph import CallGraph, Edge
    from cudalint.project.project import Project
    from cudalint.source import SourceFile
    from cudalint.syntax.model import Call, Function

_CONST_AT_END = regex(r"\)\s*(const)\b[^()]*$")


class Choice(msgspec.Struct, frozen=True):
    """A call in the file at `path`, with an edge to each function that it may mean."""

    path: str
    call: Call
    edges: tuple[Edge, ...]


def settle(project: Project, graph: CallGraph, choices: Sequence[Choice]) -> None:
    """Take the edges out of `graph` that a choice rules out, and mark those it can't rule on."""
    if not choices:
        return
    done = effects(project, graph)
    methods = _Methods(project)
    for choice in choices:
        nodes = [graph.nodes[edge.callee] for edge in choice.edges]
        if len({done[node.id] for node in nodes}) == 1:
            continue
        candidates = [(node.path, node.function) for node in nodes]
        fitting = [n for n, (_, f) in enumerate(candidates) if methods.may_take(f, choice.call)]
        left = [candidates[number] for number in fitting]
        if len({done[nodes[number].id] for number in fitting}) > 1 and _are_overloads(
            left, project.sources
        ):
            told = project.overloads.called(choice.path, choice.call, left)
            _replace(graph, choice, None if told is None else {fitting[n] for n in told})
        elif len(left) < len(candidates):
            _replace(graph, choice, set(fitting))


class _Methods:
    """The methods of classes, declared or defined; looked through at the first question."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._known: dict[tuple[str, str], list[Function]] | None = None

    def may_take(self, function: Function, call: Call) -> bool:
        """Whether a method, by the defaults that its class states, may have so few arguments."""
        if not function.owner or b"..." in call.argument_text:
            return True
        types = [parameter.type for parameter in function.parameters]
        same = [
            other
            for other in self._named(function.owner, function.name)
            if [parameter.type for parameter in other.parameters] == types
        ]
        if not any(self._stands_in_class(other) for other in same):
            return True
        defaults = [[p.default is not None for p in other.parameters] for other in same]
        needed = sum(not any(given) for given in zip(*defaults, strict=True))
        return needed <= len(call.arguments)

    def _named(self, owner: str, name: str) -> list[Function]:
        if self._known is None:
            self._known = {}
            for model in self._project.models.values():
                for function in model.functions:
                    if function.owner:
                        key = (function.owner, function.name)
                        self._known.setdefault(key, []).append(function)
        return self._known.get((owner, name), [])

    def _stands_in_class(self, function: Function) -> bool:
        source = self._project.sources.get(function.span.path)
        if source is None or function.via_macro:
            return False
        before = source.data[function.head.start : function.name_span.start]
        return not before.rstrip().endswith(b"::")


def _are_overloads(
    candidates: Sequence[tuple[str, Function]], sources: Mapping[str, SourceFile]
) -> bool:
    """Whether two of the functions are of one class or namespace and differ in parameters.

    Overrides in derived classes do not count, nor does a function that several
    files or specialisations define.
    """
    seen: dict[str | tuple[str, ...], tuple[str, ...]] = {}
    for path, function in candidates:
        types = [parameter.type for parameter in function.parameters]
        if function.owner and path in sources:
            head = sources[path].data[function.head.start : function.head.end]
            types += _CONST_AT_END.findall(head.decode("utf-8", "replace"))
        if seen.setdefault(function.owner or function.scope, tuple(types)) != tuple(types):
            return True
    return False


def _replace(graph: CallGraph, choice: Choice, meant: Collection[int] | None) -> None:
    """`meant` are the numbers of the edges that stay; None leaves all of them, uncertain."""
    instead: dict[int, Edge | None] = {}
    for number, edge in enumerate(choice.edges):
        if meant is None:
            instead[id(edge)] = msgspec.structs.replace(edge, certain=False)
        elif number not in meant:
            instead[id(edge)] = None
    calls = graph.calls[choice.edges[0].caller]
    calls[:] = [kept for edge in calls if (kept := instead.get(id(edge), edge)) is not None]
