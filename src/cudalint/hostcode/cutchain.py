"""The chain that would put a function on a launch path, were nothing cold: with the fewest cuts.

A cut is a cold function on the way, or a call or launch in a cold or lazy region.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import TYPE_CHECKING

from cudalint.hostcode.chain import Chain, Hop, Hops, Named, named

if TYPE_CHECKING:
    from cudalint.project.callgraph import Edge, LaunchSite, Node
    from cudalint.project.project import Project

Cost = tuple[int, int]
"""How many cuts, then how many hops."""


class CutChains:
    """Answers for the functions of one project that are on no launch path."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._graph = project.graph
        self._hops = Hops(project)
        self._cold = [project.launch_paths.is_cold(node.id) for node in self._graph.nodes]
        self._edges = [
            [*((edge, 0) for edge in kept), *((edge, 1) for edge in cut)]
            for kept, cut in zip(self._graph.calls, self._graph.cut_calls, strict=True)
        ]
        self._down: dict[int, Edge | None] = {}
        self._up: dict[int, Edge | None] = {}
        self._below(self._above())

    def of(self, node: Node) -> Chain | None:
        """The chain of `node`, None where no launch is near it in any way."""
        if node.id not in self._up:
            return None
        below: list[Edge] = []
        at = node.id
        while (edge := self._up[at]) is not None:
            below.append(edge)
            at = edge.caller
        root = at
        down: list[Edge] = []
        while (edge := self._down[at]) is not None:
            down.append(edge)
            at = edge.callee
        below.reverse()
        passed = dict.fromkeys((root, *(e.callee for e in down), *(e.callee for e in below)))
        return Chain(
            named(self._graph.nodes[root]),
            (*map(self._hop, down), self._launch(at)),
            tuple(map(self._hop, below)),
            tuple(self._why(id_) for id_ in passed if self._cold[id_]),
        )

    def _above(self) -> dict[int, Cost]:
        """What it costs to reach a launch from a node; fills `_down`."""
        callers: list[list[tuple[Edge, int]]] = [[] for _ in self._graph.nodes]
        for edges in self._edges:
            for edge, cut in edges:
                if not edge.idle:
                    callers[edge.callee].append((edge, cut))
        best: dict[int, Cost] = {}
        heap: list[tuple[Cost, int]] = []
        for node in self._graph.nodes:
            if self._graph.launches[node.id] or self._graph.cut_launches[node.id]:
                cut = int(not self._graph.launches[node.id])
                best[node.id] = (cut + self._cold[node.id], 0)
                self._down[node.id] = None
                heappush(heap, (best[node.id], node.id))
        while heap:
            cost, at = heappop(heap)
            if cost > best[at]:
                continue
            for edge, cut in callers[at]:
                further = (cost[0] + cut + self._cold[edge.caller], cost[1] + 1)
                if further < best.get(edge.caller, (further[0] + 1, 0)):
                    best[edge.caller] = further
                    self._down[edge.caller] = edge
                    heappush(heap, (further, edge.caller))
        return best

    def _below(self, best: dict[int, Cost]) -> None:
        """From the nodes that reach a launch to all that they call; fills `_up`."""
        self._up = dict.fromkeys(best)
        heap = sorted((cost, id_) for id_, cost in best.items())
        while heap:
            cost, at = heappop(heap)
            if cost > best[at]:
                continue
            for edge, cut in self._edges[at]:
                further = (cost[0] + cut + self._cold[edge.callee], cost[1] + 1)
                if further < best.get(edge.callee, (further[0] + 1, 0)):
                    best[edge.callee] = further
                    self._up[edge.callee] = edge
                    heappush(heap, (further, edge.callee))

    def _hop(self, edge: Edge) -> Hop:
        return self._hops.call(edge, cut=edge in self._graph.cut_calls[edge.caller])

    def _launch(self, launcher: int) -> Hop:
        kept = self._graph.launches[launcher]
        site: LaunchSite = (kept or self._graph.cut_launches[launcher])[0]
        return self._hops.launch(site, self._graph.nodes[launcher], cut=not kept)

    def _why(self, id_: int) -> tuple[Named, str]:
        node = self._graph.nodes[id_]
        return named(node), self._project.coldness.why(node.path, node.function)
