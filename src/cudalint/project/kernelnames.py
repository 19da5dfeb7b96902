"""A quick look at the kernel names of a target: may two of its sources clash at all?

Names are taken as the models have them. Where macros of other files could make
or rename kernels, the answer is that they may; the exact names are
`cudalint.tree.entries`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cudalint.project.project import Project
    from cudalint.tree.model import Target


class KernelNames:
    """Answers for the targets of one run."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._named: dict[str, list[str] | None] = {}

    def all_differ(self, target: Target) -> bool:
        """Whether certainly no two sources of `target` have an entry point of one name."""
        seen: set[str] = set()
        for path in target.sources.values():
            if path not in self._project.models:
                continue
            names = self._of_source(path)
            if names is None or not seen.isdisjoint(names):
                return False
            seen.update(names)
        return True

    def _of_source(self, path: str) -> list[str] | None:
        """The kernels that compiling the file defines, None where macros may say otherwise."""
        if path not in self._named:
            self._named[path] = self._names(path)
        return self._named[path]

    def _names(self, path: str) -> list[str] | None:
        names: list[str] = []
        macros: set[str] = set()
        for file in (path, *self._project.includes.closure(path)):
            model = self._project.models[file]
            macros.update(macro.name for macro in model.macros)
            if any("__global__" in macro.body for macro in model.macros):
                return None
            for kernel in model.kernels:
                if kernel.kind == "definition":
                    names.append(kernel.name)
        return names if macros.isdisjoint(names) else None
