"""Every rule's examples as a SARIF log: each finding at the marked line and column.

The places are read from the markers by themselves: line numbers and UTF-16
columns, with none of the package's arithmetic.
"""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import jsonschema
import pytest

from conftest import lint, write_files
from cudalint.compile.toolchain import Toolchains
from cudalint.registry import all_rules
from cudalint.reporters.sarif import sarif
from cudalint.rule import CompileRule, Example, Rule
from cudalint.testing.annotated import read_annotated

SCHEMA = Path(__file__).parent / "fixtures" / "sarif" / "sarif-schema-2.1.0.json"
FEW = 2
"""How many examples of each rule are taken."""


@cache
def validator() -> Any:
    """The validator for the official schema."""
    return jsonschema.Draft4Validator(json.loads(SCHEMA.read_text(encoding="utf-8")))


def units(text: str) -> int:
    """The UTF-16 code units of a text."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def marked_places(path: str, text: str) -> list[tuple[str, int, int, int | None]]:
    """Path, line, column and end column of each marker; no end for an empty or whole-file one."""
    places: list[tuple[str, int, int, int | None]] = []
    lines: list[str] = []
    for line in text.split("\n"):
        marker = line.rstrip("\r")
        if re.fullmatch(r"[ \t]*[~^]+(?:[ \t]+[~^]+)*[ \t]*", marker) is None:
            lines.append(line.rstrip("\r"))
        elif not lines:
            places.append((path, 1, 1, None))
        else:
            above = lines[-1].removeprefix("\ufeff") if len(lines) == 1 else lines[-1]
            shift = len(lines[-1]) - len(above)
            for run in re.finditer(r"~+|\^", marker):
                start = units(above[: max(0, run.start() - shift)]) + 1
                end = units(above[: max(0, run.end() - shift)]) + 1
                places.append((path, len(lines), start, None if run.group() == "^" else end))
    return places


def cases(*, compiled: bool) -> list[object]:
    """The first examples of each rule."""
    return [
        pytest.param(rule, example, id=f"{rule.code}-{number}")
        for rule in all_rules()
        if issubclass(rule, CompileRule) == compiled
        for number, example in enumerate(rule.INVALID[:FEW])
    ]


def check(rule: type[Rule], example: Example, root: Path, **more: Any) -> None:
    """Lint an example, and hold the log to its markers and to the schema."""
    texts = {**example.files, example.path: example.code}
    files = {path: read_annotated(path, text)[0] for path, text in texts.items()}
    write_files(root, {"cudalint.toml": example.settings, **files})
    finished = lint(root, extend_select=(rule.code,), **more)
    log = json.loads(sarif(finished).encode("utf-8"))
    assert [error.message for error in validator().iter_errors(log)] == []
    found = []
    for result in log["runs"][0]["results"]:
        if result["ruleId"] != rule.code:
            continue
        physical = result["locations"][0]["physicalLocation"]
        region = physical["region"]
        assert region["startLine"] <= region.get("endLine", region["startLine"])
        uri = unquote(physical["artifactLocation"]["uri"])
        place = (uri, region["startLine"], region.get("startColumn", 1))
        one_line = region.get("endLine") == region["startLine"]
        found.append((*place, region.get("endColumn") if one_line else None))
    wanted = [place for path, text in texts.items() for place in marked_places(path, text)]
    assert len(found) == len(wanted)
    for place in wanted:
        starts = [other for other in found if other[:3] == place[:3]]
        empty_at_the_end = (place[0], place[1], place[2] - 1)
        if place[3] is None and not starts:
            starts = [other for other in found if other[:3] == empty_at_the_end]
        assert starts, (place, found)
        if place[3] is not None:
            assert place in found


@pytest.mark.parametrize(("rule", "example"), cases(compiled=False))
def test_places(rule: type[Rule], example: Example, tmp_path: Path) -> None:
    check(rule, example, tmp_path)


def with_fixes() -> list[object]:
    """An example of each rule that fixes, with the text after all of its fixes."""
    return [
        pytest.param(rule, fixed[0], id=rule.code)
        for rule in all_rules()
        if (fixed := [example for example in rule.INVALID if example.fixed is not None])
    ]


@pytest.mark.parametrize(("rule", "example"), with_fixes())
def test_fixes(rule: type[Rule], example: Example, tmp_path: Path) -> None:
    """A consumer that makes the log's replacements has the text that --fix writes."""
    texts = {**example.files, example.path: example.code}
    files = {path: read_annotated(path, text)[0] for path, text in texts.items()}
    write_files(tmp_path, {"cudalint.toml": example.settings, **files})
    log = json.loads(sarif(lint(tmp_path, extend_select=(rule.code,))).encode("utf-8"))
    text = files[example.path].decode("utf-8", "surrogateescape")
    made = set()
    for result in log["runs"][0]["results"]:
        for fix in result.get("fixes", []) if result["ruleId"] == rule.code else ():
            for change in fix["artifactChanges"]:
                assert unquote(change["artifactLocation"]["uri"]) == example.path
                made |= {_replacement(text, one) for one in change["replacements"]}
    assert made
    for start, end, inserted in sorted(made, reverse=True):
        text = text[:start] + inserted + text[end:]
    assert text == example.fixed


def _replacement(text: str, replacement: dict[str, Any]) -> tuple[int, int, str]:
    """A replacement as places in the text: lines and UTF-16 columns, no end for an empty one."""
    region = replacement["deletedRegion"]
    lines = text.split("\n")

    def place(line: int, column: int) -> int:
        before = lines[line - 1].encode("utf-16-le", "surrogatepass")[: 2 * (column - 1)]
        shown = before.decode("utf-16-le", "surrogatepass")
        return sum(len(one) + 1 for one in lines[: line - 1]) + len(shown)

    start = place(region["startLine"], region["startColumn"])
    end = place(region.get("endLine", region["startLine"]), region["endColumn"])
    return start, end, replacement["insertedContent"]["text"]


@pytest.mark.nvcc
@pytest.mark.parametrize(("rule", "example"), cases(compiled=True))
def test_places_compiled(
    rule: type[Rule], example: Example, tmp_path: Path, toolchains: Toolchains
) -> None:
    check(rule, example, tmp_path, compile="always")
