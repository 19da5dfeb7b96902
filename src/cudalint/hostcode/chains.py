"""All chains between launches and a function that is on a launch path, shortest first.

For a function that reaches a launch: one for each launch that it reaches. For
one that is only called on the way: one for each function that reaches a launch
and calls it. Why a function is on no path is `cudalint.hostcode.cutchain`.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from cudalint.hostcode.chain import Chain, Hops, named

if TYPE_CHECKING:
    from cudalint.project.callgraph import Edge, LaunchSite, Node
    from cudalint.project.project import Project


class Chains:
    """Answers for the functions of one project."""

    def __init__(self, project: Project) -> None:
        self._graph = project.graph
        self._paths = project.launch_paths
        self._hops = Hops(project)
        self._callers: list[list[Edge]] = [[] for _ in self._graph.nodes]
        for edges in self._graph.calls:
            for edge in edges:
                self._callers[edge.callee].append(edge)

    def of(self, node: Node, limit: int) -> tuple[list[Chain], int]:
        """The first `limit` chains of a function on a launch path, and how many there are."""
        if self._paths.is_root(node.id):
            found = self._launches_of(node)
            chains = [self._down(node, calls, site) for calls, site in found[:limit]]
            return chains or [Chain(named(node), (), ())], max(len(found), 1)
        roots = self._roots_of(node)
        return [self._from(calls) for calls in roots[:limit]], len(roots)

    def _launches_of(self, root: Node) -> list[tuple[list[Edge], LaunchSite]]:
        """Each launch that is reached from `root`, with the fewest calls to its function."""
        ways = self._ways(root, self._graph.calls, upward=False)
        found = [(way, site) for id_, way in ways.items() for site in self._graph.launches[id_]]
        return sorted(found, key=lambda pair: (len(pair[0]), pair[1].span))

    def _roots_of(self, node: Node) -> list[list[Edge]]:
        """The fewest calls from each root to `node`, those from nearest a launch first."""
        ways = self._ways(node, self._callers, upward=True)
        found = [list(reversed(way)) for id_, way in ways.items() if self._paths.is_root(id_)]
        return sorted(found, key=self._length)

    def _length(self, calls: list[Edge]) -> tuple[int, int]:
        root = calls[0].caller
        return len(calls) + self._paths.distance(root), root

    def _ways(self, start: Node, edges: list[list[Edge]], *, upward: bool) -> dict[int, list[Edge]]:
        """By node, the fewest edges from `start` to it; upward no further than to a root."""
        ways: dict[int, list[Edge]] = {start.id: []}
        pending = deque([start.id])
        while pending:
            at = pending.popleft()
            if upward and self._paths.is_root(at):
                continue
            for edge in edges[at]:
                other = edge.caller if upward else edge.callee
                if edge.idle and not upward:
                    continue
                if other not in ways and not self._paths.is_cold(other):
                    ways[other] = [*ways[at], edge]
                    pending.append(other)
        return ways

    def _down(self, root: Node, calls: list[Edge], site: LaunchSite) -> Chain:
        launcher = self._graph.nodes[calls[-1].callee] if calls else root
        hops = [self._hops.call(edge) for edge in calls]
        return Chain(named(root), (*hops, self._hops.launch(site, launcher)), ())

    def _from(self, below: list[Edge]) -> Chain:
        root = self._graph.nodes[below[0].caller]
        down = self._paths.down(root.id)
        sites = self._graph.launches[down[-1].callee if down else root.id]
        hops = tuple(self._hops.call(edge) for edge in below)
        if not sites:
            return Chain(named(root), (), hops)
        return Chain(named(root), self._down(root, down, sites[0]).down, hops)
