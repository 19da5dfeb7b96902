"""Calls that may mean several overloads, and which one they mean where that matters.

Where all of them do the same to a launch path, nothing is asked. Else libclang
is; where it can't tell, the call means each of them and is uncertain.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from cudalint.project.effects import effects

if TYPE_CHECKING:
    from cudalint.project.callgraph import CallGraph, Edge
    from cudalint.project.project import Project
    from cudalint.syntax.model import Call, Function


class Choice(msgspec.Struct, frozen=True):
    """A call in the file at `path`, with an edge to each function that it may mean."""

    path: str
    call: Call
    edges: tuple[Edge, ...]


def are_overloads(targets: Sequence[tuple[str, Function]]) -> bool:
    """Whether two of the functions are of one class or namespace and differ in parameters.

    Overrides in derived classes do not count, nor does a function that several
    files define. Methods of one file may differ in `const` alone.
    """
    seen: dict[tuple[tuple[str, ...], str], tuple[str, ...]] = {}
    for path, function in targets:
        types = tuple(parameter.type for parameter in function.parameters)
        key = (function.scope, path if function.owner else "")
        if key in seen and (function.owner or seen[key] != types):
            return True
        seen.setdefault(key, types)
    return False


def settle(project: Project, graph: CallGraph, choices: Sequence[Choice]) -> None:
    """Take the edges out of `graph` that a choice rules out, and mark those it can't rule on."""
    if not choices:
        return
    done = effects(project, graph)
    for choice in choices:
        if len({done[edge.callee] for edge in choice.edges}) == 1:
            continue
        candidates = [graph.nodes[edge.callee] for edge in choice.edges]
        meant = project.overloads.called(
            choice.path, choice.call, [(node.path, node.function) for node in candidates]
        )
        _replace(graph, choice, meant)


def _replace(graph: CallGraph, choice: Choice, meant: frozenset[int] | None) -> None:
    """`meant` are the numbers of the edges that stay; None leaves all of them, uncertain."""
    instead: dict[int, Edge | None] = {}
    for number, edge in enumerate(choice.edges):
        if meant is None:
            instead[id(edge)] = msgspec.structs.replace(edge, certain=False)
        elif number not in meant:
            instead[id(edge)] = None
    calls = graph.calls[choice.edges[0].caller]
    calls[:] = [kept for edge in calls if (kept := instead.get(id(edge), edge)) is not None]
