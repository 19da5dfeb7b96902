"""One JSON record on each line, its kind under `type`; the last is the run's summary."""

from __future__ import annotations

import msgspec

from cudalint.reporters.records import Records
from cudalint.run import Run


def json_lines(run: Run) -> str:
    """The findings, the suppressed ones, skips and notifications of `run`, then its summary."""
    made = Records(run)
    encode = msgspec.json.Encoder().encode
    records = (
        *made.findings,
        *made.suppressed,
        *made.baselined,
        *made.skips,
        *made.notifications,
        made.summary,
    )
    return "".join(f"{encode(record).decode()}\n" for record in records)
