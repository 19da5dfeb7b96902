"""Levels, duplicates, order and exit codes."""

from __future__ import annotations

import itertools
import random

import pytest

from cudalint.finding import Finding, Level, Span
from cudalint.outcome import distinct, exit_code, in_force, ordered
from cudalint.rule import FileRule
from cudalint.run import Notification, RuleInForce
from cudalint.syntax.model import FileModel, Macro


class Warns(FileRule):
    """A rule."""

    code = "CU900"
    name = "warns-always"
    level = Level.WARNING


def finding(
    start: int = 0,
    *,
    code: str = "CU900",
    path: str = "a.cu",
    level: Level = Level.WARNING,
    message: str = "m",
    extents: tuple[Span, ...] = (),
) -> Finding:
    return Finding(code, level, message, Span(path, start, start + 2), "id", extents=extents)


def test_a_level_from_the_settings_replaces_the_rules_own_only() -> None:
    rules = [RuleInForce(Warns, Level.ERROR)]
    given = [finding(), finding(1, level=Level.NOTE), finding(2, code="CU901")]
    assert [f.level for f in in_force(given, rules)] == [Level.ERROR, Level.NOTE, Level.WARNING]
    unchanged = [RuleInForce(Warns, Level.WARNING)]
    assert in_force(given, unchanged) == given


def test_the_same_finding_is_kept_once() -> None:
    twice = [finding(), finding(), finding(message="other"), finding(1), finding(code="CU901")]
    assert distinct(twice, {}) == [finding(), *twice[2:]]


def test_what_lies_in_a_macro_is_one_finding_for_all_its_uses() -> None:
    body = Macro(Span("a.cu", 10, 30), Span("a.cu", 18, 19), "M", ("x",), "f(x)")
    models = {"a.cu": FileModel("a.cu", 100, macros=(body,))}
    uses = [Span("a.cu", at, at + 4) for at in (50, 60)]
    found = [finding(20, message=f"with {n}", extents=(use,)) for n, use in enumerate(uses)]
    found += [finding(30, message="a"), finding(30, message="b"), finding(20, path="b.cu")]
    kept = distinct(found, models)
    assert [(f.span.path, f.span.start, f.message) for f in kept] == [
        ("a.cu", 20, "with 0"),
        ("a.cu", 30, "a"),
        ("a.cu", 30, "b"),
        ("b.cu", 20, "m"),
    ]
    assert kept[0].extents == tuple(uses)


def test_order_does_not_depend_on_how_findings_came() -> None:
    expected = [
        finding(5, path="a.cu", code="CU902"),
        finding(7, path="a.cu", code="CU901", message="a"),
        finding(7, path="a.cu", code="CU901", message="b"),
        finding(7, path="a.cu", code="CU902"),
        finding(0, path="b.cu"),
        finding(0, path="b/a.cu"),
    ]
    mixed = list(expected)
    for seed in range(10):
        random.Random(seed).shuffle(mixed)
        assert list(ordered(mixed)) == expected


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("exit_zero", [False, True])
def test_exit_codes(strict: bool, exit_zero: bool) -> None:
    levels = [Level.ERROR, Level.WARNING, Level.NOTE]
    for size in range(3):
        for chosen in itertools.combinations(levels, size):
            found = [finding(level=level) for level in chosen]
            fails = any(level is not Level.NOTE or strict for level in chosen)
            expected = 1 if fails and not exit_zero else 0
            told = [Notification("x", Level.WARNING, "m"), Notification("y", Level.NOTE, "m")]
            assert exit_code(found, told, strict=strict, exit_zero=exit_zero) == expected
            told.append(Notification("z", Level.ERROR, "m"))
            assert exit_code(found, told, strict=strict, exit_zero=exit_zero) == 2
