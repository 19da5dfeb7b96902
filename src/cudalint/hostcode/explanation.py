"""Why is a function on a launch path, or not? The answer for a name, as plain data.

The chains are found by `cudalint.hostcode.chains` and `cudalint.hostcode.cutchain`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import msgspec

from cudalint.hostcode.chain import Chain, Hop, Hops, Named, named, qualified
from cudalint.hostcode.chains import Chains
from cudalint.hostcode.cutchain import CutChains
from cudalint.regex import regex
from cudalint.syntax.model import Launch

if TYPE_CHECKING:
    from cudalint.project.callgraph import LaunchSite, Node
    from cudalint.project.project import Project
    from cudalint.syntax.model import Function

Verdict = Literal[
    "launches", "called", "hot", "cold", "cut", "apart", "kernel", "device", "undefined"
]
ON_PATH: frozenset[Verdict] = frozenset({"launches", "called", "hot"})
"""The verdicts on functions that are on a launch path."""

_NAME = regex(r"(?:::)?(?:\w+::)*(?:~?[A-Za-z_]\w*|operator\s*[^\w\s].*)")
_ARGUMENTS = regex(r"<[^<>]*>")


class Explanation(msgspec.Struct, frozen=True):
    """The answer for one function.

    `verdict`: a launch is reached from it ("launches"), one that reaches a launch
    calls it ("called"), it is marked ("hot"); it is "cold" itself; the way to a
    launch is "cut" elsewhere; there is no such way ("apart"); or it is no host
    function with a body: "kernel", "device", "undefined". `why` says why it is cold.
    `chains` are the first of `total`; of a function on no path, the one that would
    put it on one. `callers` are the calls of a function that is apart, and the
    launches of a kernel, the first of `total_callers`.
    """

    function: Named
    verdict: Verdict
    why: str = ""
    chains: tuple[Chain, ...] = ()
    total: int = 0
    callers: tuple[Hop, ...] = ()
    total_callers: int = 0


class Explanations:
    """Answers for the functions of one project, of each the first `limit` chains."""

    def __init__(self, project: Project, limit: int) -> None:
        self._project = project
        self._limit = limit
        self._hops = Hops(project)

    def of(self, name: str) -> list[Explanation]:
        """An answer for each function of this name, by path and place; none if there is none.

        `name` may be qualified, from as far out as one likes; `::f` is only that
        of the global namespace. Raises ValueError for what can be no name.
        """
        parts = _parts(name)
        found = [
            (path, function)
            for path in sorted(self._project.models)
            for function in self._project.models[path].functions
            if function.name == parts[-1] and _is_meant(function, parts)
        ]
        kept = (node for node in self._project.graph.nodes if node.function.lambda_)
        found += [(n.path, n.function) for n in kept if _is_meant(n.function, parts)]
        found.sort(key=lambda pair: (pair[0], pair[1].index))
        return list(self._explained(found))

    def names(self) -> list[str]:
        """The names that may be asked for: plain and qualified."""
        functions = [f for model in self._project.models.values() for f in model.functions]
        functions += [node.function for node in self._project.graph.nodes]
        known = {f.name for f in functions} | {qualified(f) for f in functions}
        return sorted(known - {""})

    def _explained(self, found: list[tuple[str, Function]]) -> Iterator[Explanation]:
        """Declarations only count where nothing of their name is defined."""
        defined = {qualified(f) for _, f in found if f.kind == "definition"}
        for path, function in found:
            if function.via_macro and function.use is None:
                continue
            node = self._project.graph.node_at(path, function.index)
            if node is not None:
                yield self._host(node)
                continue
            this = Named(qualified(function), function.name_span)
            if function.kind != "definition":
                if this.name in defined:
                    continue
                defined.add(this.name)
            if function.space == "global":
                launches, total = self._launches(function)
                yield Explanation(this, "kernel", callers=launches, total_callers=total)
            elif function.kind == "definition":
                yield Explanation(this, "device")
            else:
                yield Explanation(this, "undefined")

    def _host(self, node: Node) -> Explanation:
        paths = self._project.launch_paths
        this = named(node)
        witness = paths.witness(node)
        if witness is not None:
            chains, total = self._chains.of(node, self._limit)
            verdict: Verdict = "launches" if paths.is_root(node.id) else "called"
            if verdict == "launches" and witness.launch is None:
                verdict = "hot"
            return Explanation(this, verdict, "", tuple(chains), total)
        chain = self._cut_chains.of(node)
        chains = [] if chain is None else [chain]
        if paths.is_cold(node.id):
            why = self._project.coldness.why(node.path, node.function)
            return Explanation(this, "cold", why, tuple(chains), len(chains))
        if chains:
            return Explanation(this, "cut", "", tuple(chains), len(chains))
        callers = self._callers(node)
        return Explanation(
            this, "apart", callers=callers[: self._limit], total_callers=len(callers)
        )

    @cached_property
    def _chains(self) -> Chains:
        return Chains(self._project)

    @cached_property
    def _cut_chains(self) -> CutChains:
        return CutChains(self._project)

    def _callers(self, node: Node) -> tuple[Hop, ...]:
        graph = self._project.graph
        kept = [edge for edges in graph.calls for edge in edges if edge.callee == node.id]
        cut = [edge for edges in graph.cut_calls for edge in edges if edge.callee == node.id]
        hops = [self._hops.call(edge) for edge in kept]
        hops += [self._hops.call(edge, cut=True) for edge in cut]
        return tuple(sorted(hops, key=lambda hop: hop.span))

    def _launches(self, kernel: Function) -> tuple[tuple[Hop, ...], int]:
        graph = self._project.graph
        hops = [
            self._hops.launch(site, graph.nodes[id_], cut=cut)
            for every, cut in ((graph.launches, False), (graph.cut_launches, True))
            for id_, sites in enumerate(every)
            for site in sites
            if _launched(site) == kernel.name
        ]
        hops.sort(key=lambda hop: hop.span)
        return tuple(hops[: self._limit]), len(hops)


def _parts(name: str) -> list[str]:
    """`::a::B<int>::f` gives `["", "a", "B", "f"]`. Raises ValueError."""
    text = name.strip()
    while "operator" not in text and (shorter := _ARGUMENTS.sub("", text)) != text:
        text = shorter
    if not text.rpartition("::")[2].startswith("operator"):
        text = text.partition("(")[0].strip()
    if not _NAME.fullmatch(text):
        raise ValueError(name)
    return text.split("::")


def _is_meant(function: Function, parts: list[str]) -> bool:
    whole = ["", *qualified(function).split("::")]
    return whole[-len(parts) :] == parts


def _launched(site: LaunchSite) -> str:
    """The plain name of what is launched."""
    if isinstance(site.record, Launch):
        return site.record.name
    return site.kernel.partition("<")[0].rpartition("::")[2].strip()
