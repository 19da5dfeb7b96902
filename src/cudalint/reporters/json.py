"""One JSON document with all that a run has to say, for scripts and other tools.

The records are those of `cudalint.reporters.records`; docs/output.schema.json is their schema.
"""

from __future__ import annotations

import msgspec

from cudalint.reporters.records import (
    BaselinedRecord,
    FindingRecord,
    NotificationRecord,
    Records,
    SkipRecord,
    SummaryRecord,
    SuppressedRecord,
)
from cudalint.run import Run


class Document(msgspec.Struct, frozen=True):
    """The whole of a run's JSON."""

    summary: SummaryRecord
    findings: list[FindingRecord]
    suppressed: list[SuppressedRecord]
    skips: list[SkipRecord]
    notifications: list[NotificationRecord]
    baselined: list[BaselinedRecord]


def json(run: Run) -> str:
    """The document of `run`: findings, suppressed ones with their reasons, skips, notifications."""
    made = Records(run)
    document = Document(
        summary=made.summary,
        findings=made.findings,
        suppressed=made.suppressed,
        skips=made.skips,
        notifications=made.notifications,
        baselined=made.baselined,
    )
    return msgspec.json.format(msgspec.json.encode(document), indent=2).decode() + "\n"
