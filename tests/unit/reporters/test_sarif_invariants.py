"""What a SARIF log must keep that no validator checks, over runs of every kind."""

from __future__ import annotations

import json
import re
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote_to_bytes

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from line_hash_oracle import oracle
from sample_runs import BY_CODE, SampleRecord, results_with_regions, run_of, runs, span_of

from cudalint.finding import Edit, Finding, Fix, Level, Span
from cudalint.reporters.sarif import sarif
from cudalint.run import Run, Suppressed

SCHEMA = Path(__file__).parents[2] / "fixtures" / "sarif" / "sarif-schema-2.1.0.json"
MANY = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
URI = re.compile(r"(?:[A-Za-z0-9/!$&'()*+,;=@~._-]|%[0-9A-F]{2})+")


@cache
def validator() -> Any:
    """The validator for the official schema."""
    return jsonschema.Draft4Validator(json.loads(SCHEMA.read_text(encoding="utf-8")))


def log_of(run: Run, **options: Any) -> dict[str, Any]:
    """The log of a run, read back."""
    found: dict[str, Any] = json.loads(sarif(run, **options).encode("utf-8"))
    return found


def lines_of(data: bytes) -> list[tuple[str, str]]:
    """The lines of a file with their ends, by the naked definition; no byte order mark."""
    pieces = data.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    lines = []
    for at, piece in enumerate(pieces):
        last = at + 1 == len(pieces)
        end = "" if last else "\n"
        if not last and piece.endswith(b"\r"):
            piece, end = piece[:-1], "\r\n"
        lines.append((piece.decode("utf-8", "replace"), end))
    return lines


def cut(text: str, start: int, end: int | None = None) -> str:
    """The UTF-16 code units `[start, end)` of a text."""
    units = text.encode("utf-16-le")
    return units[2 * start : None if end is None else 2 * end].decode("utf-16-le")


def text_of(data: bytes, region: dict[str, Any]) -> str:
    """What a region holds, read from the file by its lines and columns alone."""
    lines = lines_of(data)
    first, last = region["startLine"] - 1, region["endLine"] - 1
    if first == last:
        return cut(lines[first][0], region["startColumn"] - 1, region["endColumn"] - 1)
    parts = [cut(lines[first][0], region["startColumn"] - 1) + lines[first][1]]
    parts += [text + end for text, end in lines[first + 1 : last]]
    parts.append(cut(lines[last][0], 0, region["endColumn"] - 1))
    return "".join(parts)


def expanded(template: str, arguments: list[str]) -> str:
    """A SARIF message template with its arguments."""
    return re.sub(
        r"\{\{|\}\}|\{(\d+)\}",
        lambda m: m.group()[0] if m.group(1) is None else arguments[int(m.group(1))],
        template,
    )


def file_at(run: Run, uri: str) -> bytes:
    """The bytes of the file that a URI names."""
    path = unquote_to_bytes(uri).decode("utf-8", "surrogateescape")
    return run.sources[path].data


@given(runs(), st.booleans())
@MANY
def test_schema(run: Run, suppressed: bool) -> None:
    errors = [e.message for e in validator().iter_errors(log_of(run, suppressed=suppressed))]
    assert errors == []


@given(runs())
@MANY
def test_regions_hold_what_they_say(run: Run) -> None:
    for uri, region in results_with_regions(log_of(run, suppressed=True)):
        data = file_at(run, uri)
        lines = lines_of(data)
        assert 1 <= region["startLine"] <= len(lines)
        if "startColumn" not in region:
            assert set(region) == {"startLine"}
            assert lines[region["startLine"] - 1][0] == ""
            continue
        start = (region["startLine"], region["startColumn"])
        end = (region["endLine"], region["endColumn"])
        assert start < end
        assert region["startColumn"] >= 1
        assert region["endLine"] <= len(lines)
        width = len(lines[region["endLine"] - 1][0].encode("utf-16-le")) // 2
        assert region["endColumn"] <= width + 1
        assert text_of(data, region) == region["snippet"]["text"]


@given(runs())
@MANY
def test_contexts_are_larger(run: Run) -> None:
    for result in log_of(run)["runs"][0]["results"]:
        (place,) = result["locations"]
        physical = place["physicalLocation"]
        if "contextRegion" not in physical or "startColumn" not in physical["region"]:
            continue
        inner, outer = physical["region"], physical["contextRegion"]
        corners = [
            (region[f"{side}Line"], region[f"{side}Column"])
            for side in ("start", "end")
            for region in (inner, outer)
        ]
        assert corners[1] <= corners[0] <= corners[2] <= corners[3]
        assert (corners[0], corners[2]) != (corners[1], corners[3])
        assert inner["snippet"]["text"] in outer["snippet"]["text"]


@given(runs())
@MANY
def test_rules_and_messages(run: Run) -> None:
    log = log_of(run)["runs"][0]
    rules = log["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == sorted(BY_CODE)
    for rule in rules:
        assert re.fullmatch(r"[A-Z][A-Za-z0-9]*", rule["name"])
        assert len(rule["properties"]["tags"]) <= 20
        assert "security-severity" not in rule["properties"]
    for result in log["results"]:
        rule = rules[result["ruleIndex"]]
        assert rule["id"] == result["ruleId"]
        assert result["level"] in ("error", "warning", "note")
        assert "rank" not in result
        message = result["message"]
        template = rule["messageStrings"][message["id"]]["text"]
        assert message["text"] == expanded(template, message["arguments"])
        assert "](" not in message["text"]


@given(runs())
@MANY
def test_places_and_ids(run: Run) -> None:
    log = log_of(run, suppressed=True)["runs"][0]
    assert log["columnKind"] == "utf16CodeUnits"
    assert "artifacts" not in log
    said = Counter()
    for result in log["results"]:
        said[json.dumps([result["ruleId"], result["locations"], result["message"]])] += 1
        related = result.get("relatedLocations", [])
        assert [place["id"] for place in related] == list(range(1, len(related) + 1))
        assert all(place["message"]["text"] for place in related)
        for place in [*result["locations"], *related]:
            artifact = place["physicalLocation"]["artifactLocation"]
            assert artifact["uriBaseId"] in log["originalUriBaseIds"]
            assert URI.fullmatch(artifact["uri"])
            assert not {"", ".", ".."} & set(artifact["uri"].split("/"))
            assert "index" not in artifact
    text = json.dumps(log)
    assert "/nowhere" not in text
    assert "Utc" not in text


@given(runs())
@MANY
def test_embedded_files(run: Run) -> None:
    log = log_of(run, suppressed=True, embed=True)
    assert [error.message for error in validator().iter_errors(log)] == []
    artifacts = log["runs"][0].get("artifacts", [])
    for at, artifact in enumerate(artifacts):
        assert artifact["location"]["index"] == at
        data = file_at(run, artifact["location"]["uri"])
        assert artifact["contents"]["text"] == data.decode("utf-8", "replace")
        assert artifact["length"] == len(data)
    for result in log["runs"][0]["results"]:
        location = result["locations"][0]["physicalLocation"]["artifactLocation"]
        assert artifacts[location["index"]]["location"] == location


@given(runs())
@MANY
def test_fingerprints(run: Run) -> None:
    own = Counter()
    for result in log_of(run, suppressed=True)["runs"][0]["results"]:
        physical = result["locations"][0]["physicalLocation"]
        uri = physical["artifactLocation"]["uri"]
        line = physical["region"]["startLine"]
        prints = dict(result["partialFingerprints"])
        own[prints.pop("cudalint/v1")] += 1
        expected = oracle(file_at(run, uri)).get(line)
        assert prints.get("primaryLocationLineHash") == expected
    assert all(count == 1 for count in own.values())


@given(runs())
@MANY
def test_notifications(run: Run) -> None:
    log = log_of(run)["runs"][0]
    descriptors = log["tool"]["driver"].get("notifications", [])
    (invocation,) = log["invocations"]
    notes = [
        *invocation.get("toolExecutionNotifications", []),
        *invocation.get("toolConfigurationNotifications", []),
    ]
    for note in notes:
        assert descriptors[note["descriptor"]["index"]]["id"] == note["descriptor"]["id"]
        assert note["level"] in ("error", "warning", "note")
    assert len(notes) == len({*run.notifications, *run.skips})
    failed = any(note["level"] == "error" for note in notes)
    assert invocation["executionSuccessful"] is not failed


@given(runs())
@MANY
def test_suppressed_results(run: Run) -> None:
    plain = log_of(run)["runs"][0]["results"]
    assert all("suppressions" not in result for result in plain)
    whole = log_of(run, suppressed=True)["runs"][0]["results"]
    assert len(plain) <= len(whole)
    for result in whole:
        for suppression in result["suppressions"]:
            assert suppression["kind"] == "inSource"
            assert suppression["status"] == "accepted"
            assert "state" not in suppression
    open_ones = [result for result in whole if not result["suppressions"]]
    assert len(open_ones) == len(plain)


@given(runs())
@MANY
def test_the_same_run_gives_the_same_log(run: Run) -> None:
    log = sarif(run)
    assert log == sarif(run)
    assert not log.startswith("\ufeff")
    assert log.endswith("}\n")
    head, version = log.splitlines()[1:3]
    assert head.startswith('"$schema": ')
    assert version == '"version": "2.1.0",'
    for result in json.loads(log)["runs"][0]["results"]:
        for fix in result.get("fixes", []):
            for change in fix["artifactChanges"]:
                assert all("text" in r["insertedContent"] for r in change["replacements"])


def utf16_offset(data: bytes, line: int, column: int) -> int:
    """A UTF-16 unit offset in the whole decoded text."""
    before = "".join(text + end for text, end in lines_of(data)[: line - 1])
    return len(before.encode("utf-16-le")) // 2 + column - 1


@given(st.data())
@MANY
def test_fixes_say_the_same_edit(data: st.DataObject) -> None:
    pieces = st.sampled_from(["a", "b", "é", "😀", "\t", "\n", "\r\n"])
    characters = data.draw(st.lists(pieces, max_size=20))
    source = "".join(characters).encode()
    low = data.draw(st.integers(0, len(characters)))
    high = data.draw(st.integers(low, len(characters)))
    start = len("".join(characters[:low]).encode())
    end = len("".join(characters[:high]).encode())
    edit = Edit(Span("a.cu", start, end), "NEW")
    finding = SampleRecord.report("missing", Span("a.cu", 0, 0), "x", fix=Fix("t", (edit,)))
    (result,) = log_of(run_of({"a.cu": source}, [finding]))["runs"][0]["results"]
    (replacement,) = result["fixes"][0]["artifactChanges"][0]["replacements"]
    region = replacement["deletedRegion"]
    first = utf16_offset(source, region["startLine"], region["startColumn"])
    last = utf16_offset(source, region["endLine"], region["endColumn"])
    text = source.decode()
    mended = cut(text, 0, first) + replacement["insertedContent"]["text"] + cut(text, last)
    assert mended.encode() == source[:start] + b"NEW" + source[end:]


def test_a_clean_run_has_empty_results() -> None:
    log = log_of(run_of({"a.cu": b"int x;\n"}))
    assert log["runs"][0]["results"] == []
    assert log["runs"][0]["invocations"][0]["executionSuccessful"] is True
    assert log["runs"][0]["invocations"][0]["exitCode"] == 0


def test_levels_are_always_written_and_the_rules_default_is_the_level_in_force() -> None:
    data = b"cudaEventRecord(e);\n"
    finding = SampleRecord.report(
        "missing", span_of("a.cu", data, "cudaEventRecord"), "e", level=Level.WARNING
    )
    run = run_of({"a.cu": data}, [finding], levels={"CU302": Level.WARNING})
    log = log_of(run)["runs"][0]
    assert log["results"][0]["level"] == "warning"
    assert log["tool"]["driver"]["rules"][1]["defaultConfiguration"]["level"] == "warning"


def test_the_gravest_come_first() -> None:
    data = b"a\nb\nc\n"
    levels = [Level.NOTE, Level.ERROR, Level.WARNING]
    findings = [
        SampleRecord.report("missing", Span("a.cu", 2 * at, 2 * at + 1), "x", level=level)
        for at, level in enumerate(levels)
    ]
    results = log_of(run_of({"a.cu": data}, findings))["runs"][0]["results"]
    assert [result["level"] for result in results] == ["error", "warning", "note"]


def test_a_suppression_carries_its_reason_and_its_comment() -> None:
    data = b"cudaEventRecord(e); // NOLINT(CU302): one stream\n"
    finding = SampleRecord.report("missing", span_of("a.cu", data, "cudaEventRecord"), "e")
    comment = span_of("a.cu", data, "// NOLINT(CU302): one stream")
    run = run_of({"a.cu": data}, suppressed=[Suppressed(finding, "one stream", comment)])
    (result,) = log_of(run, suppressed=True)["runs"][0]["results"]
    (suppression,) = result["suppressions"]
    assert suppression["justification"] == "one stream"
    region = suppression["location"]["physicalLocation"]["region"]
    assert region["snippet"]["text"] == "// NOLINT(CU302): one stream"


@pytest.mark.parametrize(
    ("category", "id_"), [("kernels", "kernels/"), ("a/b/", "a/b/"), (None, None), ("", None)]
)
def test_category(category: str | None, id_: str | None) -> None:
    log = log_of(run_of({"a.cu": b""}), category=category)["runs"][0]
    assert log.get("automationDetails", {}).get("id") == id_


def test_findings_that_say_the_same_are_one_result() -> None:
    finding = SampleRecord.report("missing", Span("a.cu", 0, 1), "x")
    twice: list[Finding] = [finding, finding]
    assert len(log_of(run_of({"a.cu": b"x"}, twice))["runs"][0]["results"]) == 1
