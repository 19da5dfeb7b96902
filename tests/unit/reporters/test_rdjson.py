"""reviewdog's format: held to a validator of it, and suggestions made as reviewdog makes them."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from msgspec.structs import replace
from sample_runs import SampleHeader, SampleNote, SampleRecord, run_of, runs, span_of

from cudalint.finding import Edit, Fix, Level, Related, Span
from cudalint.fixes.edits import apply_edits
from cudalint.reporters.rdjson import rdjson
from cudalint.run import Notification, Run

VALIDATOR = Path(__file__).parents[3] / ".tools/node_modules/@umbrelladocs/rdformat-validator"
SOURCE = "\ufeffvoid f() { é();\n\tcudaEventRecord(é);\n}\n".encode()


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    """The validator's schema; skips where it is not installed."""
    if not VALIDATOR.is_dir() or shutil.which("node") is None:
        pytest.skip(
            "no validator of rdjson: npm install --prefix .tools --no-save "
            "@umbrelladocs/rdformat-validator@1.0.1"
        )
    found: dict[str, Any] = json.loads(_node("console.log(JSON.stringify(v.getSchema()))"))
    return found


def _node(script: str, data: str = "") -> str:
    head = (
        f"const {{RDFormatValidator}} = require({json.dumps(str(VALIDATOR))});"
        "const v = new RDFormatValidator({strictMode: true, allowExtraFields: false});"
        "const input = require('fs').readFileSync(0, 'utf8');"
    )
    done = subprocess.run(
        ["node", "-e", head + script], input=data, capture_output=True, text=True, check=True
    )
    return done.stdout


def diagnostics(run: Run) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(rdjson(run))["diagnostics"]
    return found


@given(run=runs())
def test_any_report_keeps_the_schema(schema: dict[str, Any], run: Run) -> None:
    import jsonschema

    jsonschema.validate(json.loads(rdjson(run)), schema)


def test_the_schema_would_refuse(schema: dict[str, Any]) -> None:
    import jsonschema

    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"diagnostics": [{"message": "x"}]}, schema)


def sample() -> Run:
    path = "k/a.cu"
    call = span_of(path, SOURCE, "cudaEventRecord(é)".encode())
    name = span_of(path, SOURCE, "é(".encode())
    stream = Edit(span_of(path, SOURCE, "é)".encode()), "é, stream)")
    both = (Edit(Span(path, name.start, name.end - 1), "g"), stream)
    return run_of(
        {path: SOURCE},
        [
            SampleHeader.report("missing", Span(path, 0, 0), "MIT"),
            SampleRecord.report("missing", name, "é", fix=Fix("Both", both, safe=False)),
            SampleRecord.report(
                "missing",
                call,
                "x",
                level=Level.WARNING,
                fix=Fix("Name it", (stream,)),
                related=[Related(name, "and here")],
            ),
            SampleNote.report("lazy", call, "x", "y"),
        ],
    )


def test_the_validator_is_content(schema: dict[str, Any]) -> None:
    said = _node(
        "v.validateString(input).then(r => console.log(JSON.stringify([r.valid, r.errors])))",
        rdjson(sample()),
    )
    assert json.loads(said) == [True, []]


def test_columns_count_bytes_and_a_byte_order_mark() -> None:
    whole, first, second, note = diagnostics(sample())
    assert whole["location"]["range"]["start"] == {"line": 1, "column": 4}
    line = SOURCE.split(b"\n")[0]
    start = first["location"]["range"]["start"]["column"] - 1
    assert line[start:].startswith("é(".encode())
    end = second["location"]["range"]["end"]
    assert SOURCE.split(b"\n")[1][: end["column"] - 1].endswith("é)".encode())
    assert [d["severity"] for d in (first, second, note)] == ["ERROR", "WARNING", "INFO"]
    assert second["code"]["value"] == "CU302"
    assert second["code"]["url"].endswith("#cu302-event-record-without-stream")
    assert [r["message"] for r in second["related_locations"]] == ["and here"]


def suggested(source: bytes, suggestion: dict[str, Any]) -> bytes:
    """The source with a suggestion made as reviewdog does: by line and byte column."""
    starts = [0]
    for line in source.split(b"\n"):
        starts.append(starts[-1] + len(line) + 1)

    def offset(position: dict[str, int]) -> int:
        return starts[position["line"] - 1] + position["column"] - 1

    start, end = (offset(suggestion["range"][key]) for key in ("start", "end"))
    return source[:start] + suggestion["text"].encode() + source[end:]


def test_a_suggestion_does_what_the_fix_does() -> None:
    run = sample()
    for finding, diagnostic in zip(run.findings, diagnostics(run), strict=True):
        assert ("suggestions" in diagnostic) == (finding.fix is not None)
        if finding.fix is not None:
            (suggestion,) = diagnostic["suggestions"]
            assert suggested(SOURCE, suggestion) == apply_edits(SOURCE, finding.fix.edits)


def test_a_fix_of_two_files_is_no_suggestion() -> None:
    edits = (Edit(Span("a.cu", 0, 1), "x"), Edit(Span("b.cu", 0, 1), "x"))
    finding = SampleHeader.report("missing", Span("a.cu", 0, 0), "MIT", fix=Fix("Both", edits))
    (diagnostic,) = diagnostics(run_of({"a.cu": b"int", "b.cu": b"int"}, [finding]))
    assert "suggestions" not in diagnostic


def test_paths_are_as_seen_from_where_one_stands() -> None:
    run = replace(sample(), cwd="/nowhere/at/all/sub")
    assert diagnostics(run)[0]["location"]["path"] == "../k/a.cu"


def test_a_failed_run_is_no_clean_one() -> None:
    problem = Notification("invalid-settings", Level.ERROR, "no such key")
    (diagnostic,) = diagnostics(run_of({}, notifications=(problem,), exit_code=2))
    assert (diagnostic["severity"], diagnostic["message"]) == (
        "ERROR",
        "cudalint failed: no such key",
    )
