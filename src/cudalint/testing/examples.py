"""Runs a rule's examples, taken strictly.

INVALID: exactly the marked spans, the message, the fixed text, and a fix that
changes nothing when it is made again. VALID: nothing from any rule.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec

from cudalint.finding import Finding, Span
from cudalint.fixes.edits import apply_edits, joined_edits
from cudalint.rule import CompileRule, Example, FixSafety
from cudalint.runner import Request, run
from cudalint.settings.select import Overrides
from cudalint.testing.annotated import read_annotated

if TYPE_CHECKING:
    from cudalint.rule import Rule
    from cudalint.run import Run


class ExampleCase(msgspec.Struct, frozen=True):
    """The example with the index `number` of the rule's `kind` of examples."""

    rule: type[Rule]
    kind: Literal["INVALID", "VALID"]
    number: int

    def __str__(self) -> str:
        return f"{self.rule.code}-{self.kind.lower()}-{self.number}"

    @property
    def example(self) -> Example:
        """The example itself."""
        of_kind: Sequence[Example] = getattr(self.rule, self.kind)
        return of_kind[self.number]

    def check(self, folder: Path) -> None:
        """Write the example's files into the empty `folder`, lint them, and compare.

        Raises AssertionError with what was expected and found. Those of a CompileRule
        are compiled, and need an nvcc.
        """
        checked = _Checked(self.rule, self.example, folder)
        if self.kind == "INVALID":
            checked.invalid()
        else:
            checked.valid()


def examples(*rules: type[Rule]) -> list[ExampleCase]:
    """A case for each example of the rules, in order."""
    kinds: tuple[Literal["INVALID", "VALID"], ...] = ("INVALID", "VALID")
    return [
        ExampleCase(rule, kind, number)
        for rule in rules
        for kind in kinds
        for number in range(len(getattr(rule, kind)))
    ]


class _Checked:
    """One example in its folder."""

    def __init__(self, rule: type[Rule], example: Example, root: Path) -> None:
        self._rule = rule
        self._example = example
        self._root = root
        self._files: dict[str, bytes] = {}
        self._spans: list[Span] = []
        for path, text in (*example.files.items(), (example.path, example.code)):
            self._files[path], marked = read_annotated(path, text)
            self._spans += marked
        self._write({"cudalint.toml": example.settings.encode(), **self._files})

    def invalid(self) -> None:
        findings = self._of_rule(self._lint())
        shown = [(finding.span, finding.message) for finding in findings]
        _same("spans", sorted(span for span, _ in shown), sorted(self._spans), shown)
        _hold(bool(self._spans), "an invalid example marks at least one finding")
        message = findings[0].message
        _hold(self._example.message in message, f"the message of the first is {message!r}")
        fixing = [finding for finding in findings if finding.fix]
        if self._rule.fix is FixSafety.NONE:
            _hold(not fixing, "'fix' is none, and a fix is offered")
        if self._example.fixed is not None:
            _hold(bool(fixing), "'fixed' is given, and nothing offers a fix")
            self._check_fixes(findings, self._example.fixed)

    def valid(self) -> None:
        _hold(not self._spans, "a valid example marks nothing")
        exempt = set(self._example.also)
        _hold(not {self._rule.code, self._rule.name} & exempt, "'also' is for other rules")
        finished = self._lint()
        names = {entry.rule.code: entry.rule.name for entry in finished.rules}
        found = [f for f in finished.findings if not {f.code, names[f.code]} & exempt]
        _same("findings", [(f.code, f.message, f.span) for f in found], [], None)

    def _check_fixes(self, findings: Sequence[Finding], fixed: str) -> None:
        mended = self._mended(self._files, findings)
        text = mended[self._example.path].decode("utf-8", "surrogateescape")
        _same("text after the fixes", text, fixed, None)
        self._write(mended)
        again = self._mended(mended, self._of_rule(self._lint()))
        _same("text after making them again", again, mended, None)

    def _mended(self, files: dict[str, bytes], findings: Sequence[Finding]) -> dict[str, bytes]:
        """The files with every fix made."""
        edits = joined_edits(finding.fix for finding in findings if finding.fix)
        strange = {edit.span.path for edit in edits} - set(files)
        _hold(not strange, f"a fix edits {strange}, which is not there")
        return {
            path: apply_edits(data, [edit for edit in edits if edit.span.path == path])
            for path, data in files.items()
        }

    def _lint(self) -> Run:
        finished = run(
            Request(
                (".",),
                self._root,
                overrides=Overrides(extend_select=(self._rule.code,)),
                compile="always" if issubclass(self._rule, CompileRule) else "never",
                rules=(self._rule,),
            )
        )
        errors = [n.message + "\n" + n.detail for n in finished.notifications if n.level == "error"]
        _hold(not errors, "\n".join(errors))
        return finished

    def _of_rule(self, finished: Run) -> list[Finding]:
        return [finding for finding in finished.findings if finding.code == self._rule.code]

    def _write(self, files: dict[str, bytes]) -> None:
        for path, data in files.items():
            file = self._root / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data)


def _hold(holds: bool, what: str) -> None:
    if not holds:
        raise AssertionError(what)


def _same(what: str, found: object, expected: object, more: object) -> None:
    said = "" if more is None else f"\n  all of them: {more!r}"
    _hold(found == expected, f"{what}: expected {expected!r}\n  found {found!r}{said}")
