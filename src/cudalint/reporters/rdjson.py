"""The Reviewdog Diagnostic Format, for comments in code review by reviewdog.

Columns count UTF-8 bytes, a byte order mark among them, as reviewdog counts them.
"""

from __future__ import annotations

import codecs
import os

import msgspec

from cudalint.finding import Finding, Fix, Level, Span
from cudalint.fixes.edits import apply_edits
from cudalint.lines import Position
from cudalint.reporters.reported import Reported
from cudalint.reporters.visible import encodable
from cudalint.rulepage import HOME
from cudalint.run import Notification, Run

_SEVERITIES = {Level.ERROR: "ERROR", Level.WARNING: "WARNING", Level.NOTE: "INFO"}

_LONGEST = 4000
"""The most bytes of code that a suggestion may replace; nobody reviews a longer one."""


def rdjson(run: Run) -> str:
    """A diagnostic for each finding; one at the project's folder for what made the run fail.

    Paths are relative to the folder that the run was started in.
    """
    made = _Diagnostics(run)
    result = {
        "source": {"name": "cudalint", "url": HOME},
        "diagnostics": [
            *map(made.finding, run.findings),
            *map(made.problem, made.reported.problems),
        ],
    }
    return msgspec.json.format(msgspec.json.encode(result), indent=2).decode() + "\n"


class _Diagnostics:
    def __init__(self, run: Run) -> None:
        self.reported = Reported(run)
        self._root = run.root
        self._cwd = run.cwd or run.root

    def finding(self, finding: Finding) -> dict[str, object]:
        """The diagnostic of a finding."""
        code: dict[str, object] = {"value": finding.code}
        if self.reported.address(finding.code):
            code["url"] = self.reported.address(finding.code)
        diagnostic: dict[str, object] = {
            "message": encodable(finding.message),
            "location": self._location(finding.span),
            "severity": _SEVERITIES[finding.level],
            "code": code,
        }
        suggestion = None if finding.fix is None else self._suggestion(finding.fix)
        if suggestion is not None:
            diagnostic["suggestions"] = [suggestion]
        related = [
            {"message": encodable(place.label), "location": self._location(place.span)}
            for place in (*finding.related, *finding.flow)
        ]
        if related:
            diagnostic["related_locations"] = related
        return diagnostic

    def problem(self, problem: Notification) -> dict[str, object]:
        """The diagnostic of a failure of the run itself."""
        place = {"path": "."} if problem.span is None else self._location(problem.span)
        return {
            "message": encodable(f"cudalint failed: {problem.message}"),
            "location": place,
            "severity": "ERROR",
            "code": {"value": problem.id},
        }

    def _location(self, span: Span) -> dict[str, object]:
        path = span.path
        if self._cwd != self._root:
            path = os.path.relpath(f"{self._root}/{path}", self._cwd)
        return {"path": encodable(path), "range": self._range(span)}

    def _range(self, span: Span) -> dict[str, object]:
        place = self.reported.range(span, "bytes")
        return {
            "start": self._position(span.path, place.start),
            "end": self._position(span.path, place.end),
        }

    def _position(self, path: str, position: Position) -> dict[str, object]:
        column = position.column
        if position.line == 1 and self.reported.data(path).startswith(codecs.BOM_UTF8):
            column += len(codecs.BOM_UTF8)
        return {"line": position.line, "column": column}

    def _suggestion(self, fix: Fix) -> dict[str, object] | None:
        """The fix as one replacement; None for one of several files, or of much text.

        reviewdog takes each suggestion for a way of its own to mend the fault.
        """
        spans = [edit.span for edit in fix.edits]
        path = spans[0].path if spans else ""
        start, end = (
            min((s.start for s in spans), default=0),
            max((s.end for s in spans), default=0),
        )
        if not spans or end - start > _LONGEST or any(span.path != path for span in spans):
            return None
        data = self.reported.data(path)
        mended = apply_edits(data, fix.edits)
        text = mended[start : len(mended) - (len(data) - end)].decode("utf-8", "replace")
        index = self.reported.index(path)
        return {
            "range": {
                "start": self._position(path, index.position(start, "bytes")),
                "end": self._position(path, index.position(end, "bytes")),
            },
            "text": text,
        }
