"""What functions do to a launch path, by themselves and through all that they call.

Coarse on purpose: it says whether it matters which of two functions a call means.
Calls are judged one by one by the rules.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Flag, auto
from typing import TYPE_CHECKING

from cudalint.hostcode.memorycalls import GIVING, HOST_GIVING, HOST_TAKING, MAKING, TAKING
from cudalint.hostcode.transfers import COPIES, TO_DEVICE_DRIVER, TO_SYMBOL
from cudalint.hostcode.waits import WAITS
from cudalint.project.headermacros import home
from cudalint.regex import regex

if TYPE_CHECKING:
    from cudalint.project.callgraph import CallGraph
    from cudalint.project.project import Project


class Effect(Flag):
    """The kinds of things that rules on launch paths look for."""

    NONE = 0
    LAUNCH = auto()
    WAIT = auto()
    MEMORY = auto()
    COPY = auto()
    OTHER = auto()


_KINDS = (
    (WAITS, Effect.WAIT),
    (TAKING | GIVING | HOST_TAKING | HOST_GIVING | MAKING, Effect.MEMORY),
    (COPIES | TO_SYMBOL | TO_DEVICE_DRIVER, Effect.COPY),
)
_BY_NAME = {name: effect for names, effect in _KINDS for name in names}
_API = regex(r"cu(?:da|blas|dnn|fft|rand|solver|sparse)?[A-Z]")


def effects(project: Project, graph: CallGraph) -> list[Effect]:
    """The effects of each node of the graph, in the order of the nodes."""
    found = [Effect.LAUNCH if sites else Effect.NONE for sites in graph.launches]
    for node, effect in _own(project, graph):
        found[node] |= effect
    callers: list[list[int]] = [[] for _ in graph.nodes]
    for edges in graph.calls:
        for edge in edges:
            callers[edge.callee].append(edge.caller)
    pending = [node for node, effect in enumerate(found) if effect]
    while pending:
        at = pending.pop()
        for caller in callers[at]:
            if found[at] not in found[caller]:
                found[caller] |= found[at]
                pending.append(caller)
    return found


def _own(project: Project, graph: CallGraph) -> Iterator[tuple[int, Effect]]:
    """What nodes do themselves, outside cold regions."""
    for name in project.hot_path.names:
        effect = _BY_NAME.get(name)
        if effect is None and name.startswith("cu") and _API.match(name):
            effect = Effect.OTHER
        if effect is None:
            continue
        for call in project.hot_path.calls((name,)):
            if not call.receiver:
                node = graph.node_of(home(call), call)
                if node is not None and not project.cold_regions.holds(call):
                    yield node.id, effect
