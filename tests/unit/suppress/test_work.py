"""The work on a file's suppressions grows as their number does, whatever they are."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from cudalint.finding import Finding, Level, Span
from cudalint.rules.cu002_unused_suppression import UnusedSuppression
from cudalint.rules.cu003_unexplained_suppression import UnexplainedSuppression
from cudalint.source import SourceFile
from cudalint.suppress.catalogue import Catalogue
from cudalint.suppress.judgement import Judgement, judge
from cudalint.syntax.model import Branch, Comment, FileModel

CATALOGUE = {
    "CU002": "unused-suppression",
    "CU003": "unexplained-suppression",
    "CU301": "sync-in-launch-path",
}

SHAPES: dict[str, Callable[[int], str]] = {
    "BEGIN without END": lambda n: "// NOLINTBEGIN(CU301)\n" * n,
    "END without BEGIN": lambda n: "// NOLINTEND(CU301)\n" * n,
    "BEGIN of other rules than END": lambda n: (
        "// NOLINTBEGIN(CU301)\n" * n + "// NOLINTEND(CU002)\n" * n
    ),
    "unused blocks": lambda n: "// NOLINTBEGIN(CU301)\n// NOLINTEND(CU301)\n" * n,
    "unused blocks in each other": lambda n: (
        "// NOLINTBEGIN(CU301)\n" * n + "// NOLINTEND(CU301)\n" * n
    ),
    "blocks of names in each other": lambda n: "".join(
        [f"// NOLINTBEGIN(cert-{at})\n" for at in range(n)]
        + [f"// NOLINTEND(cert-{at})\n" for at in range(n)]
    ),
    "stacked NOLINTNEXTLINE": lambda n: "// NOLINTNEXTLINE(CU301)\n" * n + "int x;\n",
    "stacked ignore": lambda n: "// cudalint: ignore[CU301]\n\n" * n + "int x;\n",
    "one line": lambda n: "int x; " + "/* NOLINT(CU301) */ " * n,
    "one list": lambda n: "int x; // NOLINT(" + ", ".join(["CU301"] * n) + ")",
    "one comment": lambda n: "/*\n" + "cudalint: ignore[CU301]\n" * n + "*/ int x;",
    "whole files": lambda n: "// cudalint: ignore-file[CU301]\n" * n,
    "dead code": lambda n: "#if 0\n// NOLINT(CU301)\n#endif\n// NOLINT(CU301)\n" * n,
    "loop heads": lambda n: "for (;;) {} // NOLINT(CU301)\n" * n,
}


def judged(text: str) -> Judgement:
    """What CU002 and CU003 find in `text`; each `record(` in it is a finding of CU301."""
    data = text.encode()

    def spans(pattern: bytes) -> list[Span]:
        return [Span("a.cu", m.start(), m.end()) for m in re.finditer(pattern, data)]

    model = FileModel(
        "a.cu",
        len(data),
        comments=tuple(Comment(span, "", False) for span in spans(rb"//[^\n]*|/\*(?s:.*?)\*/")),
        dead=tuple(spans(rb"(?s)#if 0.*?#endif")),
        branches=tuple(
            Branch(span, span, "for", ";;", False, -1) for span in spans(rb"for \(;;\)")
        ),
    )
    found = [Finding("CU301", Level.ERROR, "M.", span, "m") for span in spans(rb"record(?=\()")]
    source = SourceFile("a.cu", data)
    rules = [UnusedSuppression(), UnexplainedSuppression()]
    return judge(
        {"a.cu": source}, {"a.cu": model}, found, rules, lambda code, path: True, CATALOGUE
    )


def lines_run(text: str) -> int:
    """How many lines of Python it takes to judge `text`."""
    count = 0

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal count
        count += 1
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        judged(text)
    finally:
        sys.settrace(before)
    return count


@pytest.mark.parametrize("shape", SHAPES)
def test_four_times_the_suppressions_take_four_times_the_work(shape: str) -> None:
    make = SHAPES[shape]
    judged(make(1))  # what is imported or made once
    few, many = lines_run(make(40)), lines_run(make(160))
    assert few > 40
    assert many < 5 * few


def test_an_end_closes_the_innermost_of_its_name() -> None:
    text = (
        "// NOLINTBEGIN(CU301)\n// NOLINTBEGIN(cert-x)\n// NOLINTBEGIN(sync-in-launch-path)\n"
        "// NOLINTEND(cert-x)\nrecord();\n// NOLINTEND(CU301)\nrecord();\n"
    )
    result = judged(text)
    assert len(result.suppressed) == 1
    unclosed = [found for found in result.kept if "NOLINTEND" in str(found.arguments)]
    assert [found.span.start for found in unclosed] == [text.index("CU301")]


def test_a_comment_after_dead_code_counts_and_one_in_it_does_not() -> None:
    text = "#if 0\nrecord(); // NOLINT\n#endif\nrecord(); // NOLINT\n"
    result = judged(text)
    assert [silenced.finding.span.start for silenced in result.suppressed] == [
        text.rindex("record")
    ]


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("CU3*", {"CU301"}),
        ("cudalint-*-in-*", {"CU301"}),
        ("cudalint-sync*sync*", set()),
        ("*" * 60 + "x", set()),
        ("*-" * 30, set()),
        ("*" * 60 + "path", {"CU301"}),
    ],
)
def test_a_pattern_of_names_takes_each_piece_once(text: str, codes: set[str]) -> None:
    catalogue = Catalogue({"CU301": "sync-in-launch-path", "CU101": "spdx-header"})
    assert catalogue.resolve(text)[1] == codes
