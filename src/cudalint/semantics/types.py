"""TypeOracle: what the parameters of kernels are, whatever they are called.

It asks the spelling first and libclang only when that can't tell; most runs
never load libclang. What libclang is given is `cudalint.semantics.virtual`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from cudalint.semantics.model import PLAIN_WORDS, ParameterType, spelt
from cudalint.source import SourceFile
from cudalint.syntax.model import Function

if TYPE_CHECKING:
    from cudalint.project.project import Project
    from cudalint.semantics.clang import ClangKernel
    from cudalint.semantics.spelling import Declared, Names

_KERNELS = 10_000


class TypeOracle:
    """Answers for the files of one run, from memory; nothing is read from disk."""

    def __init__(self, project: Project, sources: Mapping[str, SourceFile]) -> None:
        self._sources = sources
        self._project = project
        self._declared: dict[str, Declared] = {}
        self._names: dict[str, Names] = {}
        self._plain: dict[str, ParameterType] = {}
        self._answers: dict[tuple[str, int], tuple[ParameterType, ...]] = {}
        self._kernels: dict[str, dict[int, list[ClangKernel]]] = {}
        self.failure: str | None = None

    def parameters(self, kernel: Function) -> tuple[ParameterType, ...]:
        """The types of the kernel's parameters, in their order.

        A type that neither its spelling nor libclang can tell is as it is
        written, and neither untyped nor with untyped members.
        """
        key = (kernel.span.path, kernel.index)
        if key not in self._answers:
            self._answers[key] = self._resolved(kernel)
        return self._answers[key]

    def spelling(self, text: str, function: Function) -> str | None:
        """The type that `text` spells in `function`; None where only a compiler can tell."""
        from cudalint.semantics.spelling import UnclearError

        try:
            return self._names_of(function.span.path).resolve(text, function).canonical
        except UnclearError:
            return None

    def _resolved(self, kernel: Function) -> tuple[ParameterType, ...]:
        return tuple(
            self._type_of(kernel, number, parameter.type)
            for number, parameter in enumerate(kernel.parameters)
        )

    def _type_of(self, kernel: Function, number: int, text: str) -> ParameterType:
        # Most types mean the same in every file.
        plain = self._plain.get(text)
        if plain is not None:
            return plain
        if PLAIN_WORDS.issuperset(text.replace("*", " * ").replace("&", " & ").split()):
            return self._plain.setdefault(text, ParameterType(spelt(text)))
        from cudalint.semantics.spelling import UnclearError

        try:
            if self._is_commanded(text, kernel.span.path):
                raise UnclearError(text)
            return self._names_of(kernel.span.path).resolve(text, kernel)
        except UnclearError:
            return self._ask(kernel, number) or ParameterType(spelt(text))

    def _is_commanded(self, text: str, path: str) -> bool:
        """Whether a compile command defines a macro of the type's words."""
        return bool(self._project.compile_commands) and any(
            self._project.commands.texts(path, word)[0] for word in re.findall(r"\w+", text)
        )

    def _names_of(self, path: str) -> Names:
        from cudalint.semantics.spelling import Names

        names = self._names.get(path)
        if names is None:
            names = self._names[path] = Names(
                self._declared_in(path),
                lambda: [self._declared_in(p) for p in self._project.includes.closure(path)],
            )
        return names

    def _declared_in(self, path: str) -> Declared:
        from cudalint.semantics.spelling import Declared

        declared = self._declared.get(path)
        if declared is None:
            data = self._sources[path].data
            declared = self._declared[path] = Declared(self._project.models[path], data)
        return declared

    def _ask(self, kernel: Function, number: int) -> ParameterType | None:
        """What libclang says of one parameter; None if it does not see that kernel."""
        offset = kernel.use.start if kernel.use is not None else kernel.name_span.start
        for seen in self._parsed(kernel.span.path).get(offset, ()):
            same_name = seen.name == kernel.name or kernel.use is None
            if same_name and len(seen.parameters) == len(kernel.parameters):
                return seen.parameters[number]
        return None

    def _parsed(self, path: str) -> dict[int, list[ClangKernel]]:
        """The kernels of a file by the offset of their names on disk."""
        if path in self._kernels:
            return self._kernels[path]
        found: dict[int, list[ClangKernel]] = {}
        self._kernels[path] = found
        if self.failure is not None:
            return found
        from cudalint.semantics.clang import kernels
        from cudalint.semantics.sandbox import ClangError, stub_names
        from cudalint.semantics.virtual import lay_out

        layout = lay_out(path, self._project, self._sources, stub_names())
        try:
            seen = kernels(layout.main, layout.files, _KERNELS, layout.arguments)
        except ClangError as error:
            self.failure = str(error)
            return found
        for kernel in seen:
            found.setdefault(layout.original(kernel.offset), []).append(kernel)
        return found
