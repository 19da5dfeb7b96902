"""Whether a piece of code is compiled for a target: its arch and its flags.

Preprocessor branches are read as nvcc reads them in the pass for that arch: with
`__CUDA_ARCH__`, what the target's flags define, and the macros of the file and
its known includes. A name that nobody defines is undefined, and a branch that
can't be decided counts as compiled.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from cudalint.compile.archs import arch_number
from cudalint.project.conditions import Conditions
from cudalint.project.expression import evaluate
from cudalint.project.testednames import tested_names
from cudalint.regex import regex

if TYPE_CHECKING:
    from cudalint.context import Context
    from cudalint.finding import Span
    from cudalint.syntax.model import FileModel

_FEATURE = regex(r"__CUDA_ARCH_FEAT_SM(\d+)_ALL")
_SPECIFIC = {"__CUDA_ARCH_SPECIFIC__": "a", "__CUDA_ARCH_FAMILY_SPECIFIC__": "af"}
_DEPTH = 8


def builds(path: str, context: Context) -> Iterator[TargetBuild]:
    """How the file at `path` is compiled: for the settings' targets, else for its trees' archs.

    What a tree's manifests don't say, compile commands do. A header is compiled as
    the sources that include it are.
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
    commands = context.project.commands.of(path)
    files = (path, *context.project.includes.closure(path)) if commands else ()
    names = tested_names(context.models[file] for file in files)
    for command in commands:
        flags = tuple(
            f"-U{name}" if text is None else f"-D{name}={text}"
            for name, text in command.defines
            if name in names
        )
        for arch in context.settings.targets or command.archs:
            found[arch, flags] = None
    if not found:
        found = {(arch, ()): None for arch in context.settings.targets}
    for arch, flags in found:
        yield TargetBuild(path, context, arch, flags)


class TargetBuild:
    """One file as it is compiled for one arch with the given nvcc flags."""

    def __init__(self, path: str, context: Context, arch: str, flags: Sequence[str]) -> None:
        self.arch = arch
        files = (path, *context.project.includes.closure(path))
        self._conditions = _Pass([context.models[file] for file in files], arch, _defined(flags))

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


class _Pass:
    """One pass of the compiler: the files that it reads, for one arch."""

    def __init__(self, models: Sequence[FileModel], arch: str, flags: dict[str, str]) -> None:
        self.arch = arch
        self.flags = flags
        self.depth = 0
        self._macros: dict[str, list[tuple[str, Span]]] = {}
        for model in models:
            for macro in model.macros:
                self._macros.setdefault(macro.name, []).append((macro.body, macro.span))
        self._conditions = {model.path: _TargetConditions(model, self) for model in models}

    def leave_out(self, span: Span) -> bool:
        """Whether `span`, in any of the files, is certainly not compiled."""
        return self._conditions[span.path].leave_out(span)

    def defines(self, name: str) -> bool:
        """Whether a file defines the macro, in whichever branch."""
        return name in self._macros

    def bodies(self, name: str) -> list[str]:
        """The bodies of the macro's definitions that are not certainly left out."""
        if name in self.flags:
            return [self.flags[name]]
        if name not in self._macros or self.depth > _DEPTH:
            return []
        self.depth += 1
        try:
            return [body for body, span in self._macros[name] if not self.leave_out(span)]
        finally:
            self.depth -= 1

    def of_arch(self, name: str) -> int | None:
        """What nvcc defines for the arch itself; None for another name."""
        if name == "__CUDA_ARCH__":
            return arch_number(self.arch) * 10
        suffix = self.arch[-1] if self.arch[-1:] in ("a", "f") else ""
        feature = _FEATURE.fullmatch(name)
        if feature is not None:
            return int(int(feature[1]) == arch_number(self.arch) and suffix == "a")
        if name in _SPECIFIC:
            return int(bool(suffix) and suffix in _SPECIFIC[name])
        return None


class _TargetConditions(Conditions):
    """The conditions of one file in a pass."""

    def __init__(self, model: FileModel, compiled: _Pass) -> None:
        super().__init__(model, default_build=True)
        self._pass = compiled

    def _value(self, name: str, newest: bool) -> int | None:
        of_arch = self._pass.of_arch(name)
        if of_arch is not None or self._pass.depth > _DEPTH:
            return of_arch
        bodies = self._pass.bodies(name)
        if not bodies:
            return 0 if self._pass.defines(name) else super()._value(name, newest)
        self._pass.depth += 1
        try:
            values = {
                evaluate(body, lambda inner: self._value(inner, newest)) if body.strip() else 0
                for body in bodies
            }
        finally:
            self._pass.depth -= 1
        return values.pop() if len(values) == 1 else None

    def _defined(self, name: str, arguments: list[str]) -> int | None:
        if name == "__CUDA_ARCH_HAS_FEATURE__" and len(arguments) == 1:
            return self._pass.of_arch(f"__CUDA_ARCH_FEAT_{arguments[0]}")
        if name != "defined" or len(arguments) != 1:
            return None
        wanted = arguments[0]
        of_arch = self._pass.of_arch(wanted)
        if of_arch is not None:
            return int(of_arch > 0)
        if self._pass.bodies(wanted):
            return 1
        return 0 if self._pass.defines(wanted) else super()._defined(name, arguments)
