"""JUnit XML, held to the schema of Jenkins' xUnit plugin."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from lxml import etree
from sample_runs import SampleNote, SampleRecord, run_of, runs, span_of

from cudalint.finding import Level
from cudalint.reporters.junit import junit
from cudalint.reporters.visible import visible
from cudalint.run import Notification, Run

XSD = etree.XMLSchema(etree.parse(Path(__file__).parents[2] / "fixtures/schemas/junit-10.xsd"))
SOURCE = b"void f() {\n  g();\n}\n"


def read(run: Run) -> etree._Element:
    document = etree.fromstring(junit(run).encode())
    XSD.assertValid(document)
    return document


@given(run=runs())
def test_any_report_keeps_the_schema_and_counts_right(run: Run) -> None:
    document = read(run)
    for suite in (document, *document.iter("testsuite")):
        cases = list(suite.iter("testcase"))
        assert suite.get("tests") == str(len(cases))
        for count, kind in (("failures", "failure"), ("errors", "error")):
            assert suite.get(count) == str(len(list(suite.iter(kind))))
    told = [element.get("message") for element in document.iter("failure", "skipped")]
    assert sorted(map(str, told)) == sorted(visible(f.message) for f in run.findings)


def test_files_are_suites_and_findings_failed_tests() -> None:
    span = span_of("k/a.b.cu", SOURCE, "g();")
    findings = [
        SampleRecord.report("missing", span, 'a < b && "c"\n'),
        SampleRecord.report("missing", span, "g", level=Level.WARNING),
        SampleNote.report("lazy", span, "g", "f"),
    ]
    document = read(run_of({"k/a.b.cu": SOURCE, "k/clean.cu": b""}, findings))
    bad, clean = document
    assert [suite.get("name") for suite in (bad, clean)] == ["k/a.b.cu", "k/clean.cu"]
    assert [(case.get("name"), [child.tag for child in case]) for case in bad] == [
        ("2:3 CU302 event-record-without-stream", ["failure"]),
        ("2:3 CU302 event-record-without-stream", ["failure"]),
        ("2:3 CU310 lazy-initialisation", ["skipped"]),
    ]
    assert bad[0].get("classname") == "k.a_b_cu"
    message = "'a < b && \"c\"␊' names no stream and records on the null stream; name one."
    assert bad[0][0].get("message") == message
    assert bad[0][0].text == f"k/a.b.cu:2:3: CU302 {message}"
    assert [list(case) for case in clean] == [[]]


def test_a_failed_run_is_an_error() -> None:
    problem = Notification("invalid-settings", Level.ERROR, "no such key")
    document = read(run_of({}, notifications=(problem,), exit_code=2))
    assert document.get("errors") == "1"
    assert [error.get("message") for error in document.iter("error")] == ["no such key"]


def test_files_that_are_only_context_are_no_suites() -> None:
    from msgspec.structs import replace

    run = run_of({"a.cu": b"", "b.cu": b""})
    run.sources["b.cu"] = replace(run.sources["b.cu"], requested=False)
    assert [suite.get("name") for suite in read(run)] == ["a.cu"]


def test_the_schema_would_refuse() -> None:
    with pytest.raises(etree.DocumentInvalid):
        XSD.assertValid(etree.fromstring("<testsuites><testsuite/></testsuites>"))
