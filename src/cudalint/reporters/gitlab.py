"""GitLab's code quality report, shown in the merge request.

One array of issues, with the fields that GitLab reads. Fingerprints don't
change when lines move, so that an old finding is not taken for a new one.
"""

from __future__ import annotations

import msgspec

from cudalint.finding import Finding, Level
from cudalint.reporters.reported import Reported
from cudalint.reporters.visible import encodable
from cudalint.run import Notification, Run

_SEVERITIES = {Level.ERROR: "major", Level.WARNING: "minor", Level.NOTE: "info"}


def gitlab(run: Run) -> str:
    """An issue for each finding; one at the project's folder for what made the run fail."""
    reported = Reported(run)
    issues = [_issue(finding, reported) for finding in run.findings]
    issues += [_problem(problem, reported) for problem in reported.problems]
    return msgspec.json.format(msgspec.json.encode(issues), indent=2).decode() + "\n"


def _issue(finding: Finding, reported: Reported) -> dict[str, object]:
    place = reported.range(finding.span)
    return {
        "description": encodable(f"{finding.code} {finding.message}"),
        "check_name": reported.rule_name(finding.code),
        "fingerprint": reported.fingerprint(finding),
        "severity": _SEVERITIES[finding.level],
        "location": {
            "path": reported.path(finding.span.path),
            "lines": {"begin": place.start.line, "end": place.end.line},
        },
    }


def _problem(problem: Notification, reported: Reported) -> dict[str, object]:
    from hashlib import sha256

    message = encodable(problem.message)
    path = "." if problem.span is None else reported.path(problem.span.path)
    return {
        "description": f"cudalint failed: {message}",
        "check_name": problem.id,
        "fingerprint": sha256(f"{problem.id}\0{path}\0{message}".encode()).hexdigest(),
        "severity": "blocker",
        "location": {"path": path, "lines": {"begin": 1, "end": 1}},
    }
