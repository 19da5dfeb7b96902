"""Which host functions are on a launch path, with one shortest witness for each.

A function is on a launch path when a launch is reachable from it, or when a
function from which one is reachable calls it. Cold functions are on none, and
nothing is reached through them. The calls are `cudalint.project.callgraph`.
"""

from __future__ import annotations

from heapq import heappop, heappush

import msgspec

from cudalint.finding import Span
from cudalint.hostcode.coldness import Coldness
from cudalint.project.callgraph import CallGraph, Edge, LaunchSite, Node


class Hop(msgspec.Struct, frozen=True):
    """A call on a launch path: where it stands, and the name of the function it calls.

    `certain` is false where the call may mean another overload.
    """

    span: Span
    callee: str
    certain: bool = True


class Witness(msgspec.Struct, frozen=True):
    """Why a function is on a launch path, by the shortest way there is.

    `root` is the name of the function from which the launch is reached, and
    `root_span` the place of that name; `below` are the calls from the root to
    the function (none when it is the root itself); `down` the calls from the
    root to the launcher; `launch` the launch, None for a function that is only
    marked hot, or called from such a one.
    """

    root: str
    root_span: Span
    below: tuple[Hop, ...]
    down: tuple[Hop, ...]
    launch: LaunchSite | None

    @property
    def certain(self) -> bool:
        """Whether each of its calls means the function that it is said to call."""
        return all(hop.certain for hop in (*self.down, *self.below))


class LaunchPaths:
    """The launch paths of a run, found once.

    The shortest way is the one with the fewest uncertain calls, and among these
    the one with the fewest calls.
    """

    def __init__(self, graph: CallGraph, coldness: Coldness) -> None:
        self._graph = graph
        nodes = graph.nodes
        self._detour = len(nodes) + 1
        self._cold = [coldness.is_cold(node.path, node.function) for node in nodes]
        self._down: dict[int, Edge | None] = {}
        self._reach: dict[int, int] = {}
        self._find_roots()
        for node in nodes:
            forced = node.id not in self._reach and coldness.is_forced(node.path, node.function)
            if forced:
                self._down[node.id] = None
                self._reach[node.id] = len(nodes)
        self._up: dict[int, Edge | None] = {}
        self._find_callees()

    def witness(self, node: Node) -> Witness | None:
        """Why `node` is on a launch path, or None when it is on none."""
        if node.id not in self._up:
            return None
        below: list[Edge] = []
        at = node.id
        while (edge := self._up[at]) is not None:
            below.append(edge)
            at = edge.caller
        root = self._graph.nodes[at].function
        down = self.down(at)
        launcher = down[-1].callee if down else at
        sites = self._graph.launches[launcher]
        return Witness(
            root=root.name,
            root_span=root.name_span,
            below=tuple(self.hop(edge) for edge in reversed(below)),
            down=tuple(self.hop(edge) for edge in down),
            launch=sites[0] if sites else None,
        )

    def is_cold(self, id_: int) -> bool:
        """Whether the node with this id is a cold function."""
        return self._cold[id_]

    def is_on_path(self, id_: int) -> bool:
        """Whether the node with this id is on a launch path."""
        return id_ in self._up

    def is_root(self, id_: int) -> bool:
        """Whether a launch is reached from the node with this id, or it is marked hot."""
        return id_ in self._reach

    def distance(self, id_: int) -> int:
        """The calls from a root to the nearest launch; more than any for one only marked hot."""
        return self._reach[id_]

    def down(self, id_: int) -> list[Edge]:
        """The calls from a root to the launcher that is nearest."""
        found = []
        while (edge := self._down[id_]) is not None:
            found.append(edge)
            id_ = edge.callee
        return found

    def hop(self, edge: Edge) -> Hop:
        """A call as a step of a witness."""
        return Hop(edge.span, self._graph.nodes[edge.callee].function.name, edge.certain)

    def _length(self, edge: Edge) -> int:
        """An uncertain call is longer than any way of certain ones."""
        return 1 if edge.certain else self._detour

    def _find_roots(self) -> None:
        """From the launchers to their callers, the nearest first; of equals the first found."""
        callers: list[list[Edge]] = [[] for _ in self._graph.nodes]
        for edges in self._graph.calls:
            for edge in edges:
                if not edge.idle:
                    callers[edge.callee].append(edge)
        best: dict[int, int] = {}
        heap: list[tuple[int, int, int]] = []
        for node in self._graph.nodes:
            if self._graph.launches[node.id] and not self._cold[node.id]:
                self._down[node.id] = None
                best[node.id] = 0
                heap.append((0, len(heap), node.id))
        pushed = len(heap)
        while heap:
            distance, _, at = heappop(heap)
            if at in self._reach:
                continue
            self._reach[at] = distance
            for edge in callers[at]:
                caller, length = edge.caller, distance + self._length(edge)
                if self._cold[caller] or length >= best.get(caller, length + 1):
                    continue
                best[caller] = length
                self._down[caller] = edge
                heappush(heap, (length, pushed, caller))
                pushed += 1

    def _find_callees(self) -> None:
        """Down from the roots: a function that is a root is its own witness."""
        heap: list[tuple[int, int]] = []
        for root in sorted(self._reach):
            self._up[root] = None
            heappush(heap, (self._reach[root], root))
        best = dict(self._reach)
        while heap:
            distance, at = heappop(heap)
            if distance > best[at]:
                continue
            for edge in self._graph.calls[at]:
                callee = edge.callee
                if self._cold[callee] or callee in self._reach:
                    continue
                length = distance + self._length(edge)
                if length < best.get(callee, length + 1):
                    best[callee] = length
                    self._up[callee] = edge
                    heappush(heap, (length, callee))
