"""cudalint's own fingerprint: what changes it, and what does not."""

from __future__ import annotations

import pytest
from sample_runs import SampleHeader, SampleRecord, span_of

from cudalint.finding import Span
from cudalint.lines import LineIndex
from cudalint.sarif.fingerprint import EnclosingFunctions, FileFingerprints
from cudalint.syntax.read import read_model

BASE = """\
namespace engine {
void first(cudaEvent_t e) {
  cudaEventRecord(e);
}
void second(cudaEvent_t e) {
  cudaEventRecord(e);
}
}
"""


def prints(source: str, text: str = "cudaEventRecord", name: str = "k/a.cu") -> list[str]:
    """The fingerprints of CU302 at each place of `text`."""
    data = source.encode()
    made = FileFingerprints(name, data, LineIndex(data), read_model("a.cu", data))
    found = []
    for nth in range(source.count(text)):
        span = span_of("a.cu", data, text, nth)
        found.append(made.of(SampleRecord.report("missing", span, "x")))
    return found


def test_each_finding_has_its_own() -> None:
    assert len(set(prints(BASE))) == 2
    assert len(set(prints(BASE.replace("(e);", "(e); cudaEventRecord(e);")))) == 4


@pytest.mark.parametrize(
    "changed",
    [
        "// a line above\n\n" + BASE,
        BASE.replace("  cudaEventRecord", "\t\tcudaEventRecord"),
        BASE.replace("\n", "\r\n"),
        BASE.replace("(e);", "(e);  // NOLINT(CU302): one stream"),
        BASE.replace("(e);", "(e);  /* cudalint: ignore[CU302] one stream */"),
        BASE.replace("namespace engine {", "namespace engine {\nvoid other() { work(); }"),
        "\ufeff" + BASE,
    ],
)
def test_what_does_not_matter(changed: str) -> None:
    assert prints(changed) == prints(BASE)


@pytest.mark.parametrize(
    "changed",
    [
        BASE.replace("first", "renamed").replace("second", "also"),
        BASE.replace("engine", "other"),
        BASE.replace("(e);", "(f);"),
    ],
)
def test_what_matters(changed: str) -> None:
    assert not set(prints(changed)) & set(prints(BASE))


def test_file_and_rule_matter() -> None:
    assert not set(prints(BASE, name="k/b.cu")) & set(prints(BASE))
    data = BASE.encode()
    span = span_of("a.cu", data, "cudaEventRecord")
    made = FileFingerprints("k/a.cu", data, LineIndex(data), None)
    header = made.of(SampleHeader.report("missing", span, "x"))
    assert header != made.of(SampleRecord.report("missing", span, "x"))


def test_a_whole_file_does_not_depend_on_its_first_line() -> None:
    found = []
    for data in (b"// one\n", b"// two\n"):
        made = FileFingerprints("a.cu", data, LineIndex(data), None)
        found.append(made.of(SampleHeader.report("missing", Span("a.cu", 0, 0), "x")))
    assert found[0] == found[1]


def test_enclosing_functions() -> None:
    source = BASE.encode()
    functions = EnclosingFunctions(read_model("a.cu", source))
    assert functions.around(source.index(b"namespace")) == ""
    assert functions.around(source.index(b"cudaEventRecord")) == "engine::first"
    assert functions.around(source.rindex(b"cudaEventRecord")) == "engine::second"
    assert functions.around(len(source) - 1) == ""
    assert EnclosingFunctions(None).around(3) == ""


def test_a_lambda_belongs_to_its_function() -> None:
    source = b"void outer() {\n  auto f = [] { inside(); };\n  f();\n}\n"
    functions = EnclosingFunctions(read_model("a.cu", source))
    assert functions.around(source.index(b"inside")) == "outer"


def test_a_line_without_end_is_read_once_and_told_by_its_digest() -> None:
    """Thousands of findings may be on it: each must cost no more than on a short one."""
    line = "cudaEventRecord(e); " * 2000
    data = line.encode()
    made = FileFingerprints("k/a.cu", data, LineIndex(data), None)
    subjects = [
        made.subject(SampleRecord.report("missing", span_of("a.cu", data, "cudaEventRecord", n), 0))
        for n in (0, 1999)
    ]
    assert subjects[0] == subjects[1]
    assert subjects[0][3] is subjects[1][3]
    assert len(subjects[0][3]) == 64
    assert len(set(prints(line))) == 2000
    assert not set(prints(line)) & set(prints(line + "x"))
