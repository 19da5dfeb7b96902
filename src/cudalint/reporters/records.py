"""The records that JSON output is made of, and how a run becomes them.

Records are only ever added to, and fields to records; what is there stays.
Paths are relative to the project root, lines and columns count from 1, columns
count characters, offsets bytes.
"""

from __future__ import annotations

import os

import msgspec

import cudalint
from cudalint.finding import Finding, Related, Span
from cudalint.reporters.reported import Reported
from cudalint.reporters.visible import encodable
from cudalint.run import Notification, Run, Suppressed

VERSION = 1
"""The version of the records; another one when a field changes its meaning or goes."""


class Point(msgspec.Struct, frozen=True):
    """A place between two characters."""

    line: int
    column: int
    offset: int


class Place(msgspec.Struct, frozen=True):
    """From `start` up to, and without, `end`, in the file at `path`."""

    path: str
    start: Point
    end: Point


class LabelledPlace(msgspec.Struct, frozen=True):
    """A further place, with a short word on what it is."""

    place: Place
    label: str


class EditRecord(msgspec.Struct, frozen=True):
    """The text that replaces a place."""

    place: Place
    text: str


class FixRecord(msgspec.Struct, frozen=True):
    """Edits to be made together; `safe` ones never change what the program does."""

    title: str
    safe: bool
    edits: list[EditRecord]


class FindingRecord(msgspec.Struct, frozen=True, tag_field="type", tag="finding"):
    """One fault at one place.

    `related` are places that explain it, `flow` the way that a program takes to
    it, in order; `properties` are numbers. `fingerprint` stays when lines move.
    """

    code: str
    name: str
    level: str
    message: str
    place: Place
    confidence: str
    message_id: str
    arguments: list[str]
    related: list[LabelledPlace]
    flow: list[LabelledPlace]
    fix: FixRecord | None
    properties: dict[str, int | float | str]
    fingerprint: str
    url: str


class SuppressedRecord(msgspec.Struct, frozen=True, tag_field="type", tag="suppressed"):
    """A finding that a comment silences; `reason` is what the comment gives, or ""."""

    finding: FindingRecord
    reason: str
    place: Place


class BaselinedRecord(msgspec.Struct, frozen=True, tag_field="type", tag="baselined"):
    """A finding that stands in the baseline."""

    finding: FindingRecord


class NotificationRecord(msgspec.Struct, frozen=True, tag_field="type", tag="notification"):
    """Something to know of the run itself; at level error the run failed."""

    id: str
    level: str
    message: str
    place: Place | None


class SkipRecord(msgspec.Struct, frozen=True, tag_field="type", tag="skip"):
    """A part of the analysis that did not take place."""

    what: str
    why: str


class SummaryRecord(msgspec.Struct, frozen=True, tag_field="type", tag="summary"):
    """The run: what was analysed, and how it ended.

    `root` is the project root as seen from the folder the run was started in;
    `rules` are the codes of the rules that ran. `baselined` and `unchanged` say
    how many findings a baseline holds, and how many the changes do not touch.
    """

    version: int
    cudalint: str
    root: str
    files: int
    kernels: int
    rules: list[str]
    findings: int
    suppressed: int
    exit_code: int
    baselined: int
    unchanged: int


Record = (
    FindingRecord
    | SuppressedRecord
    | BaselinedRecord
    | NotificationRecord
    | SkipRecord
    | SummaryRecord
)


class Records:
    """The records of one run."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._reported = Reported(run)
        self.findings = [self._finding(finding) for finding in run.findings]
        # Equal findings are counted among those of their own kind.
        self._reported = Reported(run)
        self.suppressed = [self._silenced(one) for one in run.suppressed]
        self._reported = Reported(run)
        self.baselined = [BaselinedRecord(self._finding(one)) for one in run.baselined]
        self.notifications = [self._notification(one) for one in run.notifications]
        self.skips = [SkipRecord(encodable(skip.what), encodable(skip.why)) for skip in run.skips]

    @property
    def summary(self) -> SummaryRecord:
        """The record of the run itself."""
        run = self._run
        return SummaryRecord(
            version=VERSION,
            cudalint=cudalint.__version__,
            root=encodable(os.path.relpath(run.root, run.cwd or run.root)),
            files=run.counts.files,
            kernels=run.counts.kernels,
            rules=[entry.rule.code for entry in run.rules if entry.ran],
            findings=len(run.findings),
            suppressed=len(run.suppressed),
            exit_code=run.exit_code,
            baselined=len(run.baselined),
            unchanged=run.unchanged,
        )

    def _finding(self, finding: Finding) -> FindingRecord:
        return FindingRecord(
            code=finding.code,
            name=self._reported.rule_name(finding.code),
            level=finding.level.value,
            message=encodable(finding.message),
            place=self._place(finding.span),
            confidence=finding.confidence.value,
            message_id=finding.message_id,
            arguments=[encodable(argument) for argument in finding.arguments],
            related=[self._labelled(related) for related in finding.related],
            flow=[self._labelled(step) for step in finding.flow],
            fix=self._fix(finding),
            properties={
                key: encodable(value) if isinstance(value, str) else value
                for key, value in finding.properties.items()
            },
            fingerprint=self._reported.fingerprint(finding),
            url=self._reported.address(finding.code),
        )

    def _fix(self, finding: Finding) -> FixRecord | None:
        if finding.fix is None:
            return None
        edits = [EditRecord(self._place(edit.span), edit.text) for edit in finding.fix.edits]
        return FixRecord(encodable(finding.fix.title), finding.fix.safe, edits)

    def _silenced(self, one: Suppressed) -> SuppressedRecord:
        return SuppressedRecord(
            self._finding(one.finding), encodable(one.reason), self._place(one.span)
        )

    def _notification(self, one: Notification) -> NotificationRecord:
        place = None if one.span is None else self._place(one.span)
        return NotificationRecord(one.id, one.level.value, encodable(one.message), place)

    def _labelled(self, related: Related) -> LabelledPlace:
        return LabelledPlace(self._place(related.span), encodable(related.label))

    def _place(self, span: Span) -> Place:
        return Place(
            encodable(span.path), self._point(span, span.start), self._point(span, span.end)
        )

    def _point(self, span: Span, offset: int) -> Point:
        position = self._reported.index(span.path).position(offset)
        return Point(position.line, position.column, offset)
