"""The descriptors of all real rules, and of a plugin's rule that documents little."""

from __future__ import annotations

import pytest

from cudalint.finding import Level
from cudalint.registry import all_rules
from cudalint.rule import FileRule, Rule
from cudalint.run import RuleInForce
from cudalint.sarif.driver import LONGEST, driver, pascal_case
from cudalint.sarif.serialise import to_data


def descriptor(rule: type[Rule]) -> dict[str, object]:
    """One rule's descriptor as data."""
    (found,) = to_data(driver([RuleInForce(rule, rule.level)], []))["rules"]
    return dict(found)


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.code)
def test_every_rule(rule: type[Rule]) -> None:
    found = to_data(driver([RuleInForce(rule, rule.level)], []))["rules"][0]
    for key in ("shortDescription", "fullDescription"):
        assert 0 < len(found[key]["text"]) <= LONGEST
        assert found[key]["text"].endswith(".")
        assert "\n" not in found[key]["text"]
    assert "How to fix" in found["help"]["text"]
    assert "## How to fix" in found["help"]["markdown"]
    assert found["helpUri"].endswith(f"#{rule.code.lower()}-{rule.name}")
    for message in found["messageStrings"].values():
        assert message["text"].endswith(".")
    assert found["defaultConfiguration"]["level"] == rule.level.value


class Undocumented(FileRule):
    code = "XY1"
    name = "some-rule"
    level = Level.NOTE
    messages = {"m": "Message."}


def test_a_plugin_with_no_documentation() -> None:
    found = descriptor(Undocumented)
    assert found["name"] == "SomeRule"
    assert found["properties"] == {
        "tags": ["cuda"],
        "precision": "high",
        "problem.severity": "recommendation",
    }
    assert found["shortDescription"]


def test_names() -> None:
    assert pascal_case("spdx-header") == "SpdxHeader"
