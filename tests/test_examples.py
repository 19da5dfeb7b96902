"""Every rule's own examples, taken strictly.

INVALID: exactly the marked spans, the message, the fixed text, and a fix that
changes nothing when it is made again. VALID: nothing from any rule.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from annotated import read_annotated
from conftest import lint, write_files
from cudalint.compile.toolchain import Toolchains
from cudalint.finding import Finding, Span
from cudalint.fixes.edits import apply_edits, joined_edits
from cudalint.registry import all_rules
from cudalint.rule import CompileRule, Example, FixSafety, Rule
from cudalint.run import Run

RULES = all_rules()

Case = tuple[type[Rule], Example]


def _cases(kind: str, *, compiled: bool) -> list[object]:
    return [
        pytest.param(rule, example, id=f"{rule.code}-{number}")
        for rule in RULES
        if issubclass(rule, CompileRule) == compiled
        for number, example in enumerate(getattr(rule, kind))
    ]


def _set_up(example: Example, root: Path) -> tuple[dict[str, bytes], list[Span]]:
    """Write the example's files; their bytes, and the spans that are marked in them."""
    files: dict[str, bytes] = {}
    spans: list[Span] = []
    for path, text in (*example.files.items(), (example.path, example.code)):
        files[path], marked = read_annotated(path, text)
        spans += marked
    write_files(root, {"cudalint.toml": example.settings, **files})
    return files, spans


def _lint(rule: type[Rule], root: Path, **more: object) -> Run:
    finished = lint(root, extend_select=(rule.code,), **more)
    assert [note.message for note in finished.notifications if note.level.value == "error"] == []
    return finished


def _of(rule: type[Rule], finished: Run) -> list[Finding]:
    return [finding for finding in finished.findings if finding.code == rule.code]


def _mend(files: dict[str, bytes], findings: list[Finding]) -> dict[str, bytes]:
    """The files with every fix made."""
    edits = joined_edits(finding.fix for finding in findings if finding.fix)
    by_path = {path: [e for e in edits if e.span.path == path] for path in files}
    assert sum(map(len, by_path.values())) == len(edits), "a fix edits a file that is not there"
    return {path: apply_edits(data, by_path[path]) for path, data in files.items()}


def _check_invalid(rule: type[Rule], example: Example, root: Path, **more: object) -> None:
    files, spans = _set_up(example, root)
    findings = _of(rule, _lint(rule, root, **more))
    shown = [(finding.span, finding.message) for finding in findings]
    assert sorted(span for span, _ in shown) == sorted(spans), shown
    assert spans, "an invalid example marks at least one finding"
    assert example.message in findings[0].message
    if rule.fix is FixSafety.NONE:
        assert [finding.fix for finding in findings if finding.fix] == []
    if example.fixed is None:
        return
    assert any(finding.fix for finding in findings), "`fixed` is given, and nothing offers a fix"
    mended = _mend(files, findings)
    assert mended[example.path].decode("utf-8", "surrogateescape") == example.fixed
    write_files(root, {**mended})
    again = _of(rule, _lint(rule, root, **more))
    assert _mend(mended, again) == mended, "a fix made twice must change nothing more"


def _check_valid(rule: type[Rule], example: Example, root: Path, **more: object) -> None:
    _, spans = _set_up(example, root)
    assert spans == [], "a valid example marks nothing"
    assert not {rule.code, rule.name} & set(example.also), "`also` is for other rules"
    exempt = {r.code for r in RULES if {r.code, r.name} & set(example.also)}
    found = [f for f in _lint(rule, root, **more).findings if f.code not in exempt]
    assert [(f.code, f.message, f.span) for f in found] == []


@pytest.mark.parametrize(("rule", "example"), _cases("INVALID", compiled=False))
def test_invalid(rule: type[Rule], example: Example, tmp_path: Path) -> None:
    _check_invalid(rule, example, tmp_path)


@pytest.mark.parametrize(("rule", "example"), _cases("VALID", compiled=False))
def test_valid(rule: type[Rule], example: Example, tmp_path: Path) -> None:
    _check_valid(rule, example, tmp_path)


@pytest.mark.nvcc
@pytest.mark.parametrize(("rule", "example"), _cases("INVALID", compiled=True))
def test_invalid_compiled(
    rule: type[Rule], example: Example, tmp_path: Path, toolchains: Toolchains
) -> None:
    _check_invalid(rule, example, tmp_path, compile="always")


@pytest.mark.nvcc
@pytest.mark.parametrize(("rule", "example"), _cases("VALID", compiled=True))
def test_valid_compiled(
    rule: type[Rule], example: Example, tmp_path: Path, toolchains: Toolchains
) -> None:
    _check_valid(rule, example, tmp_path, compile="always")


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_there_are_enough_examples(rule: type[Rule]) -> None:
    assert len(rule.INVALID) >= 6
    assert len(rule.VALID) >= 6
    assert len({e.code + str(e.files) + e.settings for e in rule.INVALID}) == len(rule.INVALID)
    if rule.fix is not FixSafety.NONE:
        assert any(example.fixed is not None for example in rule.INVALID)
