"""What a rule may ask besides the thing it judges: settings, sources, other models.

A `Context` is read-only and made once for a run by `cudalint.runner`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from cudalint.finding import Span
from cudalint.settings.model import Settings
from cudalint.source import SourceFile
from cudalint.syntax.model import FileModel

if TYPE_CHECKING:
    from cudalint.devicecode.flow.bindings import Bindings, BindingsOf
    from cudalint.project.project import Project
    from cudalint.resources.baseline import Baseline
    from cudalint.resources.launching import Launches
    from cudalint.semantics.overloads import OverloadOracle
    from cudalint.semantics.types import TypeOracle
    from cudalint.tree.model import KernelTree


class Context:
    """The run that a rule is part of.

    `models` and `sources` map a path (relative to the project root) to its
    record; `trees` are the kernel trees found; `types` answers what names alone
    can't tell (libclang, started at the first question); `archs` gives the
    target archs of a file, empty when nothing says; `resource_baseline` is what was
    recorded of the kernels, None where nothing was.
    """

    def __init__(
        self,
        settings: Settings,
        sources: Mapping[str, SourceFile],
        project: Project,
        trees: tuple[KernelTree, ...],
        resource_baseline: Baseline | None = None,
    ) -> None:
        self.settings = settings
        self.sources = sources
        self.project = project
        self.trees = trees
        self.resource_baseline = resource_baseline

    @cached_property
    def types(self) -> TypeOracle:
        """What names alone can't tell; libclang is started at the first question."""
        from cudalint.semantics.types import TypeOracle

        return TypeOracle(self.project, self.sources)

    @cached_property
    def launches(self) -> Launches:
        """How the kernels of the run are launched, as far as settings and sources tell."""
        from cudalint.resources.launching import Launches

        return Launches(self)

    def bindings(self, path: str, function: int) -> Bindings | None:
        """The variables of the function with this index, or of the one around a lambda.

        None where its body does not stand in the file as it is: it comes out of a macro.
        """
        from cudalint.devicecode.devicecode import enclosing

        model = self.models[path]
        index = enclosing(model, function)
        if index < 0 or model.functions[index].via_macro or model.functions[index].body is None:
            return None
        return self._flow.get(model, model.functions[index])

    def code(self, path: str) -> str:
        """The file's text, one character for each byte; what is no code is spaces."""
        return self.project.codes.of(path)

    def let_go(self) -> None:
        """Let go of the functions that were read: file rules ask for each, others for few."""
        vars(self).pop("_flow", None)
        self.project.codes.let_go()

    @cached_property
    def _flow(self) -> BindingsOf:
        from cudalint.devicecode.flow.bindings import BindingsOf

        return BindingsOf(self.project.codes)

    @property
    def models(self) -> Mapping[str, FileModel]:
        """Every file that was analysed."""
        return self.project.models

    @property
    def types_failure(self) -> str | None:
        """Why libclang could not be used, if it was asked for and could not."""
        asked: list[TypeOracle | OverloadOracle | None]
        asked = [vars(self).get("types"), vars(self.project).get("overloads")]
        failures = (oracle.failure for oracle in asked if oracle is not None)
        return next((failure for failure in failures if failure is not None), None)

    def text(self, span: Span) -> str:
        """The source text of `span`, decoded with replacement characters."""
        return self.sources[span.path].data[span.start : span.end].decode("utf-8", "replace")

    def archs(self, path: str) -> tuple[str, ...]:
        """The target archs of the file at `path`: by the `targets` setting, else its trees.

        Archs of compile commands count like those of a tree.
        """
        if self.settings.targets:
            return tuple(self.settings.targets)
        found = set(self._tree_archs.get(path, ()))
        found.update(arch for command in self.project.commands.of(path) for arch in command.archs)
        return tuple(sorted(found))

    @cached_property
    def _tree_archs(self) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {}
        for tree in self.trees:
            for target in tree.targets:
                if target.hardware.arch:
                    for path in target.sources.values():
                        found.setdefault(path, set()).add(target.hardware.arch)
        return found
