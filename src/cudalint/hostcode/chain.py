"""Chains of calls between a launch and a function, hop by hop.

Which chains there are is `cudalint.hostcode.chains` for functions on a launch
path and `cudalint.hostcode.cutchain` for others; how they are written, the
reporters say.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec

from cudalint.finding import Span
from cudalint.project.callgraph import LAUNCH_CALLS
from cudalint.project.headermacros import home
from cudalint.syntax.model import Launch

if TYPE_CHECKING:
    from cudalint.project.callgraph import CallGraph, Edge, LaunchSite, Node
    from cudalint.project.project import Project
    from cudalint.syntax.model import Call, Function


class Named(msgspec.Struct, frozen=True, order=True):
    """A function by its qualified name, with the place of that name in its definition."""

    name: str
    span: Span


class Hop(msgspec.Struct, frozen=True):
    """One call or launch: `caller` calls or launches `callee` at `span`.

    `means` is "<<<>>>", the API function's name, or `launch-functions` for a
    launch, "" for a call. `macro` is the macro whose body holds it, `in_lambda`
    whether a lambda does. `cut` says why the hop does not count, "" where it does;
    `certain` is false for a call that may mean another overload.
    For a launch, `callee` is what is launched, with the place of the launch.
    """

    kind: Literal["call", "method", "launch"]
    caller: Named
    callee: Named
    span: Span
    means: str = ""
    macro: str = ""
    in_lambda: bool = False
    cut: str = ""
    certain: bool = True


class Chain(msgspec.Struct, frozen=True):
    """From `root`, which launches or calls what does, to the function that was asked for.

    `down` are the hops from the root to the launch, the launch last; none for a
    root that is only marked `cudalint: hot`. `below` are those from the root to
    the function, none where it is the root itself. `cold` are the functions on the
    way that are cold, each with why.
    """

    root: Named
    down: tuple[Hop, ...]
    below: tuple[Hop, ...]
    cold: tuple[tuple[Named, str], ...] = ()


class Hops:
    """Makes hops of what the call graph holds."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._graph: CallGraph = project.graph

    def call(self, edge: Edge, *, cut: bool = False) -> Hop:
        """The hop of an edge; `cut` for one in a cold or lazy region."""
        caller, callee = self._graph.nodes[edge.caller], self._graph.nodes[edge.callee]
        return Hop(
            kind="method" if callee.function.owner else "call",
            caller=named(caller),
            callee=named(callee),
            span=edge.span,
            macro=edge.record.via_macro,
            in_lambda=self._in_lambda(edge.record, caller),
            cut=self._project.cold_regions.why(edge.record) if cut else "",
            certain=edge.certain,
        )

    def launch(self, site: LaunchSite, launcher: Node, *, cut: bool = False) -> Hop:
        """The hop of a launch in the function `launcher`."""
        record = site.record
        if isinstance(record, Launch):
            means = "<<<>>>"
        else:
            means = record.name if record.name in LAUNCH_CALLS else "launch-functions"
        return Hop(
            kind="launch",
            caller=named(launcher),
            callee=Named(site.kernel, site.span),
            span=site.span,
            means=means,
            macro=record.via_macro,
            in_lambda=self._in_lambda(record, launcher),
            cut=self._project.cold_regions.why(record) if cut else "",
        )

    def _in_lambda(self, record: Call | Launch, node: Node) -> bool:
        """Whether a lambda in the function holds the record, and not only one that it is."""
        function = self._project.models[home(record)].functions[record.function]
        return function.lambda_ and function.index != node.function.index


def named(node: Node) -> Named:
    """A node of the call graph by its qualified name."""
    return Named(qualified(node.function), node.function.name_span)


def qualified(function: Function) -> str:
    """The name with its namespaces and classes, without anonymous ones and template arguments."""
    scope = [name for part in function.scope if (name := part.split("<")[0].strip())]
    owner = function.owner.split("<")[0].strip()
    if owner and scope[-1:] != [owner]:
        scope.append(owner)
    return "::".join((*scope, function.name))
