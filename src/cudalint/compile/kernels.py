"""The functions of a compiled file gathered by where they are written.

All instances of a template, on all archs and for all targets, are one group:
that is what a finding is about.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import TypeVar

import msgspec

from cudalint.compile.archs import arch_order
from cudalint.compile.demangle import without_arguments
from cudalint.compile.locate import FunctionPlace, Locator
from cudalint.compile.model import Compilation, CompiledFile, FunctionResources

Number = TypeVar("Number", int, float)


class Build(msgspec.Struct, frozen=True):
    """One function as one compilation made it."""

    function: FunctionResources
    compilation: Compilation

    @property
    def arch(self) -> str:
        """The arch that it was made for."""
        return self.function.arch or self.compilation.arch


class Group(msgspec.Struct, frozen=True):
    """The builds of one function of the sources that a rule objects to, never none.

    `all_instances` counts the functions of the cubin that it became.
    """

    place: FunctionPlace
    entry: bool
    builds: tuple[Build, ...]
    all_instances: int

    @property
    def archs(self) -> tuple[str, ...]:
        """The archs that the rule objects to, the oldest first."""
        return tuple(sorted({build.arch for build in self.builds}, key=arch_order))

    @property
    def instances(self) -> int:
        """How many different functions of the cubin the rule objects to."""
        return len({build.function.symbol for build in self.builds})

    def worst(self, measure: Callable[[FunctionResources], int]) -> Build:
        """The build with the largest measure; of equals the one of the oldest arch."""

        def rank(build: Build) -> tuple[int, tuple[int, str], str]:
            return -measure(build.function), arch_order(build.arch), build.function.symbol

        return min(self.builds, key=rank)


def by_arch(
    group: Group,
    measure: Callable[[FunctionResources], int],
    say: Callable[[FunctionResources], str],
) -> str:
    """The worst figures of each arch, the oldest first: `sm_90: 8; sm_121: 16`."""
    builds: dict[str, list[Build]] = {}
    for build in group.builds:
        builds.setdefault(build.arch, []).append(build)
    worst = (
        (arch, msgspec.structs.replace(group, builds=tuple(found)).worst(measure).function)
        for arch, found in sorted(builds.items(), key=lambda item: arch_order(item[0]))
    )
    return "; ".join(f"{arch}: {say(function)}" for arch, function in worst)


def objectionable(
    compiled: CompiledFile, locator: Locator, objects: Callable[[FunctionResources], bool]
) -> Iterator[Group]:
    """The groups that hold what `objects` is true of, in the order of the sources."""
    found: dict[tuple[FunctionPlace, bool], list[Build]] = {}
    symbols: dict[tuple[FunctionPlace, bool], set[str]] = {}
    for compilation in compiled.compilations:
        for function in () if compilation.failure else compilation.functions:
            key = (locator.function(function), function.entry)
            symbols.setdefault(key, set()).add(function.symbol)
            if objects(function):
                found.setdefault(key, []).append(Build(function, compilation))
    for key in sorted(found, key=lambda key: (key[0].span, key[0].name, not key[1])):
        yield Group(*key, tuple(found[key]), len(symbols[key]))


def where(affected: Iterable[Compilation], compiled: CompiledFile) -> str:
    """The archs of the affected compilations, and their targets if others of the arch are well."""
    chosen = list(affected)
    every = compiled.compilations
    words = []
    for arch in sorted({one.arch for one in chosen}, key=arch_order):
        mine = [one for one in every if one.arch == arch and one in chosen]
        name = arch or "the default arch"
        if len(mine) < sum(one.arch == arch for one in every):
            targets = sorted({target for one in mine for target in one.targets})
            name += f" for {', '.join(targets)}" if targets else ""
        words.append(name)
    return ", ".join(words)


def budget_of(
    function: FunctionResources, default: Number | None, per_kernel: Mapping[str, Number]
) -> Number | None:
    """The budget of a kernel: that of the first pattern that fits its name, else the default.

    A pattern is held to the name with template arguments, without them, and
    without namespaces.
    """
    plain = without_arguments(function.name)
    names: Sequence[str] = (function.name, plain, plain.rpartition("::")[2])
    for pattern, budget in per_kernel.items():
        if any(fnmatchcase(name, pattern) for name in names):
            return budget
    return default
