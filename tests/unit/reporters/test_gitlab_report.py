"""GitLab's code quality report, held to the fields that GitLab documents."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
from hypothesis import given
from sample_runs import SampleNote, SampleRecord, run_of, runs, span_of

from cudalint.finding import Level
from cudalint.reporters.gitlab import gitlab
from cudalint.reporters.sarif import sarif
from cudalint.run import Notification, Run

SCHEMA = json.loads(
    (Path(__file__).parents[2] / "fixtures/schemas/gitlab-code-quality.json").read_text()
)
SOURCE = b"void f() {\n  g();\n  g();\n}\n"


def issues(run: Run) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(gitlab(run))
    jsonschema.validate(found, SCHEMA)
    return found


@given(run=runs())
def test_any_report_keeps_the_schema(run: Run) -> None:
    found = issues(run)
    ours = [issue for issue in found if issue["severity"] != "blocker"]
    assert len(ours) == len(run.findings)
    prints = [issue["fingerprint"] for issue in ours]
    assert len(set(prints)) == len(prints)


def test_issues_say_what_findings_say() -> None:
    path = "k/a.cu"
    first, second = span_of(path, SOURCE, "g();"), span_of(path, SOURCE, "g();", 1)
    run = run_of(
        {path: SOURCE},
        [
            SampleRecord.report("missing", first, "g"),
            SampleRecord.report("missing", second, "g", level=Level.WARNING),
            SampleNote.report("lazy", second, "g", "f"),
        ],
    )
    one, two, three = issues(run)
    assert one == {
        "description": "CU302 'g' names no stream and records on the null stream; name one.",
        "check_name": "event-record-without-stream",
        "fingerprint": one["fingerprint"],
        "severity": "major",
        "location": {"path": path, "lines": {"begin": 2, "end": 2}},
    }
    assert (two["severity"], three["severity"]) == ("minor", "info")
    assert issues(run_of({path: b"\n\n" + SOURCE}, run.findings))[0]["location"]["lines"] != {}


def test_the_fingerprint_is_the_one_of_sarif_and_stays_when_lines_move() -> None:
    path = "k/a.cu"

    def run(source: bytes) -> Run:
        span = span_of(path, source, "g();", 1)
        return run_of({path: source}, [SampleRecord.report("missing", span, "g")])

    (one,), (moved,) = issues(run(SOURCE)), issues(run(b"\n// more\n" + SOURCE))
    assert one["fingerprint"] == moved["fingerprint"]
    assert one["location"] != moved["location"]
    result = json.loads(sarif(run(SOURCE)))["runs"][0]["results"][0]
    assert result["partialFingerprints"]["cudalint/v1"] == one["fingerprint"]


def test_a_failed_run_is_no_clean_one() -> None:
    problem = Notification("invalid-settings", Level.ERROR, "no such key")
    note = Notification("regions-not-understood", Level.NOTE, "1 region in 1 file not understood")
    (issue,) = issues(run_of({}, notifications=(problem, note), exit_code=2))
    assert issue["severity"] == "blocker"
    assert issue["description"] == "cudalint failed: no such key"
