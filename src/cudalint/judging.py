"""Runs the selected rules over what there is to judge.

A rule that fails loses its own findings at that one place, and the run says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from cudalint.finding import Finding, Level
from cudalint.rule import CompileRule, FileRule, ProjectRule, Rule, SuppressionRule, TreeRule
from cudalint.run import Notification

if TYPE_CHECKING:
    from cudalint.compile.model import CompiledFile
    from cudalint.context import Context
    from cudalint.settings.select import PerFileIgnores
    from cudalint.syntax.model import FileModel


class Selection(msgspec.Struct, frozen=True):
    """The rules of a run, with the options of each by its code, and where they don't apply."""

    rules: tuple[type[Rule], ...]
    options: dict[str, msgspec.Struct]
    ignores: PerFileIgnores

    def of_kind(self, kind: type[Rule]) -> tuple[type[Rule], ...]:
        """Those of the rules that judge one kind of thing."""
        return tuple(rule for rule in self.rules if issubclass(rule, kind))


class Judge:
    """Collects `findings`, and `notifications` of rules that failed."""

    def __init__(self, selection: Selection, context: Context) -> None:
        self._selection = selection
        self._context = context
        self.findings: list[Finding] = []
        self.notifications: list[Notification] = []

    def files(self, models: Mapping[str, FileModel], unreadable: Iterable[FileModel]) -> None:
        """Run the file rules: on each model, or, if they are for that, on each unreadable file."""
        for rule in self._selection.of_kind(FileRule):
            assert issubclass(rule, FileRule)
            for model in unreadable if rule.unreadable else models.values():
                if rule.code not in self._selection.ignores.ignored(model.path):
                    self._run(rule, model, f"'{model.path}'")

    def project(self) -> None:
        """Run the project rules."""
        for rule in self._selection.of_kind(ProjectRule):
            self._run(rule, self._context.project, "the project")

    def trees(self) -> None:
        """Run the tree rules on each kernel tree."""
        for rule in self._selection.of_kind(TreeRule):
            for tree in self._context.trees:
                self._run(rule, tree, f"the tree '{tree.root}'")

    def compiled(self, files: Sequence[CompiledFile]) -> None:
        """Run the rules on compiled resources; of two that tell the same one is kept."""
        left_to: dict[tuple[str, str], tuple[str, str]] = {}
        for rule in self._selection.of_kind(CompileRule):
            assert issubclass(rule, CompileRule)
            left_to.update(((rule.code, id_), other) for id_, other in rule.left_to.items())
            for file in files:
                before = len(self.findings)
                self._run(rule, file, f"'{file.path}'")
                self.findings[before:] = [
                    msgspec.structs.replace(finding, compiled_from=file.path)
                    for finding in self.findings[before:]
                ]
        told = {(f.compiled_from, f.span, f.code, f.message_id) for f in self.findings}
        self.findings = [
            finding
            for finding in self.findings
            if (other := left_to.get((finding.code, finding.message_id))) is None
            or (finding.compiled_from, finding.span, *other) not in told
        ]

    def suppression_rules(self) -> list[SuppressionRule]:
        """The rules on suppressions, which are run by whoever applies those."""
        rules = (rule() for rule in self._selection.of_kind(SuppressionRule))
        return [rule for rule in rules if isinstance(rule, SuppressionRule)]

    def _run(self, rule: type[Rule], subject: object, name: str) -> None:
        check: Any = getattr(rule(), "check")  # noqa: B009  (the four kinds differ in it)
        ignored = self._selection.ignores.ignored
        try:
            for finding in check(subject, self._context, self._selection.options[rule.code]):
                if finding.code not in ignored(finding.span.path):
                    self.findings.append(finding)
        except Exception as error:  # noqa: BLE001  (a faulty rule must not take the run with it)
            import traceback

            said = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
            message = f"internal error in {rule.code} on {name}: {said}"
            detail = traceback.format_exc()
            self.notifications.append(
                Notification("rule-failed", Level.ERROR, message, None, detail)
            )
