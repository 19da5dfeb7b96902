"""Which rules run, and where."""

from __future__ import annotations

from typing import Any

import pytest

from cudalint.finding import Level
from cudalint.rule import FileRule
from cudalint.settings.model import RuleSettings, Settings
from cudalint.settings.select import (
    Overrides,
    PerFileIgnores,
    level_in_force,
    selected_rules,
    specificity,
)


def rule(code: str, name: str, **attributes: Any) -> type[FileRule]:
    return type(code, (FileRule,), {"code": code, "name": name, "level": Level.ERROR, **attributes})


RULES = (
    rule("CU101", "header-line"),
    rule("CU102", "one-kernel"),
    rule("CU301", "sync-here"),
    rule("CU302", "no-stream"),
    rule("CU309", "unchecked", default=False),
    rule("CU310", "lazy", preview=True),
    rule("HO301", "house-rule"),
)


def codes(settings: dict[str, Any], **overrides: Any) -> str:
    selected = selected_rules(RULES, Settings(**settings), Overrides(**overrides))
    return " ".join(rule.code for rule in selected)


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        ("ALL", 0),
        ("CU", 2),
        ("CU3", 3),
        ("CU301", 1000),
        ("sync-here", 1000),
        ("cu3", None),
        ("CU4", None),
        ("C U", None),
        ("", None),
        ("3", None),
        ("CU3O", None),
    ],
)
def test_specificity(selector: str, expected: int | None) -> None:
    assert specificity(selector, RULES[2]) == expected


@pytest.mark.parametrize(
    ("settings", "overrides", "expected"),
    [
        ({}, {}, "CU101 CU102 CU301 CU302 HO301"),
        ({"select": ("CU3",)}, {}, "CU301 CU302 CU309"),
        ({"select": ("CU30",)}, {}, "CU301 CU302 CU309"),
        ({"select": ("CU3",), "ignore": ("CU301",)}, {}, "CU302 CU309"),
        ({"select": ("CU301",), "ignore": ("CU3",)}, {}, "CU301"),
        ({"select": ("sync-here",), "ignore": ("CU301",)}, {}, ""),
        ({"ignore": ("CU",)}, {}, "HO301"),
        ({"ignore": ("CU3",), "extend_select": ("no-stream",)}, {}, "CU101 CU102 CU302 HO301"),
        ({"select": ("CU1",), "extend_select": ("HO",)}, {}, "CU101 CU102 HO301"),
        ({"preview": True}, {}, "CU101 CU102 CU301 CU302 CU310 HO301"),
        ({"select": ("CU31",)}, {}, ""),
        ({"select": ("CU310",)}, {}, "CU310"),
        ({"select": ("lazy",)}, {}, "CU310"),
        ({"extend_select": ("unchecked",)}, {}, "CU101 CU102 CU301 CU302 CU309 HO301"),
        ({"select": ("CU1",)}, {"select": ("CU301",)}, "CU301"),
        ({"extend_select": ("HO301",)}, {"select": ("CU301",)}, "CU301"),
        ({"ignore": ("CU301",)}, {"select": ("CU3",)}, "CU302 CU309"),
        ({"ignore": ("CU301",)}, {"select": ("CU301",)}, "CU301"),
        ({"ignore": ("CU3",)}, {"select": ("CU3",)}, "CU301 CU302 CU309"),
        ({"select": ("CU301",)}, {"ignore": ("CU3",)}, ""),
        ({"select": ("CU1",)}, {"extend_select": ("CU301",)}, "CU101 CU102 CU301"),
        ({"ignore": ("CU301",)}, {"extend_select": ("CU301",)}, "CU101 CU102 CU301 CU302 HO301"),
        ({}, {"select": ("CU3",), "ignore": ("CU302", "CU309")}, "CU301"),
        ({}, {"select": ("CU301",), "ignore": ("ALL",)}, "CU301"),
    ],
)
def test_selection(settings: dict[str, Any], overrides: dict[str, Any], expected: str) -> None:
    assert codes(settings, **overrides) == expected


def test_levels() -> None:
    settings = Settings(rules={"CU101": RuleSettings("note"), "no-stream": RuleSettings("warning"),
                               "CU301": RuleSettings(None, {"x": 1})})  # fmt: skip
    levels = [level_in_force(rule, settings).value for rule in RULES[:4]]
    assert levels == ["note", "error", "error", "warning"]


def test_per_file_ignores() -> None:
    settings = Settings(
        per_file_ignores={
            "tests/**": ("CU3", "header-line"),
            "*.cuh": ("ALL",),
            "/top.cu": ("CU102",),
        }
    )
    ignores = PerFileIgnores(settings, RULES)
    assert ignores.ignored("src/a.cu") == frozenset()
    assert sorted(ignores.ignored("tests/sub/a.cu")) == [
        "CU101", "CU301", "CU302", "CU309", "CU310"
    ]  # fmt: skip
    assert ignores.ignored("src/a.cuh") == {rule.code for rule in RULES}
    assert ignores.ignored("top.cu") == {"CU102"}
    assert ignores.ignored("sub/top.cu") == frozenset()
