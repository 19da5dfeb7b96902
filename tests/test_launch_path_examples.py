"""Every rule on launch paths, by its own examples: each finding names the launch and has the chain.

A rule is one of these when its messages say what is launched. The chain is held
to the sources: each step stands in the body of the function that the step
before it went to.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from conftest import lint, write_files
from cudalint.finding import Finding, Related, Span
from cudalint.lines import LineIndex
from cudalint.registry import all_rules
from cudalint.reporters.sarif import sarif
from cudalint.reporters.text import text
from cudalint.rule import Example, Rule
from cudalint.run import Run
from cudalint.syntax.model import FileModel
from cudalint.testing.annotated import read_annotated

ON_PATH = re.compile(r"(?:^|-)(?:here|through|called)$")
RULES = [
    rule for rule in all_rules() if any("launches '{2}'" in said for said in rule.messages.values())
]


def cases() -> list[object]:
    return [
        pytest.param(rule, example, id=f"{rule.code}-{number}")
        for rule in RULES
        for number, example in enumerate(rule.INVALID)
    ]


def run_example(rule: type[Rule], example: Example, root: Path) -> tuple[Run, list[Finding]]:
    """The run over an example, and the findings of the rule that are on a launch path."""
    files = (*example.files.items(), (example.path, example.code))
    sources = {path: read_annotated(path, code)[0] for path, code in files}
    write_files(root, {"cudalint.toml": example.settings, **sources})
    finished = lint(root, extend_select=(rule.code,))
    own = [finding for finding in finished.findings if finding.code == rule.code]
    return finished, [finding for finding in own if ON_PATH.search(finding.message_id)]


def function_at(models: dict[str, FileModel], span: Span) -> str:
    """The name of the innermost function with a name whose text holds `span`."""
    around = [
        function
        for function in models[span.path].functions
        if function.name and function.body and (function.use or function.span).covers(span.start)
    ]
    return min(around, key=lambda f: f.span.end - f.span.start).name


def check_chain(finding: Finding, models: dict[str, FileModel]) -> None:
    """From the root to the launch and to the fault, each step in the function before it."""
    root, *steps, last = finding.flow
    started = re.fullmatch(r"'(.*)' starts the launch path", root.label)
    assert started is not None
    assert function_at(models, root.span) == started[1]
    assert last.span == finding.span or last.label.startswith(f"'{finding.arguments[0]}' ")
    at = started[1]
    launched: list[Related] = []
    for step in steps:
        here = function_at(models, step.span)
        called = re.fullmatch(r"(calls|launches) '(.*)'", step.label)
        assert called is not None
        if launched and here == started[1]:
            at = here
        assert here == at
        if called[1] == "launches":
            launched.append(step)
            at = started[1]
        else:
            at = called[2]
    assert len(launched) == 1
    assert any(
        related.span == launched[0].span and related.label == f"launch of '{finding.arguments[2]}'"
        for related in finding.related
    )
    if "#define" not in text_of(finding, models):
        assert function_at(models, last.span) == finding.arguments[1]


def text_of(finding: Finding, models: dict[str, FileModel]) -> str:
    """The directive that holds the finding, for one in a macro's body; else nothing."""
    macros = models[finding.span.path].macros
    return "#define" if any(m.span.covers(finding.span.start) for m in macros) else ""


@pytest.mark.parametrize(("rule", "example"), cases())
def test_a_finding_names_the_launch_and_has_the_chain(
    rule: type[Rule], example: Example, tmp_path: Path
) -> None:
    finished, findings = run_example(rule, example, tmp_path)
    models = dict(finished.models)
    shown = text(finished)
    log = json.loads(sarif(finished))["runs"][0]["results"]
    for finding in findings:
        assert f"'{finding.arguments[2]}'" in finding.message
        check_chain(finding, models)
        lines = {path: LineIndex(file.data) for path, file in finished.sources.items()}
        places = [
            (step.span.path, lines[step.span.path].position(step.span.start), step.label)
            for step in finding.flow
        ]
        for number, (path, place, label) in enumerate(places, 1):
            assert f" = step {number}: {path}:{place.line}:{place.column}: {label}\n" in shown
        result = next(r for r in log if is_of(r, finding, lines))
        assert steps_of(result) == [(path, place.line, label) for path, place, label in places]
        related = [r["message"]["text"] for r in result["relatedLocations"]]
        assert f"launch of '{finding.arguments[2]}'" in related


def is_of(result: dict[str, Any], finding: Finding, lines: dict[str, LineIndex]) -> bool:
    """Whether a SARIF result is that of a finding."""
    physical = result["locations"][0]["physicalLocation"]
    place = lines[finding.span.path].position(finding.span.start, "utf16")
    found = (physical["artifactLocation"]["uri"], physical["region"]["startLine"])
    column = physical["region"].get("startColumn", 1)
    return (
        result["ruleId"] == finding.code
        and (*found, column) == (finding.span.path, place.line, place.column)
        and result["message"]["text"] == finding.message
    )


def steps_of(result: dict[str, Any]) -> list[tuple[str, int, str]]:
    """Path, line and text of each location of a SARIF result's one code flow."""
    [flow] = result["codeFlows"]
    [thread] = flow["threadFlows"]
    locations = [step["location"] for step in thread["locations"]]
    return [
        (
            location["physicalLocation"]["artifactLocation"]["uri"],
            location["physicalLocation"]["region"]["startLine"],
            location["message"]["text"],
        )
        for location in locations
    ]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_a_rule_shows_a_chain_of_several_functions(rule: type[Rule], tmp_path: Path) -> None:
    found = [
        finding
        for number, example in enumerate(rule.INVALID)
        for finding in run_example(rule, example, tmp_path / str(number))[1]
    ]
    assert {finding.message_id.rpartition("-")[2] for finding in found} >= {"here", "called"}


def test_which_rules_are_on_launch_paths() -> None:
    codes = {rule.code for rule in RULES}
    assert codes >= {"CU205", "CU301", "CU304", "CU305", "CU306", "CU308", "CU310", "CU311"}
