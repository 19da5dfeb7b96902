"""Runs made by hand for the tests of the reporters, and strategies for any run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from hypothesis import strategies as st

from cudalint.finding import Confidence, Edit, Finding, Fix, Level, Related, Span
from cudalint.rule import FileRule
from cudalint.run import Counts, Notification, RuleInForce, Run, Skip, Suppressed
from cudalint.settings.model import Settings
from cudalint.source import SourceFile

RULES_PAGE = "https://github.com/cudalint/cudalint/blob/main/docs/rules.md"


class SampleHeader(FileRule):
    """A sample of a rule that asks for a header.

    What it does
        Nothing.

    Why it matters
        It does not.

    Example
            int x;

    How to fix
        Write it.

    Sources
        None.
    """

    code = "CU101"
    name = "spdx-header"
    url = f"{RULES_PAGE}#cu101-spdx-header"
    level = Level.ERROR
    messages = {"missing": "Line 1 is not '{0}'; write it there."}


class SampleRecord(FileRule):
    """A sample of a rule about events.

    What it does
        Nothing.

    Why it matters
        It does not.

    Example
            int x;

    How to fix
        Write it.

    Sources
        None.
    """

    code = "CU302"
    name = "event-record-without-stream"
    url = f"{RULES_PAGE}#cu302-event-record-without-stream"
    level = Level.ERROR
    messages = {
        "missing": "'{0}' names no stream and records on the null stream; name one.",
        "braces": "A literal '{{}}' before '{0}'.",
    }


class SampleNote(FileRule):
    """A sample of a rule that only notes something.

    What it does
        Nothing.

    Why it matters
        It does not.

    Example
            int x;

    How to fix
        Write it.

    Sources
        None.
    """

    code = "CU310"
    name = "lazy-initialisation"
    url = f"{RULES_PAGE}#cu310-lazy-initialisation"
    level = Level.NOTE
    messages = {"lazy": "'{0}' in '{1}' belongs to load time."}


RULES: tuple[type[FileRule], ...] = (SampleHeader, SampleRecord, SampleNote)
BY_CODE = {rule.code: rule for rule in RULES}


def span_of(path: str, data: bytes, text: str | bytes, nth: int = 0) -> Span:
    """The span of the `nth` place where `text` stands in `data`."""
    wanted = text.encode() if isinstance(text, str) else text
    at = -1
    for _ in range(nth + 1):
        at = data.index(wanted, at + 1)
    return Span(path, at, at + len(wanted))


def run_of(
    files: dict[str, bytes],
    findings: Sequence[Finding] = (),
    *,
    suppressed: Sequence[Suppressed] = (),
    root: str = "/nowhere/at/all",
    levels: dict[str, Level] | None = None,
    **more: Any,
) -> Run:
    """A finished run over `files`, with the sample rules in force."""
    levels = levels or {}
    more.setdefault("exit_code", 1 if findings else 0)
    more.setdefault("counts", Counts(files=len(files), kernels=1))
    return Run(
        root=root,
        settings=Settings(),
        rules=tuple(RuleInForce(rule, levels.get(rule.code, rule.level)) for rule in RULES),
        findings=tuple(findings),
        suppressed=tuple(suppressed),
        sources={path: SourceFile(path, data) for path, data in files.items()},
        **more,
    )


PIECES = st.sampled_from(
    [
        *(
            "a",
            "b(",
            ")",
            "{0}",
            "{}",
            "](1)",
            "[x](2)",
            "'",
            "\t",
            " ",
            "  ",
            ";",
            "//",
            "\x1b[31m",
        ),
        *("é", "日本", "😀", "\u202e", "\u0301", "\ufeff", "\x00", "\x85", "\u2028", "\r"),
        *("\n", "\n", "\n", "\r\n", "\r\n"),
    ]
)
TEXTS = st.lists(PIECES, max_size=40).map("".join)
SOURCES = st.one_of(
    TEXTS.map(str.encode),
    TEXTS.map(lambda text: b"\xef\xbb\xbf" + text.encode()),
    st.tuples(TEXTS, st.binary(max_size=6), TEXTS).map(
        lambda parts: parts[0].encode() + parts[1] + parts[2].encode()
    ),
)
NAMES = st.sampled_from(
    ["a.cu", "k/b c.cu", "k/é.cuh", "k/a#1%.cu", "[x].cu", "c:d.cu", "k/\udcff.cu", "q?.cu"]
)
WORDS = st.lists(
    st.sampled_from(["k", "cudaEventRecord", "[](int x)", "{0}", "{}", "é", "a b"]), max_size=3
).map(" ".join)


@st.composite
def _spans(draw: st.DrawFn, path: str, data: bytes) -> Span:
    """Any span of a file, often at the start or the end."""
    start = draw(st.integers(0, len(data)))
    end = draw(st.integers(start, len(data)))
    return draw(
        st.sampled_from([Span(path, start, end), Span(path, 0, 0), Span(path, start, start)])
    )


@st.composite
def _findings(draw: st.DrawFn, path: str, data: bytes) -> Finding:
    rule, message_id = draw(
        st.sampled_from([(rule, key) for rule in RULES for key in rule.messages])
    )
    related = [
        Related(draw(_spans(path, data)), draw(WORDS) or "here")
        for _ in range(draw(st.integers(0, 2)))
    ]
    flow = [Related(draw(_spans(path, data)), "a step") for _ in range(draw(st.integers(0, 2)))]
    fix = None
    if draw(st.booleans()):
        edit = Edit(draw(_spans(path, data)), draw(WORDS))
        fix = Fix("Mend it", (edit,), draw(st.booleans()))
    return rule.report(
        message_id,
        draw(_spans(path, data)),
        draw(WORDS),
        draw(WORDS),
        level=draw(st.sampled_from([None, None, Level.NOTE])),
        related=related,
        confidence=draw(st.sampled_from(list(Confidence))),
        fix=fix,
        flow=flow,
        **draw(st.sampled_from([{}, {"bytes": 4}, {"share": 0.5, "arch": "sm_121"}])),
    )


@st.composite
def runs(draw: st.DrawFn) -> Run:
    """Any finished run: odd names, odd bytes, any spans."""
    files = draw(st.dictionaries(NAMES, SOURCES, min_size=1, max_size=3))
    findings: list[Finding] = []
    for path, data in files.items():
        findings += draw(st.lists(_findings(path, data), max_size=4))
    findings.sort(key=lambda f: (f.span, f.code, f.message))
    cut = draw(st.integers(0, len(findings)))
    silenced = [Suppressed(f, draw(WORDS), f.span) for f in findings[cut:]]
    notes = draw(
        st.lists(
            st.builds(
                Notification,
                id=st.sampled_from(["regions-not-understood", "rule-failed", "never-heard-of"]),
                level=st.sampled_from(list(Level)),
                message=WORDS.map(lambda words: words or "something"),
            ),
            max_size=2,
        )
    )
    skips = draw(st.sampled_from([(), (Skip("CU5", "no nvcc"),)]))
    return run_of(
        files, findings[:cut], suppressed=silenced, notifications=tuple(notes), skips=skips
    )


def results_with_regions(log: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each region of a log's results with the URI that it is in."""
    for result in log["runs"][0]["results"]:
        places = [*result["locations"], *result.get("relatedLocations", [])]
        places += [s["location"] for s in result.get("suppressions", [])]
        for flow in result.get("codeFlows", []):
            for thread in flow["threadFlows"]:
                places += [step["location"] for step in thread["locations"]]
        for place in places:
            physical = place["physicalLocation"]
            for key in ("region", "contextRegion"):
                if key in physical:
                    yield physical["artifactLocation"]["uri"], physical[key]
