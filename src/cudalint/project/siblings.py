"""Overrides that take the place of the one that launches.

A thread's entry that nobody calls runs `work()` of its own object: where one class
launches in it and that is the only launch, what another class does in its `work()`
is on no launch path. Where anybody calls the entry, it may be on several objects.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

    from cudalint.project.callgraph import CallGraph, Edge


def drop_siblings(graph: CallGraph, reaching: Collection[int]) -> None:
    """Take out of `graph` the calls of such overrides; from `reaching` a launch is reached."""
    called = {edge.callee for calls in (graph.calls, graph.cut_calls) for e in calls for edge in e}
    for node in graph.nodes:
        if node.id in reaching and node.id not in called and not graph.launches[node.id]:
            edges = graph.calls[node.id]
            launching = [edge for edge in edges if edge.callee in reaching]
            if len({id(edge.record) for edge in launching}) == 1 and _on_itself(launching[0]):
                owners = {graph.nodes[edge.callee].function.owner for edge in launching}
                edges[:] = [
                    edge
                    for edge in edges
                    if edge.record is not launching[0].record
                    or graph.nodes[edge.callee].function.owner in owners
                ]


def _on_itself(edge: Edge) -> bool:
    """Whether a method is called on the object whose method calls it."""
    return edge.record.receiver in ("", "this")
