"""Calls whose arguments turn off every launch that the function could reach.

`take(&p, n, false)` where `take` launches under `if (fill)`; `sort(nullptr, bytes)`,
which only says how large its workspace must be. What else such a function does, it
does. Literal arguments decide, and parameters that hand them on unchanged; the
branches are `if`, `else` and what stands after an `if` that leaves.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

from cudalint.project.headermacros import home
from cudalint.regex import regex

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from cudalint.project.callgraph import CallGraph, Edge, Node
    from cudalint.source import SourceFile
    from cudalint.syntax.model import Branch, Call, FileModel, Launch

_LITERAL = rb"\b(?:false|nullptr|NULL|0)\b"
_NOTHING = frozenset(("false", "nullptr", "NULL", "0"))
_HELD = regex(r"([A-Za-z_]\w*)(?:\s*!=\s*(?:nullptr|NULL|0|false))?$")
_MISSED = regex(r"!\s*([A-Za-z_]\w*)$|([A-Za-z_]\w*)\s*==\s*(?:nullptr|NULL|0|false)$")
_SOME_LITERAL = regex(_LITERAL)


def mark_idle(
    graph: CallGraph, models: Mapping[str, FileModel], sources: Mapping[str, SourceFile]
) -> None:
    """Mark the edges of `graph` that lead to no launch, though their function does."""
    idle = _Idle(graph, models, sources)
    for edges in graph.calls:
        for number, edge in enumerate(edges):
            if idle.is_idle(edge):
                edges[number] = msgspec.structs.replace(edge, idle=True)


class _Idle:
    def __init__(
        self,
        graph: CallGraph,
        models: Mapping[str, FileModel],
        sources: Mapping[str, SourceFile],
    ) -> None:
        self._graph = graph
        self._models = models
        self._sources = sources
        self._reaching = reaching(graph)
        self._runs: dict[tuple[int, frozenset[str]], bool] = {}
        self._branches: dict[int, list[Branch]] = {}

    def is_idle(self, edge: Edge) -> bool:
        """Whether the literal arguments of a call turn off all launches below."""
        if edge.callee not in self._reaching:
            return False
        off = self._given(edge, frozenset())
        return bool(off) and not self._launches(edge.callee, off)

    def _given(self, edge: Edge, off: frozenset[str]) -> frozenset[str]:
        """The parameters that a call gives nothing, where those of its caller in `off` are."""
        call = edge.record
        if not off and not _SOME_LITERAL.search(call.argument_text):
            return frozenset()
        texts = [argument.text for argument in call.arguments]
        if any("..." in text or "__VA_ARGS__" in text for text in texts):
            return frozenset()
        node = self._graph.nodes[edge.callee]
        pairs = zip(node.function.parameters, texts, strict=False)
        return frozenset(
            parameter.name
            for parameter, text in pairs
            if (text in _NOTHING or text in off) and self._stays(parameter.name, node)
        )

    def _stays(self, name: str, node: Node) -> bool:
        """Whether a parameter keeps in its function what it was given."""
        body, source = node.function.body, self._sources.get(node.path)
        if body is None or source is None or not name:
            return False
        word = re.escape(name.encode())
        changed = regex(rb"(?<![\w.>])%b\s*=(?!=)|(?<!&)&\s*%b\b(?!\s*[\[.-])" % (word, word))
        return changed.search(source.data, body.start, body.end) is None

    def _launches(self, id_: int, off: frozenset[str]) -> bool:
        """Whether a node reaches a launch when it is given nothing for the parameters in `off`."""
        key = (id_, off)
        if key not in self._runs:
            self._runs[key] = True  # what calls itself is taken to launch
            self._runs[key] = self._reaches(self._graph.nodes[id_], off)
        return self._runs[key]

    def _reaches(self, node: Node, off: frozenset[str]) -> bool:
        sites = self._graph.launches[node.id]
        if any(not self._is_skipped(site.record, node, off) for site in sites):
            return True
        for edge in self._graph.calls[node.id]:
            if edge.callee in self._reaching and not self._is_skipped(edge.record, node, off):
                given = self._given(edge, off)
                if not given or self._launches(edge.callee, given):
                    return True
        return False

    def _is_skipped(self, record: Call | Launch, node: Node, off: frozenset[str]) -> bool:
        """Whether a record of a node is not reached with nothing in the parameters in `off`."""
        if home(record) != node.path:
            return False
        at = (record.use or record.span).start
        branches = self._of(node)
        for branch in branches:
            if branch.span.start <= at < branch.span.end:
                misses = _HELD if branch.keyword == "if" else _MISSED
                if branch.keyword in ("if", "else") and _names(branch, misses) & off:
                    return True
            elif branch.keyword == "if" and branch.exits and branch.span.end <= at:
                alone = not any(_holds(other, branch) for other in branches)
                if alone and _names(branch, _MISSED) & off:
                    return True
        return False

    def _of(self, node: Node) -> list[Branch]:
        if node.id not in self._branches:
            index = node.function.index
            all_ = self._models[node.path].branches
            self._branches[node.id] = [branch for branch in all_ if branch.function == index]
        return self._branches[node.id]


def reaching(graph: CallGraph) -> frozenset[int]:
    """The nodes from which there is a way to a launch."""
    callers: list[list[int]] = [[] for _ in graph.nodes]
    for edges in graph.calls:
        for edge in edges:
            callers[edge.callee].append(edge.caller)
    pending = [node.id for node in graph.nodes if graph.launches[node.id]]
    found = set(pending)
    while pending:
        for caller in callers[pending.pop()]:
            if caller not in found:
                found.add(caller)
                pending.append(caller)
    return frozenset(found)


def _names(branch: Branch, pattern: re.Pattern[str]) -> frozenset[str]:
    """The names that decide a branch alone, as `pattern` finds them.

    Being held is needed with each other operand of `&&`; being missed is enough
    with each other one of `||`.
    """
    operator, other = ("&&", "||") if pattern is _HELD else ("||", "&&")
    if other in branch.condition:
        return frozenset()
    return frozenset(_operands(branch.condition, operator, pattern))


def _operands(condition: str, operator: str, pattern: re.Pattern[str]) -> Iterator[str]:
    for operand in condition.split(operator):
        plain = operand.strip()
        if plain.startswith("(") and plain.endswith(")") and plain.count("(") == 1:
            plain = plain[1:-1].strip()
        match = pattern.match(plain)
        if match is not None:
            yield next(group for group in match.groups() if group)


def _holds(outer: Branch, inner: Branch) -> bool:
    return outer is not inner and outer.span.start <= inner.span.start < outer.span.end
