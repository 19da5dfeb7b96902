"""One tree with a violation of every rule planted in it: SARIF has each at its place.

The violations are an invalid example of each rule, each in a folder of its own:
the first one with no settings but those of this tree.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from conftest import write_files
from cudalint.finding import Span
from cudalint.lines import LineIndex
from cudalint.registry import all_rules
from cudalint.rule import CompileRule, Example, Rule
from cudalint.testing.annotated import read_annotated

SETTINGS = 'targets = ["sm_121"]'

Place = tuple[str, int, int, int, int]


def _planted(*, compiled: bool) -> dict[type[Rule], Example]:
    rules = (rule for rule in all_rules() if issubclass(rule, CompileRule) == compiled)
    found = {}
    for rule in rules:
        fitting = (e for e in rule.INVALID if e.settings.strip() in ("", SETTINGS) and _shows(e))
        example = next(fitting, None)
        if example is not None:
            found[rule] = example
    return found


def _shows(example: Example) -> bool:
    """Whether every finding of the example is on text: SARIF widens an empty region."""
    texts = (*example.files.items(), (example.path, example.code))
    spans = [span for path, text in texts for span in read_annotated(path, text)[1]]
    return all(span.end > span.start or span.end == 0 for span in spans)


def _plant(root: Path, planted: dict[type[Rule], Example]) -> dict[str, list[Place]]:
    """Write the tree; the places of each rule's findings by code."""
    write_files(root, {"cudalint.toml": f"{SETTINGS}\n"})
    places: dict[str, list[Place]] = {}
    for rule, example in planted.items():
        own = places.setdefault(rule.code, [])
        for path, text in (*example.files.items(), (example.path, example.code)):
            planted_path = f"{rule.code}/{path}"
            data, spans = read_annotated(planted_path, text)
            write_files(root, {planted_path: data})
            own += (_place(span, data) for span in spans)
    return places


def _place(span: Span, data: bytes) -> Place:
    found = LineIndex(data).range(span.start, span.end, "utf16")
    start, end = found.start, found.end
    return span.path, start.line, start.column, end.line, end.column


def _lint(root: Path, *arguments: str) -> list[dict[str, Any]]:
    command = [sys.executable, "-c", "from cudalint.cli.main import main; main()"]
    command += [*arguments, "--output-format", "sarif", "."]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stderr) == (1, "")
    results: list[dict[str, Any]] = json.loads(done.stdout)["runs"][0]["results"]
    return results


def _found(results: list[dict[str, Any]], code: str) -> list[Place]:
    """The places of the rule's results in its own folder."""
    places = []
    for result in results:
        where = result["locations"][0]["physicalLocation"]
        path, region = where["artifactLocation"]["uri"], where["region"]
        if result["ruleId"] == code and path.startswith(f"{code}/"):
            line, column = region["startLine"], region.get("startColumn", 1)
            end = region.get("endLine", line), region.get("endColumn", column)
            places.append((path, line, column, *end))
    return places


def _check(expected: dict[str, list[Place]], results: list[dict[str, Any]]) -> None:
    for code, places in expected.items():
        whole_file = [place for place in places if place[1:] == (1, 1, 1, 1)]
        found = _found(results, code)
        if whole_file:
            # A finding on the whole file is on its first line, whatever the end.
            found = [(path, line, 1, 1, 1) if line == 1 else (path, line, *more)
                     for path, line, *more in found]  # fmt: skip
        assert sorted(found) == sorted(places), code


def test_every_violation_is_at_its_place(tmp_path: Path) -> None:
    planted = _planted(compiled=False)
    assert {rule.code for rule in planted} >= {"CU001", "CU101", "CU302", "CU401", "CU407"}
    expected = _plant(tmp_path, planted)
    # Rules in preview, or off by default, run when their codes are given.
    every = ",".join(expected)
    _check(expected, _lint(tmp_path, "--extend-select", every, "--compile", "never"))


@pytest.mark.nvcc
def test_every_violation_of_compiled_rules_is_at_its_place(
    tmp_path: Path, toolchains: object
) -> None:
    planted = _planted(compiled=True)
    assert {rule.code for rule in planted} >= {"CU501", "CU502", "CU503", "CU507", "CU508"}
    expected = _plant(tmp_path, planted)
    _check(expected, _lint(tmp_path, "--select", "CU5", "--compile", "always"))
