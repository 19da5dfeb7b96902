"""The Markdown comment: read back by a parser of CommonMark, and never too long."""

from __future__ import annotations

import re
from html import unescape

from hypothesis import given
from markdown_it import MarkdownIt
from markdown_it.token import Token
from sample_runs import SampleNote, SampleRecord, run_of, runs, span_of

from cudalint.finding import Finding, Level, Span
from cudalint.reporters.markdown import LONGEST, MARKER, markdown
from cudalint.reporters.visible import visible
from cudalint.run import Notification, Run

PARSER = MarkdownIt("commonmark").enable("table")


def tokens(text: str) -> list[Token]:
    return PARSER.parse(text)


def prose(text: str) -> list[str]:
    """The text of each paragraph and heading as a reader sees it."""
    return [
        "".join(
            child.content for child in token.children or () if child.type in ("text", "code_inline")
        )
        for token in tokens(text)
        if token.type == "inline"
    ]


def shown(message: str) -> str:
    return " ".join(visible(message).split())


@given(run=runs())
def test_any_run_is_told_whole_and_as_text(run: Run) -> None:
    text = markdown(run)
    assert len(text) <= LONGEST
    read = prose(text)
    items = [line for line in read if re.match(r"\d+:\d+ (error|warning|note) CU\d+ ", line)]
    assert [item.partition(": ")[2] for item in items] == [shown(f.message) for f in run.findings]
    html = [
        child.content
        for token in tokens(text)
        for child in (token, *(token.children or ()))
        if child.type in ("html_inline", "html_block")
    ]
    assert {piece.strip() for piece in html} <= {MARKER, "<!-- -->"}
    assert text.startswith(MARKER + "\n")


SOURCE = b"void f() {\n\tg(1); // ``` <!-- -->\n}\n"


def test_a_finding_with_its_line() -> None:
    span = span_of("k/a b`.cu", SOURCE, "g(1)")
    run = run_of(
        {"k/a b`.cu": SOURCE},
        [
            SampleRecord.report("missing", span, "g"),
            SampleNote.report("lazy", span, "@someone", "#12 <b>"),
        ],
    )
    assert markdown(run) == (
        "<!-- cudalint -->\n\n"
        "### cudalint: 1 error, 1 note\n\n"
        "1 kernel in 1 file\n\n"
        "#### ``k/a b`.cu``\n\n"
        "- 2:2 **error** [CU302](https://github.com/cudalint/cudalint/blob/main/docs/rules.md"
        "#cu302-event-record-without-stream) event-record-without-stream: "
        "'g' names no stream and records on the null stream; name one.\n\n"
        "  ````cuda\n  g(1); // ``` <!-- -->\n  ````\n"
        "- 2:2 note [CU310](https://github.com/cudalint/cudalint/blob/main/docs/rules.md"
        "#cu310-lazy-initialisation) lazy-initialisation: "
        "'&#64;<!-- -->someone' in '&#35;<!-- -->12 &lt;b&gt;' belongs to load time.\n\n"
        "  ````cuda\n  g(1); // ``` <!-- -->\n  ````\n"
    ).replace("&lt;", "&#60;").replace("&gt;", "&#62;")


def test_nobody_is_called_and_no_issue_is_linked() -> None:
    run = run_of({"a.cu": SOURCE}, [SampleNote.report("lazy", Span("a.cu", 0, 1), "@a", "#1")])
    rendered = PARSER.render(markdown(run))
    paragraphs = re.sub(r"<pre>.*?</pre>", "", rendered, flags=re.DOTALL)
    texts = unescape(re.sub(r"<[a-z/][^>]*>", "", paragraphs))
    assert not re.search(r"@\w|#\d", texts)


def many(number: int) -> tuple[bytes, list[Finding]]:
    source = b"".join(b"void f%d() { g(); }\n" % n for n in range(number))
    places = [match.start() for match in re.finditer(rb"g\(\)", source)]
    findings = [SampleRecord.report("missing", Span("a.cu", at, at + 3), "g") for at in places]
    return source, findings


def test_what_does_not_fit_is_left_out_from_the_end_and_counted() -> None:
    source, findings = many(1000)
    last = SampleRecord.report("missing", Span("b.cu", 0, 1), "g")
    text = markdown(run_of({"a.cu": source, "b.cu": source}, [*findings, last]))
    assert LONGEST - 1000 < len(text) <= LONGEST
    told = text.count("names no stream")
    assert f"**{1001 - told} more findings in 2 files left out:**" in text.splitlines()[-1]
    assert text.splitlines()[-2] == ""
    whole = markdown(run_of({"a.cu": source}, findings[:100]))
    assert (whole.count("names no stream"), "left out" in whole) == (100, False)


def test_long_things_are_cut() -> None:
    source = b"x" * 100_000 + b"\n"
    path = "k/" * 2000 + "a.cu"
    finding = SampleRecord.report("missing", Span(path, 0, 5), "y" * 100_000)
    problem = Notification("rule-failed", Level.ERROR, "_" * 100_000)
    text = markdown(run_of({path: source}, [finding], notifications=(problem,) * 100, exit_code=2))
    assert len(text) < LONGEST
    assert "95 more errors of the run are left out." in text
    assert "x" * 300 + "…" in text
