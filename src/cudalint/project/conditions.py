"""Which preprocessor branches the compilation for the device takes.

Conditions are read as far as the file itself decides them, or as a default build
would: one that defines nothing beyond what the file, its compile commands and nvcc
define. Reading an expression is `cudalint.project.expression`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from cudalint.project.defaults import default_names
from cudalint.project.expression import evaluate
from cudalint.project.testednames import distinct, tested_names
from cudalint.regex import regex

if TYPE_CHECKING:
    from cudalint.finding import Span
    from cudalint.project.project import Project
    from cudalint.syntax.model import FileModel, Region

_BARE_DEFINED = regex(r"\bdefined\s+([A-Za-z_]\w*)")
_BUILT_IN = {"__CUDACC__": 1, "__NVCC__": 1, "__cplusplus": 201703}
_VERSIONS = {
    "CUDART_VERSION": (12000, 99990),
    "CUDA_VERSION": (12000, 99990),
    "__CUDACC_VER_MAJOR__": (12, 99),
}
"""Names that the toolkit gives a value that grows, from the oldest that counts on."""
_SOME_VALUE = frozenset({"__CUDA_ARCH__", "__CUDACC_VER_MINOR__", *_VERSIONS})
"""Defined in the compilation for the device, with a value that depends on who compiles."""


def _no_value(name: str) -> None:
    """Names mean nothing inside the body of a macro that a condition tests."""


class Conditions:
    """Answers for the conditional regions of one file.

    `default_build`: a name that nobody defines is undefined; else whether it is
    defined can't be told. `defined` is what a compile command says of macros: the
    text, None for an undefined one.
    """

    def __init__(
        self,
        model: FileModel,
        *,
        default_build: bool,
        defined: Mapping[str, str | None] | None = None,
    ) -> None:
        self._model = model
        self._default_build = default_build
        self._bodies: dict[str, set[str]] = {}
        self._undefined: set[str] = set()
        given = defined or {}
        defaults = default_names(model) if given else frozenset()
        for macro in model.macros:
            if macro.name not in defaults or given.get(macro.name) is None:
                self._bodies.setdefault(macro.name, set()).add(macro.body)
        for name, text in given.items():
            if text is not None:
                self._bodies.setdefault(name, set()).add(text)
            elif name not in self._bodies:
                self._undefined.add(name)
        self._given = frozenset(name for name, text in given.items() if text is not None)

    def leave_out(self, span: Span) -> bool:
        """Whether `span` lies in a branch that is certainly not taken."""
        return any(
            region.span.start <= span.start < region.span.end and self._taken(region) is False
            for region in self._model.regions
        )

    def _taken(self, region: Region) -> bool | None:
        """Whether the branch is taken, None if that can't be told."""
        own = True if region.condition == "else" else self._holds(region.condition)
        if own is False:
            return False
        for earlier in self._model.regions:
            if earlier.group == region.group and earlier.span.start < region.span.start:
                before = self._holds(earlier.condition)
                if before:
                    return False
                own = None if before is None else own
        return own

    def _holds(self, condition: str) -> bool | None:
        text = _BARE_DEFINED.sub(r"defined(\1)", condition)
        values = {self._evaluated(text, newest) for newest in (False, True)}
        if None in values or len({bool(value) for value in values}) > 1:
            return None
        return bool(values.pop())

    def _evaluated(self, text: str, newest: bool) -> int | None:
        """The value with the oldest toolkit that counts, or with the newest there can be."""
        return evaluate(text, lambda name: self._value(name, newest), apply=self._defined)

    def _value(self, name: str, newest: bool) -> int | None:
        if name in _VERSIONS:
            return _VERSIONS[name][newest]
        if name in _BUILT_IN:
            return _BUILT_IN[name]
        bodies = self._bodies.get(name)
        if bodies is not None:
            body = next(iter(bodies))
            return evaluate(body, _no_value) if len(bodies) == 1 else None
        if name in self._undefined:
            return 0
        return 0 if self._default_build and name not in _SOME_VALUE else None

    def _defined(self, name: str, arguments: list[str]) -> int | None:
        if name != "defined" or len(arguments) != 1:
            return None
        wanted = arguments[0]
        if wanted in _BUILT_IN or wanted in _SOME_VALUE or wanted in self._given:
            return 1
        if wanted in self._undefined:
            return 0
        return int(wanted in self._bodies) if self._default_build else None


class EveryBuild:
    """Answers for one file as all the commands that compile it take it."""

    def __init__(self, builds: Sequence[Conditions]) -> None:
        self._builds = builds

    def leave_out(self, span: Span) -> bool:
        """Whether `span` lies in a branch that certainly no build takes."""
        return all(build.leave_out(span) for build in self._builds)


def every_build(project: Project, model: FileModel, *, default_build: bool) -> EveryBuild:
    """The conditions of the file in each of its builds; one build where no command is known."""
    every = (command.defines for command in project.commands.of(model.path))
    builds = distinct(every, tested_names([model])) or [()]
    return EveryBuild(
        [Conditions(model, default_build=default_build, defined=dict(said)) for said in builds]
    )
