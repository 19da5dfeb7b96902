"""Every rule's own examples, taken strictly, as `cudalint.testing` runs them."""

from __future__ import annotations

from pathlib import Path

import pytest

from cudalint.compile.toolchain import Toolchains
from cudalint.registry import all_rules
from cudalint.rule import CompileRule, FixSafety, Rule
from cudalint.testing import ExampleCase, examples

RULES = all_rules()

COMPILED = [rule for rule in RULES if issubclass(rule, CompileRule)]
READ = [rule for rule in RULES if not issubclass(rule, CompileRule)]


@pytest.mark.parametrize("case", examples(*READ), ids=str)
def test_example(case: ExampleCase, tmp_path: Path) -> None:
    case.check(tmp_path)


@pytest.mark.nvcc
@pytest.mark.parametrize("case", examples(*COMPILED), ids=str)
def test_example_compiled(case: ExampleCase, tmp_path: Path, toolchains: Toolchains) -> None:
    case.check(tmp_path)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_there_are_enough_examples(rule: type[Rule]) -> None:
    assert len(rule.INVALID) >= 6
    assert len(rule.VALID) >= 6
    assert len({e.code + str(e.files) + e.settings for e in rule.INVALID}) == len(rule.INVALID)
    if rule.fix is not FixSafety.NONE:
        assert any(example.fixed is not None for example in rule.INVALID)
