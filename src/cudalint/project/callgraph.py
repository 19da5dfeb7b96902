"""The host's call graph: which function calls which, and where kernels are launched.

A lambda's body belongs to the function it is written in, unless it is kept for later
(`cudalint.project.storedlambdas`); a macro's body belongs to each use. Which function a
call means is `cudalint.project.resolve`; what code does not count at all (debug branches
and the like) is `cudalint.hostcode.coldregions`. Who is on a launch path is
`cudalint.hostcode.launchpath`.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

import msgspec

from cudalint.devicecode.devicecode import device_only
from cudalint.finding import Span
from cudalint.project.choices import Choice, settle
from cudalint.project.idlecalls import mark_idle, reaching
from cudalint.project.resolve import Resolver, is_host_definition
from cudalint.project.siblings import drop_siblings
from cudalint.project.storedlambdas import stored_lambdas
from cudalint.syntax.model import Call, FileModel, Function, Launch

if TYPE_CHECKING:
    from cudalint.project.project import Project

LAUNCH_CALLS = frozenset(
    {
        *("cudaLaunchKernel", "cudaLaunchKernelExC", "cudaLaunchKernelEx"),
        *("cudaLaunchCooperativeKernel", "cuLaunchKernel", "cuLaunchKernelEx"),
        *("cuLaunchCooperativeKernel", "cudaGraphLaunch", "cuGraphLaunch"),
    }
)
"""API calls that launch a kernel or a graph of kernels."""


class Node(msgspec.Struct, frozen=True):
    """A host function with a body; `id` is its place in `CallGraph.nodes`."""

    id: int
    path: str
    function: Function


class Edge(msgspec.Struct, frozen=True):
    """`caller` calls `callee` at `span` (the callee's name, or a macro's use), by `record`.

    `certain` is false for an overload that may be meant and may not be, where that
    matters: see `cudalint.project.choices`. `idle`: its arguments turn off every
    launch that the callee could reach, see `cudalint.project.idlecalls`.
    """

    caller: int
    callee: int
    span: Span
    record: Call
    certain: bool = True
    idle: bool = False


class LaunchSite(msgspec.Struct, frozen=True):
    """A launch in a host function: what is launched, as written, where, and by which record."""

    kernel: str
    span: Span
    record: Call | Launch


class CallGraph:
    """Nodes in order of path and place; `calls` and `launches` by node, in file order.

    `cut_calls` and `cut_launches` are those in cold and lazy regions, which count
    for no launch path.
    """

    def __init__(self, project: Project, launch_functions: Collection[str] = ()) -> None:
        models = project.models
        self._models = models
        self._project = project
        self._macros = project.header_macros
        self._cold = project.cold_regions
        self._launch_functions = frozenset(launch_functions)
        self._launch_names = {name.rpartition("::")[2] for name in launch_functions}
        kept = list(stored_lambdas(models, project.sources))
        self._resolver = Resolver(models, project.includes, project.sources, kept)
        self.nodes: list[Node] = []
        self._ids: dict[tuple[str, int], int] = {}
        for path in sorted(models):
            for function in models[path].functions:
                if is_host_definition(function):
                    self._add_node(path, function)
        for stored in kept:
            self._add_node(stored.path, stored.function)
        self.calls: list[list[Edge]] = [[] for _ in self.nodes]
        self.launches: list[list[LaunchSite]] = [[] for _ in self.nodes]
        self.cut_calls: list[list[Edge]] = [[] for _ in self.nodes]
        self.cut_launches: list[list[LaunchSite]] = [[] for _ in self.nodes]
        self._choices: list[Choice] = []
        known = self._resolver.names | LAUNCH_CALLS | self._launch_names
        for path in sorted(models):
            self._read(path, models[path], known)
        settle(project, self, self._choices)
        mark_idle(self, models, project.sources)
        drop_siblings(self, reaching(self))
        for sites in (*self.launches, *self.cut_launches):
            sites.sort(key=lambda site: site.span)

    def node_at(self, path: str, function: int) -> Node | None:
        """The node whose body holds the function with this index.

        A lambda that is not kept has its parent's.
        """
        functions = self._models[path].functions
        while function >= 0:
            node = self._ids.get((path, function))
            if node is not None:
                return self.nodes[node]
            function = functions[function].parent if functions[function].lambda_ else -1
        return None

    def _add_node(self, path: str, function: Function) -> None:
        self._ids[path, function.index] = len(self.nodes)
        self.nodes.append(Node(len(self.nodes), path, function))

    def _read(self, path: str, model: FileModel, known: Collection[str]) -> None:
        for launch in (*model.launches, *self._macros.launches(model)):
            node = self.node_of(path, launch)
            if node is not None:
                self._add_launch(node, launch.kernel, launch)
        for call in (*model.calls, *self._macros.calls(model)):
            if call.name not in known and not self._resolver.knows_objects:
                continue
            node = self.node_of(path, call)
            if node is None:
                continue
            if self._launches(call):
                self._add_launch(node, self._launched(call), call)
                continue
            targets = self._resolver.targets(path, node.function, call)
            if targets:
                cut = self._cold.holds(call)
                edges = tuple(
                    Edge(node.id, self._ids[target_path, target.index], place(call), call)
                    for target_path, target in targets
                )
                (self.cut_calls if cut else self.calls)[node.id] += edges
                if len(edges) > 1 and not cut:
                    self._choices.append(Choice(path, call, edges))

    def _add_launch(self, node: Node, kernel: str, record: Call | Launch) -> None:
        sites = self.cut_launches if self._cold.holds(record) else self.launches
        sites[node.id].append(LaunchSite(kernel, place(record), record))

    def node_of(self, path: str, record: Call | Launch) -> Node | None:
        """The node that a record belongs to; None for device code and for bodies of macros."""
        if record.function < 0 or (record.via_macro and record.use is None):
            return None
        node = self.node_at(path, record.function)
        if node is None or device_only(self._models[path], record.function):
            return None
        return node

    def _launched(self, call: Call) -> str:
        """What a call launches: of a function out of the settings, a kernel that it is given."""
        if call.name in LAUNCH_CALLS:
            return _kernel_argument(call)
        given = (_bare(argument.text) for argument in call.arguments)
        kernels = (name for name in given if self._project.kernels_named(_last_name(name)))
        return next(kernels, call.name)

    def _launches(self, call: Call) -> bool:
        plain = call.callee.split("<")[0].removeprefix("::")
        if plain in LAUNCH_CALLS:
            return True
        return not self._launch_functions.isdisjoint((call.name, plain))


def place(record: Call | Launch) -> Span:
    """Where a record counts: at the use of the macro that it comes out of, else at its name."""
    return record.use or record.name_span


def _kernel_argument(call: Call) -> str:
    """The kernel that an API launch names, or the call's own name."""
    if "Graph" in call.name or not call.arguments:
        return call.name
    takes_config = "KernelEx" in call.name and len(call.arguments) > 1
    return _bare(call.arguments[1 if takes_config else 0].text) or call.name


def _last_name(text: str) -> str:
    return text.partition("<")[0].rpartition("::")[2].strip()


def _bare(argument: str) -> str:
    """An argument without a cast and an address operator before it."""
    name = argument.rpartition(")")[2] if argument.startswith("(") else argument
    return name.strip().lstrip("&*")
