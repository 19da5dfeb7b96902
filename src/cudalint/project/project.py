"""Project: the models of a run joined, for rules that look beyond one file.

Each part is made at the first question: constants, includes, the call graph and
the launch paths have modules of their own. Reading files is not done here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from cudalint.project.callnames import with_meanings
from cudalint.project.macroheads import with_kernels
from cudalint.project.namespaces import with_owners
from cudalint.settings.model import Settings
from cudalint.syntax.lastread import last_read

if TYPE_CHECKING:
    from cudalint.compiledb.model import CompileCommand
    from cudalint.devicecode.devicereach import DeviceReach
    from cudalint.devicecode.flow.text import CodeTexts
    from cudalint.hostcode.coldness import Coldness
    from cudalint.hostcode.coldregions import ColdRegions
    from cudalint.hostcode.hotpath import HotPath
    from cudalint.hostcode.launchpath import LaunchPaths
    from cudalint.hostcode.lazypaths import LazyPaths
    from cudalint.hostcode.terminalresults import TerminalResults
    from cudalint.project.callgraph import CallGraph
    from cudalint.project.commands import Commands
    from cudalint.project.constants import Constants
    from cudalint.project.headermacros import HeaderMacros
    from cudalint.project.includes import Includes
    from cudalint.semantics.overloads import OverloadOracle
    from cudalint.source import SourceFile
    from cudalint.syntax.model import FileModel, Function
    from cudalint.tree.model import KernelTree


class Project:
    """The files of one run by path, with the kernel trees among them.

    In `models`, calls have the names that they mean, see `cudalint.project.callnames`, and
    functions no namespace for a class, see `cudalint.project.namespaces`; kernels are known
    as such by a header's macro too, see `cudalint.project.macroheads`.
    """

    def __init__(
        self,
        models: Mapping[str, FileModel],
        trees: Sequence[KernelTree] = (),
        settings: Settings | None = None,
        sources: Mapping[str, SourceFile] | None = None,
        commands: Mapping[str, Sequence[CompileCommand]] | None = None,
    ) -> None:
        self._given = models
        self.compile_commands = commands or {}
        self.sources = sources or {}
        self.trees = tuple(trees)
        self.settings = settings or Settings()

    @cached_property
    def models(self) -> Mapping[str, FileModel]:
        """What the files say, by path."""
        return with_meanings(self._owned, self.includes)

    @cached_property
    def _owned(self) -> Mapping[str, FileModel]:
        return with_owners(with_kernels(self._given))

    @cached_property
    def includes(self) -> Includes:
        """The includes among the files."""
        from cudalint.project.includes import Includes

        def made() -> Includes:
            return Includes(self._owned, self.trees, self.compile_commands)

        last = last_read()
        if last is None:
            return made()
        named = {
            path: [(include.path, include.system) for include in model.includes]
            for path, model in self._owned.items()
        }
        found = last.made("includes", (named, self.trees, self.compile_commands), made)
        found.stand_in(self._owned)
        return found

    @cached_property
    def commands(self) -> Commands:
        """The compile commands, file by file."""
        from cudalint.project.commands import Commands

        return Commands(self.compile_commands, self.includes)

    @cached_property
    def constants(self) -> Constants:
        """The values of constants and macros, file by file."""
        from cudalint.project.constants import Constants

        return Constants(self.models, self.includes, self.commands)

    @cached_property
    def header_macros(self) -> HeaderMacros:
        """What files do through the macros of the headers that they include."""
        from cudalint.project.headermacros import HeaderMacros

        return HeaderMacros(self.models, self.includes)

    @cached_property
    def codes(self) -> CodeTexts:
        """The code of the files as text."""
        from cudalint.devicecode.flow.text import CodeTexts

        return CodeTexts(self.sources)

    @cached_property
    def cold_regions(self) -> ColdRegions:
        """The cold and lazy parts of functions."""
        from cudalint.hostcode.coldregions import ColdRegions

        return ColdRegions(self.models, self.sources, self.codes)

    @cached_property
    def coldness(self) -> Coldness:
        """Which whole functions are cold."""
        from cudalint.hostcode.coldness import Coldness

        return Coldness(self.models, self.includes, self.settings)

    @cached_property
    def graph(self) -> CallGraph:
        """The host's call graph."""
        from cudalint.project.callgraph import CallGraph

        return CallGraph(self, self.settings.launch_functions)

    @cached_property
    def overloads(self) -> OverloadOracle:
        """What libclang says of calls that may mean several overloads."""
        from cudalint.semantics.overloads import OverloadOracle

        return OverloadOracle(self)

    @cached_property
    def launch_paths(self) -> LaunchPaths:
        """Which functions are on a launch path, and why."""
        from cudalint.hostcode.launchpath import LaunchPaths

        return LaunchPaths(self.graph, self.coldness)

    @cached_property
    def lazy_paths(self) -> LazyPaths:
        """Which functions run at the first need of a resource alone, and why."""
        from cudalint.hostcode.lazypaths import LazyPaths

        return LazyPaths(self.graph, self.launch_paths, self.cold_regions)

    @cached_property
    def hot_path(self) -> HotPath:
        """The calls of the run by name, and which of them are on a launch path."""
        from cudalint.hostcode.hotpath import HotPath

        return HotPath(self)

    @cached_property
    def terminal_results(self) -> TerminalResults:
        """The copies of results to the host, each with the wait for it."""
        from cudalint.hostcode.terminalresults import TerminalResults

        return TerminalResults(self)

    @cached_property
    def device_reach(self) -> DeviceReach:
        """Which device functions kernels run."""
        from cudalint.devicecode.devicereach import DeviceReach

        return DeviceReach(self.models)

    def earlier(self, kernel: Function) -> list[Function]:
        """The declarations of `kernel` that the compiler has seen when it meets it.

        Those before it in its own file, and those of quoted includes; same name,
        same scope, and as many parameters.
        """
        path = kernel.span.path
        found = [f for f in self._kernels(path).get(kernel.name, ()) if _before(f, kernel)]
        for included in self.includes.closure(path) if self.models[path].includes else ():
            found += self._kernels(included).get(kernel.name, ())
        return [f for f in found if f is not kernel and _same(f, kernel)]

    def kernels_named(self, name: str) -> Sequence[Function]:
        """Every declaration, definition and instantiation of a kernel of this name, in any file."""
        return self._kernels_by_name.get(name, ())

    @cached_property
    def _kernels_by_name(self) -> dict[str, list[Function]]:
        found: dict[str, list[Function]] = {}
        for path in sorted(self.models):
            for kernel in self.models[path].kernels:
                found.setdefault(kernel.name, []).append(kernel)
        return found

    def _kernels(self, path: str) -> dict[str, list[Function]]:
        if path not in self._kernel_tables:
            table: dict[str, list[Function]] = {}
            for kernel in self.models[path].kernels:
                table.setdefault(kernel.name, []).append(kernel)
            self._kernel_tables[path] = table
        return self._kernel_tables[path]

    @cached_property
    def _kernel_tables(self) -> dict[str, dict[str, list[Function]]]:
        return {}


def _before(function: Function, kernel: Function) -> bool:
    return (function.use or function.span).start < (kernel.use or kernel.span).start


def _same(function: Function, kernel: Function) -> bool:
    return (
        function.kind != "instantiation"
        and function.scope == kernel.scope
        and len(function.parameters) == len(kernel.parameters)
    )
