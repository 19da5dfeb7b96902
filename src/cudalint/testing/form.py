"""Holds a rule to the form that its page, messages, options and examples should have."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

from cudalint.rule import FixSafety
from cudalint.ruleform import fault_of
from cudalint.rulepage import read_page

if TYPE_CHECKING:
    from cudalint.rule import Rule


def check_form(rule: type[Rule]) -> None:
    """Raise AssertionError, with what is missing, unless a plugin's rule has the form of ours.

    Beyond what it needs to run at all: a docstring with every heading, its options
    named there, messages that are sentences with quoted places, an example of each
    kind, and one with the text after the fix for a rule that fixes.
    """
    fault = fault_of(rule)
    if fault is not None:
        raise AssertionError(f"{rule.__name__} {fault}")
    check_page(rule)
    check_messages(rule)
    if not rule.INVALID or not rule.VALID:
        raise AssertionError(f"{rule.code} lacks an INVALID or a VALID example")
    fixed = any(example.fixed is not None for example in rule.INVALID)
    if fixed is not (rule.fix is not FixSafety.NONE):
        raise AssertionError(f"{rule.code}: 'fix' and the examples' 'fixed' do not go together")


def check_page(rule: type[Rule]) -> None:
    """Raise AssertionError unless the docstring is a page, and has the options there are."""
    try:
        page = read_page(rule)
    except ValueError as error:
        raise AssertionError(str(error)) from None
    keys = [field.encode_name for field in msgspec.structs.fields(rule.options)]
    if ("Options" in page.sections) is not bool(keys):
        raise AssertionError(f"{rule.code}: the heading 'Options' and the options {keys}")
    for key in keys:
        if f"`{key}`" not in page.sections["Options"]:
            raise AssertionError(f"{rule.code}: the option `{key}` is not explained")


def check_messages(rule: type[Rule]) -> None:
    """Raise AssertionError unless every message is a sentence whose places are quoted."""
    if not rule.messages:
        raise AssertionError(f"{rule.code} has no messages")
    for id_, template in rule.messages.items():
        fault = _fault_of_message(template)
        if fault is not None:
            raise AssertionError(f"{rule.code}: the message '{id_}' {fault}")


def _fault_of_message(template: str) -> str | None:
    if not template.endswith(".") or template.endswith(".."):
        return "does not end in one period"
    if "](" in template:
        return "holds '](', which SARIF takes for a link"
    places = re.findall(r"(.)\{(\d)\}(.)", template.replace("{{", "").replace("}}", ""))
    if any(not before == after == "'" for before, _, after in places):
        return "has a place without single quotes"
    numbers = sorted({int(number) for _, number, _ in places})
    return None if numbers == list(range(len(numbers))) else "leaves out a number"
