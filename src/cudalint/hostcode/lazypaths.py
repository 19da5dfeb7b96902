"""Functions that run at the first need of a resource alone: called in lazy regions of paths.

They are on no launch path, and what they take is said by CU310. Who is on one is
`cudalint.hostcode.launchpath`; which regions are lazy, `cudalint.hostcode.coldregions`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec

from cudalint.hostcode.launchpath import LaunchPaths, Witness

if TYPE_CHECKING:
    from cudalint.hostcode.coldregions import ColdRegions
    from cudalint.project.callgraph import CallGraph, Edge, Node


class LazyPaths:
    """The functions of a run that are reached through a lazy call, found once."""

    def __init__(self, graph: CallGraph, paths: LaunchPaths, regions: ColdRegions) -> None:
        self._graph = graph
        self._paths = paths
        self._regions = regions
        self._up: dict[int, Edge] = {}
        pending = deque(node.id for node in graph.nodes if paths.is_on_path(node.id))
        while pending:
            at = pending.popleft()
            beyond = self._graph.calls[at] if at in self._up else ()
            for edge in (*beyond, *self._lazy(at)):
                known = edge.callee in self._up or paths.is_on_path(edge.callee)
                if not known and not paths.is_cold(edge.callee):
                    self._up[edge.callee] = edge
                    pending.append(edge.callee)

    def witness(self, node: Node) -> Witness | None:
        """The way from a launch path to `node`, None where no lazy call leads to it."""
        below: list[Edge] = []
        at = node.id
        while at in self._up:
            below.append(self._up[at])
            at = self._up[at].caller
        start = self._paths.witness(self._graph.nodes[at]) if below else None
        if start is None:
            return None
        hops = tuple(self._paths.hop(edge) for edge in reversed(below))
        return msgspec.structs.replace(start, below=(*start.below, *hops))

    def _lazy(self, id_: int) -> Iterator[Edge]:
        """The calls of a function in its lazy regions, those that can mean one function alone."""
        edges = self._graph.cut_calls[id_]
        for edge in edges:
            alone = all(e.callee == edge.callee for e in edges if e.record is edge.record)
            if alone and self._regions.lazy(edge.record) and not self._regions.cold(edge.record):
                yield edge
