"""What file rules find lies in the file that they are given: they are asked of no other."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conftest import write_files
from cudalint.context import Context
from cudalint.finding import Finding
from cudalint.registry import all_rules
from cudalint.rule import FileRule
from cudalint.runner import Request, run
from cudalint.syntax.model import FileModel
from cudalint.testing import ExampleCase, examples

RULES = [rule for rule in all_rules() if issubclass(rule, FileRule)]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_findings_lie_in_the_file(
    rule: type[FileRule], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    judged: list[tuple[str, Finding]] = []
    check = rule.check

    def watched(
        self: FileRule, file: FileModel, context: Context, options: Any
    ) -> Iterator[Finding]:
        for finding in check(self, file, context, options):
            judged.append((file.path, finding))
            yield finding

    monkeypatch.setattr(rule, "check", watched)
    for number, case in enumerate(examples(rule)):
        assert isinstance(case, ExampleCase)
        folder = tmp_path / str(number)
        folder.mkdir()
        case.check(folder)
    assert judged
    for path, finding in judged:
        assert {finding.span.path, *(span.path for span in finding.extents)} == {path}


def test_a_file_that_was_not_asked_for_is_judged_by_no_file_rule(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    include = "// SPDX-License-Identifier: MIT\n#include <iostream>\n"
    write_files(tmp_path, {"cudalint.toml": "", "a.cu": include, "b.cu": include})
    (banned,) = (rule for rule in RULES if rule.code == "CU103")
    judged: list[str] = []
    check = banned.check

    def watched(
        self: FileRule, file: FileModel, context: Context, options: Any
    ) -> Iterator[Finding]:
        judged.append(file.path)
        return check(self, file, context, options)

    monkeypatch.setattr(banned, "check", watched)
    found = run(Request(("b.cu",), tmp_path))
    assert (judged, set(found.sources)) == (["b.cu"], {"a.cu", "b.cu"})
    assert [finding.span.path for finding in found.findings if finding.code == "CU103"] == ["b.cu"]
