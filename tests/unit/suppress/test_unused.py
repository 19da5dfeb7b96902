"""Which suppressions are called unused, unknown or unmatched, and what the fixes leave."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cudalint.finding import Edit, Finding, Level, Span
from cudalint.rules.cu002_unused_suppression import UnusedSuppression
from cudalint.rules.cu003_unexplained_suppression import UnexplainedSuppression
from cudalint.source import SourceFile
from cudalint.suppress.judgement import judge
from cudalint.syntax.model import Comment, FileModel

CATALOGUE = {
    "CU002": "unused-suppression",
    "CU003": "unexplained-suppression",
    "CU301": "sync-in-launch-path",
    "CU302": "event-record-without-stream",
    "CU501": "register-spill",
}


def lint(
    text: str,
    ran: Callable[[str, str], bool] = lambda code, path: True,
    code: str = "CU302",
) -> list[Finding]:
    """The findings of CU002 in `text`; each `record(` in it is a finding of `code`."""
    data = text.encode()
    comments = tuple(
        Comment(Span("a.cu", m.start(), m.end()), "", False)
        for m in re.finditer(rb"//[^\n]*|/\*(?s:.*?)\*/", data)
    )
    found = [
        Finding(code, Level.ERROR, "M.", Span("a.cu", m.start(), m.end()), "m")
        for m in re.finditer(rb"record(?=\()", data)
    ]
    result = judge(
        {"a.cu": SourceFile("a.cu", data)},
        {"a.cu": FileModel("a.cu", len(data), comments=comments)},
        found,
        [UnusedSuppression()],
        ran,
        CATALOGUE,
    )
    return sorted((f for f in result.kept if f.code == "CU002"), key=lambda f: f.span)


def apply(text: str, edits: Sequence[Edit]) -> str:
    """`text` after the distinct edits, which must not overlap."""
    data = text.encode()
    last = len(data)
    for edit in sorted(set(edits), reverse=True):
        assert edit.span.end <= last, "overlapping edits"
        data = data[: edit.span.start] + edit.text.encode() + data[edit.span.end :]
        last = edit.span.start
    return data.decode()


def fixed(text: str) -> str:
    """`text` after one pass of all fixes of CU002."""
    edits = [edit for f in lint(text) if f.fix is not None for edit in f.fix.edits]
    return apply(text, edits)


@pytest.mark.parametrize(
    ("text", "spots"),
    [
        ("x(); // NOLINT(CU302): why\n", ["CU302"]),
        ("record(); // NOLINT(CU302): why\n", []),
        ("x(); // NOLINT\n", []),
        ("x(); // NOLINT(*)\n", []),
        ("x(); // NOLINT(bugprone-foo,performance-*,build/include)\n", []),
        ("x(); // NOLINT(CU3*): why\n", ["CU3*"]),
        ("x(); // NOLINT(cudalint-*): why\n", ["cudalint-*"]),
        ("x(); // NOLINT(CU302, sync-in-launch-path): why\n", ["CU302", "sync-in-launch-path"]),
        ("record(); // NOLINT(CU302, CU301): why\n", ["CU301"]),
        ("record(); // NOLINT(CU302, CU999): why\n", ["CU999"]),
        ("record(); // NOLINT(CU302, cudalint-nonsense): why\n", ["cudalint-nonsense"]),
        ("record(); // NOLINT(CU302, CU): why\n", []),
        ("x(); // NOLINT(CU002): why\n", []),
        ("x(); // NOLINT(CU302,CU002): why\n", []),
        ("// cudalint: ignore-file[CU302] why\n", ["CU302"]),
        ("int x;\n// cudalint: ignore-file[CU302] why\nrecord();\n", ["CU302"]),
        ("// NOLINTBEGIN\n", ["NOLINTBEGIN"]),
        ("// NOLINTEND\n", ["NOLINTEND"]),
        ("// NOLINTBEGIN(bugprone-foo)\n", []),
        ("// NOLINTEND(bugprone-foo)\n", []),
        ("// NOLINTBEGIN(CU302): w\nrecord();\n", ["CU302"]),
        ("// NOLINTBEGIN(CU302): w\nrecord();\n// NOLINTEND(CU302)\n", []),
        ("// NOLINTBEGIN(CU302): w\nx();\n// NOLINTEND(CU302)\n", ["CU302"]),
        ("// NOLINTBEGIN(CU999): w\nx();\n// NOLINTEND(CU999)\n", ["CU999"]),
        ("// NOLINTBEGIN(CU302): w\nrecord();\n// NOLINTEND\n", ["CU302", "NOLINTEND"]),
    ],
)
def test_what_is_reported(text: str, spots: list[str]) -> None:
    data = text.encode()
    assert [data[f.span.start : f.span.end].decode() for f in lint(text)] == spots


def test_only_where_the_rule_ran() -> None:
    text = "x(); // NOLINT(CU302): a\nx(); // NOLINT(CU501): b\nx(); // NOLINT(CU*): c\n"
    assert lint(text, lambda code, path: code == "CU302" or code == "CU002")[0].span.start == 15
    assert len(lint(text, lambda code, path: code != "CU501")) == 1
    assert len(lint(text)) == 3
    assert lint(text, lambda code, path: path != "a.cu") == []


def test_a_rule_that_is_known_but_did_not_run_is_not_unknown() -> None:
    assert lint("x(); // NOLINT(register-spill): a\n", lambda code, path: code == "CU002") == []


def test_the_nearest_name_is_offered() -> None:
    (found,) = lint("x(); // NOLINT(cudalint-regster-spill): why\n")
    assert found.arguments == ("cudalint-regster-spill", "cudalint-register-spill")
    (found,) = lint("x(); // NOLINT(CU303): why\n")
    assert (found.message_id, found.arguments) == ("unknown", ("CU303",))


@pytest.mark.parametrize("word", ["NOLINT", "NOLINT(CU002)", "cudalint: ignore[CU002] why"])
def test_a_finding_on_a_suppression_can_be_silenced(word: str) -> None:
    assert lint(f"x(); // {word} NOLINT(CU302): why\n") == []


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("x(); // NOLINT(CU302): why\n", "x();\n"),
        ("x(); // NOLINT(CU302): why", "x();"),
        ("x(); // NOLINT(CU302): why\r\ny();\r\n", "x();\r\ny();\r\n"),
        ("x(); /* NOLINT(CU302): why */\n", "x();\n"),
        ("  // NOLINTNEXTLINE(CU302): why\n  x();\n", "  x();\n"),
        ("\ufeff// NOLINTNEXTLINE(CU302): why\nx();\n", "\ufeffx();\n"),
        ("x();\n// NOLINT(CU302): why", "x();\n"),
        ("int/* NOLINT(CU302): why */x;\n", "int x;\n"),
        ("a +/*NOLINT(CU302)*/+ b;\n", "a + + b;\n"),
        ("f(a, /* NOLINT(CU302): why */ b);\n", "f(a, b);\n"),
        ("f(a,/* NOLINT(CU302): why */ b);\n", "f(a, b);\n"),
        ("  /* NOLINT(CU302): why */ f(a);\n", "  f(a);\n"),
        ("#define A f() /* NOLINT(CU302): w */ \\\n  + 1\n", "#define A f() \\\n  + 1\n"),
        ("x(); // words first NOLINT(CU302): why\n", "x(); // words first\n"),
        ("x(); // NOLINT(CU302) words after\n", "x(); // words after\n"),
        ("x(); // NOLINT(CU302): why NOLINT(bugprone-a)\n", "x(); // NOLINT(bugprone-a)\n"),
        ("x(); // NOLINT(CU302, foo): why\n", "x(); // NOLINT(foo): why\n"),
        ("x(); // NOLINT(foo,CU302): why\n", "x(); // NOLINT(foo): why\n"),
        ("x(); // NOLINT(CU301, foo, CU302, bar): w\n", "x(); // NOLINT(foo, bar): w\n"),
        ("x(); // NOLINT(foo, CU301, CU302): w\n", "x(); // NOLINT(foo): w\n"),
        ("x(); // NOLINT(CU301, CU302): w\n", "x();\n"),
        ("x(); // NOLINT(CU302, CU302): w\n", "x();\n"),
        ("x(); // cudalint: ignore[CU302] why\n", "x();\n"),
        ("// NOLINTBEGIN(CU302): w\nx();\n// NOLINTEND(CU302)\n", "x();\n"),
        (
            "// NOLINTBEGIN(CU302,foo): w\nx();\n// NOLINTEND(foo,CU302)\n",
            "// NOLINTBEGIN(foo): w\nx();\n// NOLINTEND(foo)\n",
        ),
        ("// NOLINTEND\nx();\n", "x();\n"),
    ],
)
def test_fixes(text: str, after: str) -> None:
    assert fixed(text) == after
    assert lint(after) == []


NAMES = ["CU301", "CU302", "CU999", "register-spill", "bugprone-foo", "cudalint-nothing"]
WORDS = st.sampled_from(["NOLINT", "NOLINTNEXTLINE", "NOLINTBEGIN", "NOLINTEND"])
LISTS = st.lists(st.sampled_from(NAMES), min_size=1, max_size=4).map(", ".join)
NOLINTS = st.builds("// {}({}): why".format, WORDS, LISTS)
IGNORES = st.builds("/* cudalint: {}[{}] why */".format, st.sampled_from(["ignore"]), LISTS)
LINES = st.tuples(
    st.sampled_from(["", "record();", "x();", "int", "  "]),
    st.one_of(st.just(""), NOLINTS, IGNORES),
).map("".join)


def code_of(text: str) -> list[str]:
    """The words of code of `text`, its comments taken as white space."""
    return re.sub(r"//[^\n]*|/\*(?s:.*?)\*/", " ", text).split()


@given(st.lists(LINES, max_size=8).map("\n".join))
def test_fixes_never_touch_code_and_come_to_rest(text: str) -> None:
    after = fixed(text)
    assert code_of(after) == code_of(text)
    for _ in range(8):
        if not lint(after):
            break
        after = fixed(after)
    assert lint(after) == []
    assert code_of(after) == code_of(text)


@given(st.lists(LINES, max_size=8).map("\n".join))
def test_fixes_never_wake_a_finding(text: str) -> None:
    def open_findings(text: str) -> int:
        data = text.encode()
        comments = tuple(
            Comment(Span("a.cu", m.start(), m.end()), "", False)
            for m in re.finditer(rb"//[^\n]*|/\*(?s:.*?)\*/", data)
        )
        found = [
            Finding("CU302", Level.ERROR, "M.", Span("a.cu", m.start(), m.end()), "m")
            for m in re.finditer(rb"record(?=\()", data)
        ]
        return len(
            judge(
                {"a.cu": SourceFile("a.cu", data)},
                {"a.cu": FileModel("a.cu", len(data), comments=comments)},
                found,
                [UnexplainedSuppression()],
                lambda code, path: False,
                CATALOGUE,
            ).kept
        )

    assert open_findings(fixed(text)) == open_findings(text)
