"""Runs the selected rules over what there is to judge.

A rule that fails loses its own findings at that one place, and the run says so once.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext, redirect_stdout
from typing import TYPE_CHECKING, Protocol, TypeVar

import msgspec

from cudalint.finding import Finding, Level
from cudalint.rule import CompileRule, FileRule, ProjectRule, Rule, SuppressionRule, TreeRule
from cudalint.run import Notification, Plugin
from cudalint.wellformed import hold_to_form

if TYPE_CHECKING:
    from cudalint.compile.model import CompiledFile
    from cudalint.context import Context
    from cudalint.settings.select import PerFileIgnores
    from cudalint.suppress.model import FileSuppressions
    from cudalint.syntax.model import FileModel


S = TypeVar("S")


class _AtPath(Protocol):
    """What is judged file by file."""

    @property
    def path(self) -> str: ...


class Selection(msgspec.Struct, frozen=True):
    """The rules of a run, with the options of each by its code, and where they don't apply.

    `owners` gives the plugin of a rule by its code.
    """

    rules: tuple[type[Rule], ...]
    options: dict[str, msgspec.Struct]
    ignores: PerFileIgnores
    owners: dict[str, Plugin] = {}

    def of_kind(self, kind: type[Rule]) -> tuple[type[Rule], ...]:
        """Those of the rules that judge one kind of thing."""
        # `issubclass` of abstract classes asks each that is derived from them.
        return tuple(rule for rule in self.rules if kind in rule.__mro__)


def _file(judged: _AtPath) -> str:
    """What a file is called where a rule fails on it."""
    return f"'{judged.path}'"


class _Failure(msgspec.Struct):
    """How a rule failed first, on what, and in how many other places since."""

    said: str
    traceback: str
    others: int = 0


class Judge:
    """Collects `findings`, and what is to be said of rules that failed."""

    def __init__(self, selection: Selection, context: Context) -> None:
        self._selection = selection
        self._context = context
        self.findings: list[Finding] = []
        self._failures: dict[str, _Failure] = {}

    def files(self, models: Mapping[str, FileModel], unreadable: Iterable[FileModel]) -> None:
        """Run the file rules: on each model, or, if they are for that, on each unreadable file.

        Ours find nothing outside of the file that they are given, so that they are only
        given what was asked for; where a plugin's look is its own matter.
        """
        sources = self._context.sources
        asked = [model for path, model in models.items() if sources[path].requested]
        for rule in self._selection.of_kind(FileRule):
            assert issubclass(rule, FileRule)
            readable = models.values() if rule.code in self._selection.owners else asked
            ignored = self._selection.ignores.ignored
            judged = unreadable if rule.unreadable else readable
            self._run(rule, [m for m in judged if rule.code not in ignored(m.path)], _file)

    def project(self) -> None:
        """Run the project rules."""
        for rule in self._selection.of_kind(ProjectRule):
            self._run(rule, [self._context.project], lambda _: "the project")

    def trees(self) -> None:
        """Run the tree rules on each kernel tree."""
        for rule in self._selection.of_kind(TreeRule):
            self._run(rule, self._context.trees, lambda tree: f"the tree '{tree.root}'")

    def compiled(self, files: Sequence[CompiledFile]) -> None:
        """Run the rules on compiled resources; of two that tell the same one is kept."""
        left_to: dict[tuple[str, str], tuple[str, str]] = {}
        for rule in self._selection.of_kind(CompileRule):
            assert issubclass(rule, CompileRule)
            left_to.update(((rule.code, id_), other) for id_, other in rule.left_to.items())
            for file in files:
                before = len(self.findings)
                self._run(rule, [file], _file)
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
        return [_Guarded(rule, self) for rule in rules if isinstance(rule, SuppressionRule)]

    def lack_arch(self, rule: type[Rule], models: Iterable[FileModel]) -> bool:
        """Whether one of the files holds what the rule judges by an arch that is not known."""

        if not any("lacks_arch" in vars(kind) for kind in rule.__mro__ if kind is not Rule):
            return False  # it says so of no file

        def ask() -> bool:
            return any(rule.lacks_arch(model, self._context) for model in models)

        return self._answered(rule, "the archs", ask)

    def is_idle(self, rule: type[Rule]) -> bool:
        """Whether a rule judges nothing at all under the settings."""
        ask = rule.is_idle
        return self._answered(rule, "the settings", lambda: ask(self._context.settings))

    @property
    def has_failed(self) -> bool:
        """Whether any rule has failed so far."""
        return bool(self._failures)

    def failures(self) -> Iterator[Notification]:
        """One notification for each rule that failed."""
        for code, failure in self._failures.items():
            owner = self._selection.owners.get(code)
            whose = f" of plugin '{owner.name}'" if owner else ""
            places = "place" if failure.others == 1 else "places"
            more = f" (and in {failure.others} more {places})" if failure.others else ""
            message = f"internal error in {code}{whose} on {failure.said}{more}"
            yield Notification("rule-failed", Level.ERROR, message, None, failure.traceback)

    def of_suppressions(self, rule: SuppressionRule, file: FileSuppressions) -> list[Finding]:
        """What a rule says of the suppressions of a file, up to where it fails."""
        return self._made(type(rule), [file], _file, lambda file: rule.check(file))

    def _run(self, rule: type[Rule], subjects: Iterable[S], name: Callable[[S], str]) -> None:
        context, options = self._context, self._selection.options[rule.code]
        # The four kinds differ in what they judge.
        found = self._made(
            rule,
            subjects,
            name,
            lambda subject: getattr(rule(), "check")(subject, context, options),  # noqa: B009
        )
        if found:
            ignored = self._selection.ignores.ignored
            self.findings += [f for f in found if f.code not in ignored(f.span.path)]

    def _made(
        self,
        rule: type[Rule],
        subjects: Iterable[S],
        name: Callable[[S], str],
        check: Callable[[S], Iterable[Finding]],
    ) -> list[Finding]:
        """The findings that a rule makes of each of some things, up to where it fails on it.

        `name` tells what such a thing is called.
        """
        found: list[Finding] = []
        foreign = rule.code in self._selection.owners
        # What a plugin prints is no part of a report.
        with redirect_stdout(sys.stderr) if foreign else nullcontext():
            for subject in subjects:
                try:
                    for finding in check(subject):
                        if foreign:
                            hold_to_form(finding, rule, self._context.sources)
                        found.append(finding)
                except (Exception, SystemExit) as error:  # noqa: BLE001  (a rule's own matter)
                    self._fail(rule, name(subject), error)
        return found

    def _answered(self, rule: type[Rule], name: str, ask: Callable[[], bool]) -> bool:
        """What a rule answers; no if it fails, which takes nothing else along."""
        try:
            return ask()
        except (Exception, SystemExit) as error:  # noqa: BLE001  (whatever a rule does is its own)
            self._fail(rule, name, error)
            return False

    def _fail(self, rule: type[Rule], name: str, error: BaseException) -> None:
        """Keep how a rule failed first, and count in how many places."""
        import traceback

        failure = self._failures.get(rule.code)
        if failure is not None:
            failure.others += 1
            return
        said = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        trace = "".join(traceback.format_exception(error))
        self._failures[rule.code] = _Failure(f"{name}: {said}", trace)


class _Guarded(SuppressionRule):
    """A rule on suppressions that takes nothing else along when it fails."""

    def __init__(self, rule: SuppressionRule, judge: Judge) -> None:
        self._rule = rule
        self._judge = judge
        self.code = rule.code  # type: ignore[misc]  # it stands for that one rule

    def check(self, file: FileSuppressions) -> Iterator[Finding]:
        """The findings of the rule, up to where it fails."""
        yield from self._judge.of_suppressions(self._rule, file)
