"""Whether a piece of code is compiled for a target: its arch and its flags.

Preprocessor branches are read as nvcc reads them in the pass for that arch: with
`__CUDA_ARCH__`, what the target's flags define, and the macros of the file and
its known includes. A name that nobody defines is undefined, and a branch that
can't be decided counts as compiled.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from cudalint.compile.archs import arch_number
from cudalint.conditions import Conditions
from cudalint.expression import evaluate

if TYPE_CHECKING:
    from cudalint.context import Context
    from cudalint.finding import Span
    from cudalint.syntax.model import FileModel

_FEATURE = re.compile(r"__CUDA_ARCH_FEAT_SM(\d+)_ALL")
_SPECIFIC = {"__CUDA_ARCH_SPECIFIC__": "a", "__CUDA_ARCH_FAMILY_SPECIFIC__": "af"}
_DEPTH = 8


def builds(path: str, context: Context) -> Iterator[TargetBuild]:
    """How the file at `path` is compiled: by the settings' targets, else by its trees'.

    A header is compiled as the sources that include it are.
    """
    users = {path, *context.project.includes.includers(path)}
    found: dict[tuple[str, tuple[str, ...]], None] = {}
    for tree in context.trees:
        for target in tree.targets:
            if users.isdisjoint(target.sources.values()):
                continue
            for arch in context.settings.targets or (target.hardware.arch,):
                if arch:
                    found[arch, target.flags] = None
    if not found:
        found = {(arch, ()): None for arch in context.settings.targets}
    for arch, flags in found:
        yield TargetBuild(path, context, arch, flags)


class TargetBuild:
    """One file as it is compiled for one arch with the given nvcc flags."""

    def __init__(self, path: str, context: Context, arch: str, flags: Sequence[str]) -> None:
        self.arch = arch
        files = (path, *context.project.includes.closure(path))
        models = [context.models[file] for file in files]
        self._conditions = _TargetConditions(models, arch, _defined(flags))

    def compiles(self, span: Span) -> bool:
        """Whether the code at `span` (in the file itself) is not certainly left out."""
        return not self._conditions.leave_out(span)


def _defined(flags: Sequence[str]) -> dict[str, str]:
    """What `-D` and `-U` leave defined, in the order of the flags."""
    found: dict[str, str] = {}
    waiting = ""
    for flag in flags:
        if waiting:
            flag, waiting = waiting + flag, ""
        elif flag in ("-D", "-U", "--define-macro", "--undefine-macro"):
            waiting = "-U" if "-U" in flag or "undefine" in flag else "-D"
            continue
        name, _, value = flag[2:].partition("=")
        if flag.startswith("-D"):
            found[name] = value or "1"
        elif flag.startswith("-U"):
            found.pop(name, None)
    return found


class _TargetConditions(Conditions):
    """The conditions of the first of `models`; the others are what it includes."""

    def __init__(self, models: Sequence[FileModel], arch: str, defined: dict[str, str]) -> None:
        super().__init__(models[0], default_build=True)
        self._arch = arch
        self._flags = defined
        self._models = models
        self._others = {model.path: Conditions(model, default_build=False) for model in models[1:]}
        self._depth = 0
        self._macros: dict[str, list[tuple[str, Span]]] = {}
        for model in models:
            for macro in model.macros:
                self._macros.setdefault(macro.name, []).append((macro.body, macro.span))

    def _value(self, name: str, newest: bool) -> int | None:
        if name == "__CUDA_ARCH__":
            return arch_number(self._arch) * 10
        if self._of_arch(name) is not None:
            return self._of_arch(name)
        if self._depth > _DEPTH:
            return None

        def value(inner: str) -> int | None:
            return self._value(inner, newest)

        bodies = [self._flags[name]] if name in self._flags else self._alive(name)
        if bodies:
            self._depth += 1
            try:
                values = {evaluate(body, value) if body.strip() else 0 for body in bodies}
            finally:
                self._depth -= 1
            return values.pop() if len(values) == 1 else None
        return super()._value(name, newest)

    def _defined(self, name: str, arguments: list[str]) -> int | None:
        if name == "__CUDA_ARCH_HAS_FEATURE__" and len(arguments) == 1:
            return int(arguments[0] == f"SM{arch_number(self._arch)}_ALL" and self._suffix == "a")
        if name != "defined" or len(arguments) != 1:
            return None
        wanted = arguments[0]
        if wanted in self._flags:
            return 1
        of_arch = self._of_arch(wanted)
        if of_arch is not None:
            return of_arch
        if self._alive(wanted):
            return 1
        return 0 if wanted in self._macros else super()._defined(name, arguments)

    @property
    def _suffix(self) -> str:
        return self._arch[-1] if self._arch[-1:] in ("a", "f") else ""

    def _of_arch(self, name: str) -> int | None:
        """What nvcc defines for archs with a suffix; None for another name."""
        feature = _FEATURE.fullmatch(name)
        if feature is not None:
            return int(int(feature[1]) == arch_number(self._arch) and self._suffix == "a")
        if name in _SPECIFIC:
            return int(bool(self._suffix) and self._suffix in _SPECIFIC[name])
        return None

    def _alive(self, name: str) -> list[str]:
        """The bodies of the macro's definitions that are not certainly left out."""
        if name not in self._macros or self._depth > _DEPTH:
            return []
        self._depth += 1
        try:
            return [body for body, span in self._macros[name] if not self._is_left_out(span)]
        finally:
            self._depth -= 1

    def _is_left_out(self, span: Span) -> bool:
        if span.path == self._models[0].path:
            return self.leave_out(span)
        return self._others[span.path].leave_out(span)
