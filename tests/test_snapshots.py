"""What rules say of their examples is what was written down when somebody looked at it."""

from __future__ import annotations

from pathlib import Path

import pytest

from cudalint.registry import all_rules
from cudalint.rule import Rule
from snapshots import FOLDER, snapshot


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.code)
def test_what_a_rule_says(rule: type[Rule], tmp_path: Path) -> None:
    kept = (FOLDER / f"{rule.code}.txt").read_text("utf-8")
    assert snapshot(rule, tmp_path) == kept, "`make snapshots` writes it anew; look at what changes"


def test_no_file_is_left_of_a_rule_that_is_gone() -> None:
    assert {file.stem for file in FOLDER.iterdir()} == {rule.code for rule in all_rules()}
