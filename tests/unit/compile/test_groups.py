"""Functions gathered by where they are written, which builds are meant, and budgets by name."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from cudalint.compile.kernels import Build, budget_of, by_arch, objectionable, where
from cudalint.compile.locate import FunctionPlace
from cudalint.compile.model import Compilation, CompiledFile, FunctionResources
from cudalint.finding import Span


def function(symbol: str, arch: str = "sm_90", entry: bool = True, stack: int = 0) -> Any:
    return FunctionResources(symbol, symbol, arch, entry, stack, 0, 0)


def located(**places: int) -> Any:
    """A locator that finds functions by their symbols, at these offsets of a.cu."""
    found = {s: FunctionPlace("k", Span("a.cu", at, at + 1)) for s, at in places.items()}
    return SimpleNamespace(function=lambda function: found[function.symbol])


def test_groups_are_in_the_order_of_the_sources_entries_first() -> None:
    functions = (
        function("late"),
        function("device", entry=False),
        function("first"),
        function("second", stack=8),
        function("unheard"),
    )
    file = CompiledFile("a.cu", (Compilation("sm_90", (), functions),))
    locator = located(late=9, device=5, first=5, second=5, unheard=1)
    groups = list(objectionable(file, locator, lambda f: f.symbol != "unheard"))
    assert [[b.function.symbol for b in group.builds] for group in groups] == [
        ["first", "second"],
        ["device"],
        ["late"],
    ]
    assert [group.entry for group in groups] == [True, False, True]
    assert [(group.instances, group.all_instances) for group in groups] == [(2, 2), (1, 1), (1, 1)]
    assert groups[0].worst(lambda f: f.stack).function.symbol == "second"


def test_the_functions_of_a_compile_that_failed_are_not_counted() -> None:
    failed = Compilation("sm_90", (), (function("k"),), failure="no")
    assert list(objectionable(CompiledFile("a.cu", (failed,)), located(k=1), lambda f: True)) == []


def test_the_arch_of_a_build_is_the_function_s_own() -> None:
    compilation = Compilation("sm_90", ())
    assert Build(function("k", "sm_121"), compilation).arch == "sm_121"
    assert Build(function("k", ""), compilation).arch == "sm_90"


def test_the_worst_of_each_arch() -> None:
    functions = tuple(function(f"k{n}", arch, stack=n) for n, arch in enumerate(["sm_121"] * 2))
    old = (function("k0", "sm_90", stack=4),)
    compilations = (Compilation("sm_121", (), functions), Compilation("sm_90", (), old))
    locator = located(k0=1, k1=1)
    (group,) = objectionable(CompiledFile("a.cu", compilations), locator, lambda f: True)
    assert by_arch(group, lambda f: f.stack, lambda f: str(f.stack)) == "sm_90: 4; sm_121: 1"
    assert group.archs == ("sm_90", "sm_121")


def test_targets_are_named_where_others_of_the_arch_are_well() -> None:
    old = Compilation("sm_90", ("a",))
    new = [Compilation("sm_121", (name,)) for name in ("c", "b", "d")]
    nameless = Compilation("sm_100", ())
    other = Compilation("sm_100", ("e",))
    default = Compilation("", ("f",))
    file = CompiledFile("a.cu", (old, *new, nameless, other, default))
    assert where([old], file) == "sm_90"
    assert where(new, file) == "sm_121"
    assert where(new[:2], file) == "sm_121 for b, c"
    assert where([new[0], old], file) == "sm_90, sm_121 for c"
    assert where([nameless], file) == "sm_100"
    assert where([other], file) == "sm_100 for e"
    assert where([default], file) == "the default arch"
    assert where([], file) == ""


@pytest.mark.parametrize("pattern", ["n::m::k<4>", "n::m::k", "k", "k*", "*::k", "n::*"])
def test_a_budget_goes_by_the_name_with_or_without_what_surrounds_it(pattern: str) -> None:
    named = FunctionResources("_Z1k", "n::m::k<4>", "sm_90", True, 0, 0, 0)
    assert budget_of(named, 1, {"other": 2, pattern: 3, "*": 4}) == 3
    assert budget_of(named, None, {"other": 2, "m": 2, "::": 2, "n": 2}) is None
