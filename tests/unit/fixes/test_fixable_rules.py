"""The rules that mend what they find, and how safely: public interface, like codes and names."""

from __future__ import annotations

from cudalint.registry import all_rules
from cudalint.rule import FixSafety


def test_which_rules_have_fixes() -> None:
    fixes = {rule.code: rule.fix for rule in all_rules() if rule.fix is not FixSafety.NONE}
    safe = dict.fromkeys(("CU002", "CU101", "CU103", "CU104", "CU201", "CU402"), FixSafety.SAFE)
    assert fixes == safe | dict.fromkeys(("CU302", "CU401"), FixSafety.UNSAFE)
