"""JSON and JSON lines: held to the published schema, and to what the run says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
from hypothesis import given
from msgspec.structs import replace
from sample_runs import SampleNote, SampleRecord, run_of, runs, span_of

from cudalint.finding import Edit, Fix, Level, Related
from cudalint.reporters.json import Document
from cudalint.reporters.json import json as report
from cudalint.reporters.json_lines import json_lines
from cudalint.reporters.records import Record
from cudalint.reporters.sarif import sarif
from cudalint.run import Notification, Run, Skip, Suppressed

SCHEMA = json.loads((Path(__file__).parents[3] / "docs/output.schema.json").read_text())
SOURCE = "void f() {\n  é(); g();\n  g();\n}\n".encode()


def read(run: Run) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(report(run))
    jsonschema.validate(found, SCHEMA)
    return found


@given(run=runs())
def test_any_report_keeps_the_schema_and_loses_nothing(run: Run) -> None:
    found = read(run)
    assert len(found["findings"]) == found["summary"]["findings"] == len(run.findings)
    assert [one["reason"] for one in found["suppressed"]] == [s.reason for s in run.suppressed]
    for record, finding in zip(found["findings"], run.findings, strict=True):
        assert record["place"]["start"]["offset"] == finding.span.start
        assert record["place"]["end"]["offset"] == finding.span.end
    msgspec.json.decode(report(run), type=Document)


@given(run=runs())
def test_the_lines_are_the_same_records(run: Run) -> None:
    lines = json_lines(run).splitlines()
    document = read(run)
    for line in lines:
        msgspec.json.decode(line, type=Record)
    kinds = ("findings", "suppressed", "skips", "notifications")
    records = [record for kind in kinds for record in document[kind]]
    assert [json.loads(line) for line in lines] == [*records, document["summary"]]


def sample() -> Run:
    path = "k/a.cu"
    first, second = span_of(path, SOURCE, "g();"), span_of(path, SOURCE, "g();", 1)
    edit = Edit(first, "g(é);")
    silenced = SampleNote.report("lazy", second, "g", "f")
    return run_of(
        {path: SOURCE},
        [
            SampleRecord.report(
                "missing",
                first,
                "g",
                fix=Fix("Name it", (edit,), safe=False),
                related=[Related(second, "and here")],
                flow=[Related(first, "a step")],
                bytes=48,
            )
        ],
        suppressed=[Suppressed(silenced, "one stream", second)],
        skips=(Skip("CU5", "no nvcc"),),
        notifications=(Notification("rule-failed", Level.ERROR, "oh", first),),
        exit_code=2,
    )


def test_what_a_finding_says() -> None:
    document = read(sample())
    (finding,) = document["findings"]
    place = finding["place"]
    assert place["path"] == "k/a.cu"
    assert place["start"] == {"line": 2, "column": 8, "offset": SOURCE.index(b"g();")}
    assert (finding["code"], finding["name"]) == ("CU302", "event-record-without-stream")
    assert (finding["level"], finding["confidence"]) == ("error", "high")
    assert finding["properties"] == {"bytes": 48}
    assert finding["fix"] == {
        "title": "Name it",
        "safe": False,
        "edits": [{"place": place, "text": "g(é);"}],
    }
    assert [p["label"] for p in finding["related"] + finding["flow"]] == ["and here", "a step"]
    (silenced,) = document["suppressed"]
    assert (silenced["reason"], silenced["finding"]["code"]) == ("one stream", "CU310")
    assert silenced["place"]["start"]["line"] == 3
    assert document["skips"] == [{"type": "skip", "what": "CU5", "why": "no nvcc"}]
    assert document["notifications"][0]["place"]["start"] == place["start"]
    assert document["summary"]["exit_code"] == 2


def test_the_fingerprint_is_the_one_of_sarif() -> None:
    result = json.loads(sarif(sample()))["runs"][0]["results"][0]
    (finding,) = read(sample())["findings"]
    assert result["partialFingerprints"]["cudalint/v1"] == finding["fingerprint"]


def test_the_root_is_as_seen_from_where_one_stands() -> None:
    assert read(sample())["summary"]["root"] == "."
    below = replace(sample(), cwd="/nowhere/at/all/k")
    assert read(below)["summary"]["root"] == ".."


def test_the_schema_would_refuse() -> None:
    document = read(sample())
    document["findings"][0].pop("code")
    assert not jsonschema.Draft202012Validator(SCHEMA).is_valid(document)
