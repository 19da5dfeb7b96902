"""Which findings a comment silences: every form, every place, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from cudalint.finding import Finding, Level, Span
from cudalint.rules.cu002_unused_suppression import UnusedSuppression
from cudalint.rules.cu003_unexplained_suppression import UnexplainedSuppression
from cudalint.source import SourceFile
from cudalint.suppress.judgement import Judgement, judge
from cudalint.syntax.model import Call, Comment, FileModel, Macro
from cudalint.syntax.read import read_model

CATALOGUE = {
    "CU002": "unused-suppression",
    "CU003": "unexplained-suppression",
    "CU101": "spdx-header",
    "CU203": "undocumented-shared-layout",
    "CU301": "sync-in-launch-path",
    "CU302": "event-record-without-stream",
    "CU401": "undeclared-shadow",
    "CU501": "register-spill",
}
TOKENS = re.compile(rb'R"\((?s:.*?)\)"|"(?:\\.|[^"\n])*"|(//[^\n]*|/\*(?s:.*?)\*/)')


def model_of(path: str, data: bytes) -> FileModel:
    """A model with the comments of `data` and nothing else."""
    comments = tuple(
        Comment(Span(path, m.start(), m.end()), m.group().decode("utf-8", "replace"), False)
        for m in TOKENS.finditer(data)
        if m.group(1) is not None
    )
    return FileModel(path, len(data), comments=comments)


def finding(code: str, path: str, start: int, end: int, *extents: Span) -> Finding:
    """A finding of that rule at that place."""
    return Finding(code, Level.ERROR, "Message.", Span(path, start, end), "m", extents=extents)


def run(
    text: str,
    code: str = "CU302",
    at: str = "record",
    *,
    path: str = "a.cu",
    ran: Callable[[str, str], bool] = lambda code, path: True,
) -> Judgement:
    """Judge `text` with a finding of `code` at each place where the word `at` stands in it."""
    data = text.encode()
    word = rb"\b%b(?=[( ])" % at.encode()
    found = [finding(code, path, m.start(), m.end()) for m in re.finditer(word, data)]
    return judge(
        {path: SourceFile(path, data)},
        {} if path.endswith(".toml") else {path: model_of(path, data)},
        found,
        [UnusedSuppression(), UnexplainedSuppression()],
        ran,
        CATALOGUE,
    )


def silenced_lines(text: str, result: Judgement) -> list[int]:
    """The lines of the silenced findings that are not of CU002 and CU003."""
    return sorted(
        text.encode()[: s.finding.span.start].count(b"\n") + 1
        for s in result.suppressed
        if s.finding.code not in ("CU002", "CU003")
    )


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("record(); // NOLINT(CU302): why\nrecord();\n", [1]),
        ("record(); // NOLINT\n", [1]),
        ("record(); //NOLINT\n", [1]),
        ("record(); // NOLINT: why\n", [1]),
        ("record(); // NOLINT(*): why\n", [1]),
        ("record(); // NOLINT(CU3*): why\n", [1]),
        ("record(); // NOLINT(cudalint-*): why\n", [1]),
        ("record(); // NOLINT(cudalint-event-*): why\n", [1]),
        ("record(); // NOLINT(event-record-without-stream): why\n", [1]),
        ("record(); // NOLINT(cudalint-event-record-without-stream): why\n", [1]),
        ("record(); // NOLINT(cudalint-CU302): why\n", [1]),
        ("record(); // NOLINT( CU301 , CU302 ): why\n", [1]),
        ("record(); // NOLINT(bugprone-foo,CU302): why\n", [1]),
        ("record(); /* NOLINT(CU302): why */\n", [1]),
        ("/* NOLINT(CU302): why */ record();\n", [1]),
        ("record(/* NOLINT(CU302): why */); x();\n", [1]),
        ("record(); // of the engine, NOLINT(CU302): why\n", [1]),
        ("record(); // NOLINT(bugprone-foo) NOLINT(CU302): why\n", [1]),
        ("record(); // NOLINT(CU302 is not closed, so bare\n", [1]),
        ("record(); /* one\n NOLINT(CU302): another line */\n", []),
        ("record(); // NOLINT(bugprone-foo)\n", []),
        ("record(); // NOLINT()\n", []),
        ("record(); // NOLINT(CU301): why\n", []),
        ("record(); // NOLINT(*,-CU302): why\n", []),
        ("record(); // nolint(CU302): why\n", []),
        ("record(); // NOLINT(cu302): why\n", []),
        ("record(); // NOLINT(CU30): why\n", []),
        ("record(); // NOLINT(*-avoid-c-arrays): why\n", []),
        ("record(); // XNOLINT(CU302)\n", []),
        ("record(); // NOLINTS(CU302)\n", []),
        ('record("// NOLINT(CU302)");\n', []),
        ('record(R"(/* NOLINT */)");\n', []),
    ],
)
def test_end_of_line(text: str, lines: list[int]) -> None:
    assert silenced_lines(text, run(text)) == lines


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("// NOLINTNEXTLINE(CU302): why\nrecord();\nrecord();\n", [2]),
        ("record();\n// NOLINTNEXTLINE\nrecord();\n", [3]),
        ("// NOLINTNEXTLINE(CU302): why\r\nrecord();\r\nrecord();\r\n", [2]),
        ("// NOLINTNEXTLINE(CU302): a reason\n// that goes on\nrecord();\nrecord();\n", [3]),
        ("// NOLINTNEXTLINE(CU302): a\n// NOLINTNEXTLINE(CU301): b\nrecord();\n", [3]),
        ("/* NOLINTNEXTLINE(CU302):\n * why\n */\nrecord();\nrecord();\n", [4]),
        ("/* NOLINTNEXTLINE(CU302): why */ record();\nrecord();\n", [2]),
        ("// NOLINTNEXTLINE(CU302): why\n\nrecord();\n", []),
        ("// NOLINTNEXTLINE(CU302): why", []),
        ("record();\n// NOLINTNEXTLINE(CU302): why\n", []),
    ],
)
def test_next_line(text: str, lines: list[int]) -> None:
    assert silenced_lines(text, run(text)) == lines


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("record();\n// NOLINTBEGIN(CU302): w\nrecord();\n// NOLINTEND(CU302)\nrecord();\n", [3]),
        ("// NOLINTBEGIN\nrecord();\n// NOLINTEND\nrecord();\n", [2]),
        ("// NOLINTBEGIN(*): w\nrecord();\n// NOLINTEND(*)\nrecord();\n", [2]),
        (
            "// NOLINTBEGIN(CU302): w\nrecord();\n"
            "// NOLINTEND(cudalint-event-record-without-stream)\nrecord();\n",
            [2],
        ),
        (
            "// NOLINTBEGIN(CU301,CU302): w\nrecord();\n// NOLINTEND(CU301)\n"
            "record();\n// NOLINTEND(CU302)\nrecord();\n",
            [2, 4],
        ),
        (
            "// NOLINTBEGIN(CU302): a\n// NOLINTBEGIN(CU302): b\nrecord();\n"
            "// NOLINTEND(CU302)\nrecord();\n// NOLINTEND(CU302)\nrecord();\n",
            [3, 5],
        ),
        ("// NOLINTBEGIN(CU302): w\nrecord();\n", []),
        ("// NOLINTBEGIN(CU302): w\nrecord();\n// NOLINTEND\n", []),
        ("// NOLINTEND(CU302)\nrecord();\n// NOLINTBEGIN(CU302): w\n", []),
        ("// NOLINTBEGIN(CU301): w\nrecord();\n// NOLINTEND(CU301)\n", []),
    ],
)
def test_blocks(text: str, lines: list[int]) -> None:
    assert silenced_lines(text, run(text)) == lines


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("record(); // cudalint: ignore[CU302] why\nrecord();\n", [1]),
        ("record(); // cudalint:ignore[CU302] why\n", [1]),
        ("record(); // cudalint: ignore[CU301, event-record-without-stream] why\n", [1]),
        ("// cudalint: ignore[CU302] why\nrecord();\nrecord();\n", [2]),
        ("// cudalint: ignore[CU302] why\n\n// other words\nrecord();\nrecord();\n", [4]),
        ("/* cudalint: ignore[CU302] why */ record();\nrecord();\n", [1]),
        ("// cudalint: ignore-file[CU302] why\nrecord();\nrecord();\n", [2, 3]),
        (
            "// SPDX\n#pragma once\n#include <a.h>\n#define A(x) \\\n  x\n"
            "// cudalint: ignore-file[CU302] why\nrecord();\n",
            [7],
        ),
        ("int x;\n// cudalint: ignore-file[CU302] why\nrecord();\n", []),
        ("record(); // cudalint: ignore why\n", []),
        ("record(); // cudalint: ignore[] why\n", []),
        ("record(); // Cudalint: ignore[CU302] why\n", []),
        ("record(); // cudalint: cold\n", []),
    ],
)
def test_own_spelling(text: str, lines: list[int]) -> None:
    assert silenced_lines(text, run(text)) == lines


@pytest.mark.parametrize(("line", "silenced"), [(1, True), (2, True), (4, True), (5, False)])
def test_any_line_of_the_statement(line: int, silenced: bool) -> None:
    lines = ["record(", "  e,", "  nullptr", ");", "int x;"]
    lines[line - 1] += " // NOLINT(CU302): why"
    data = "\n".join(lines).encode()
    span = Span("a.cu", 0, data.index(b");") + 2)
    call = Call(
        span=span,
        name_span=Span("a.cu", 0, 6),
        statement=span,
        callee="record",
        name="record",
        receiver="",
        argument_text=data[7 : span.end - 2],
        arguments_at=7,
        function=-1,
    )
    model = FileModel("a.cu", len(data), comments=model_of("a.cu", data).comments, calls=(call,))
    found = finding("CU302", "a.cu", 0, 6)
    result = judge(
        {"a.cu": SourceFile("a.cu", data)},
        {"a.cu": model},
        [found],
        [],
        lambda code, path: True,
        CATALOGUE,
    )
    assert [s.finding for s in result.suppressed] == [found] * silenced
    assert list(result.kept) == [found] * (not silenced)


@pytest.mark.parametrize(("line", "silenced"), [(1, True), (2, True), (3, True), (4, False)])
def test_any_line_of_a_loop_head(line: int, silenced: bool) -> None:
    lines = ["for (start();", "     record();", "     next())", "  body();", "int x;"]
    lines[line - 1] += "  // NOLINT(CU302): why"
    data = "\n".join(("void f() {", *lines, "}")).encode()
    at = data.index(b"record")
    found = finding("CU302", "a.cu", at, at + 6)
    result = judge(
        {"a.cu": SourceFile("a.cu", data)},
        {"a.cu": read_model("a.cu", data)},
        [found],
        [],
        lambda code, path: True,
        CATALOGUE,
    )
    assert [s.finding for s in result.suppressed] == [found] * silenced


def test_extents_in_another_file() -> None:
    define = b"#define RECORD(e) record(e)\n"
    use = b"RECORD(e); // NOLINT(CU302): the use\n"
    found = finding("CU302", "m.cuh", 18, 24, Span("a.cu", 0, 9))
    result = judge(
        {"m.cuh": SourceFile("m.cuh", define), "a.cu": SourceFile("a.cu", use)},
        {"m.cuh": model_of("m.cuh", define), "a.cu": model_of("a.cu", use)},
        [found],
        [UnusedSuppression(), UnexplainedSuppression()],
        lambda code, path: True,
        CATALOGUE,
    )
    assert [(s.finding, s.reason, s.span.path) for s in result.suppressed] == [
        (found, "the use", "a.cu")
    ]
    assert result.kept == ()


def test_above_the_definition_of_a_macro() -> None:
    data = b"// NOLINTNEXTLINE(CU302): in a macro\n#define RECORD(e) \\\n  record(e)\n"
    model = model_of("a.cu", data)
    start = data.index(b"#define")
    span = Span("a.cu", start, len(data) - 1)
    macro = Macro(span, Span("a.cu", start + 8, start + 14), "RECORD", ("e",), "record(e)")
    at = data.index(b"record(e)")
    found = finding("CU302", "a.cu", at, at + 6)
    result = judge(
        {"a.cu": SourceFile("a.cu", data)},
        {"a.cu": FileModel("a.cu", len(data), comments=model.comments, macros=(macro,))},
        [found],
        [UnusedSuppression()],
        lambda code, path: True,
        CATALOGUE,
    )
    assert [s.finding for s in result.suppressed] == [found]


def test_a_comment_in_a_dead_branch_counts_for_nothing() -> None:
    data = b"#if 0\n// NOLINTBEGIN(CU999)\n#endif\n"
    model = model_of("a.cu", data)
    dead = (Span("a.cu", 6, data.index(b"#endif")),)
    result = judge(
        {"a.cu": SourceFile("a.cu", data)},
        {"a.cu": FileModel("a.cu", len(data), comments=model.comments, dead=dead)},
        [],
        [UnusedSuppression()],
        lambda code, path: True,
        CATALOGUE,
    )
    assert result == Judgement((), ())


def test_the_narrowest_suppression_gives_the_reason() -> None:
    text = (
        "// cudalint: ignore-file[CU302] the file\n// NOLINTBEGIN(CU302): the block\n"
        "record(); // NOLINT(CU302): the line\n// NOLINTEND(CU302)\n"
    )
    result = run(text)
    assert [s.reason for s in result.suppressed] == ["the line"]
    assert result.kept == ()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("record(); // NOLINT(CU302): one stream\n", "one stream"),
        ("record(); // NOLINT(CU302):one stream  \r\n", "one stream"),
        ("record(); // NOLINT(CU302) : one stream\n", "one stream"),
        ("record(); /* NOLINT(CU302): one\n   * stream */\n", "one stream"),
        ("record(); // NOLINT(CU302) one stream\n", ""),
        ("record(); // NOLINT(CU302):\n", ""),
        ("record(); // NOLINT(CU302): --\n", ""),
        ("record(); // NOLINT(CU302): één stroom\n", "één stroom"),
        ("record(); // cudalint: ignore[CU302] one stream\n", "one stream"),
        ("record(); // cudalint: ignore[CU302]: one stream\n", "one stream"),
        ("record(); // cudalint: ignore[CU302] — one stream\n", "one stream"),
        ("record(); /* cudalint: ignore[CU302] */\n", ""),
    ],
)
def test_reasons(text: str, reason: str) -> None:
    result = run(text)
    assert [s.reason for s in result.suppressed] == [reason]
    assert [f.code for f in result.kept] == ([] if reason else ["CU003"])


def test_a_manifest() -> None:
    text = (
        'quoted = "# NOLINT(CU999)"\n'
        "literal = '# NOLINT(CU999)'\n"
        'many = """\n# NOLINT(CU999) \\""" \n""""\n'
        "[shadow]\n"
        "record = 1 # NOLINT(CU401): known\n"
        "# cudalint: ignore[CU401] known as well\n"
        "record = 2\n"
        "record = 3\n"
    )
    result = run(text, "CU401", path="t/KERNEL.toml")
    assert silenced_lines(text, result) == [7, 9]
    assert [f.code for f in result.kept] == ["CU401"]
