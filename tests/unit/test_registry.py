"""The registry, and the form that every rule of cudalint's own has."""

from __future__ import annotations

import re
import sys

import msgspec
import pytest

from cudalint.registry import all_rules
from cudalint.rule import FileRule, Rule
from cudalint.ruleform import rules_in
from cudalint.rulepage import address, anchor, markdown, read_page

RULES = all_rules()

each_rule = pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)


def test_codes_and_names_are_unique_and_sorted() -> None:
    codes = [rule.code for rule in RULES]
    assert codes == sorted(set(codes))
    assert len({rule.name for rule in RULES}) == len(RULES)
    assert len(RULES) > 20


@each_rule
def test_a_rule_is_the_one_class_of_the_file_of_its_name(rule: type[Rule]) -> None:
    stem = rule.__module__.rpartition(".")[2]
    assert stem == f"{rule.code.lower()}_{rule.name.replace('-', '_')}"
    assert rules_in(sys.modules[rule.__module__]) == [rule]


@each_rule
def test_code_and_name_have_their_form(rule: type[Rule]) -> None:
    assert re.fullmatch(r"CU\d{3}", rule.code)
    assert re.fullmatch(r"[a-z]+(-[a-z]+)+", rule.name)


@each_rule
def test_the_docstring_is_a_page(rule: type[Rule]) -> None:
    page = read_page(rule)
    fields = msgspec.structs.fields(rule.options)
    assert ("Options" in page.sections) == bool(fields)
    for field in fields:
        assert f"`{field.encode_name}`" in page.sections["Options"]
        assert not field.required
    assert markdown(rule).startswith(f"# {rule.code} {rule.name}\n")
    assert anchor(rule) == f"{rule.code.lower()}-{rule.name}"


@each_rule
def test_messages_are_sarif_templates(rule: type[Rule]) -> None:
    assert rule.messages
    for template in rule.messages.values():
        assert template.endswith(".")
        assert not template.endswith("..")
        assert "](" not in template
        places = re.findall(r"(.)\{(\d)\}(.)", template.replace("{{", "").replace("}}", ""))
        assert all(before == after == "'" for before, _, after in places)
        numbers = sorted({int(number) for _, number, _ in places})
        assert numbers == list(range(len(numbers)))


def test_a_plugins_rule_has_the_page_that_it_names_or_none() -> None:
    class Own(FileRule):
        """A rule of somebody else's."""

        code = "XY001"
        name = "own-rule"

    assert address(Own) == ""
    Own.url = "https://example.org/rules#xy001"
    assert address(Own) == Own.url
    ours = all_rules()[0]
    assert address(ours).endswith(f"/docs/rules.md#{anchor(ours)}")
