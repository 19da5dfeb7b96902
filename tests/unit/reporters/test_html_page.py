"""The HTML page, as markup for any run, and in a real browser for one that has everything."""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pytest
from hypothesis import given
from lxml import etree
from lxml import html as parser
from sample_runs import SampleHeader, SampleNote, SampleRecord, run_of, runs, span_of

from browser import opened
from cudalint.finding import Edit, Fix, Level, Related, Span
from cudalint.reporters.html import html
from cudalint.reporters.visible import visible
from cudalint.run import Notification, Run, Skip, Suppressed

if TYPE_CHECKING:
    from playwright.sync_api import Page

HOSTILE = "</code></pre><script>document.title = 'taken'</script>"
SOURCE = (
    "// \x1b[31mred\x1b[0m \u202e hidden\n"
    f"// {HOSTILE}\n"
    "void run(cudaEvent_t done) {\n"
    "\tcudaEventRecord(done); // & <b>é</b>\n"
    "  step();\n"
    "}\n"
    "void step() { wait(); }\n"
).encode()


def sample() -> Run:
    """A run with every part that a page can have, some of it hostile."""
    path = "k/<img src=x onerror=alert(1)>.cu"
    record = span_of(path, SOURCE, "cudaEventRecord")
    step = span_of(path, SOURCE, "step();")
    wait = span_of(path, SOURCE, "wait();")
    evil = span_of(path, SOURCE, HOSTILE)
    edit = Edit(span_of(path, SOURCE, "done)"), f"done, {HOSTILE})")
    findings = [
        SampleHeader.report("missing", Span(path, 0, 0), HOSTILE),
        SampleRecord.report(
            "missing",
            record,
            "cudaEventRecord",
            related=[Related(evil, "a place & <i>word</i>")],
            flow=[Related(record, "'run' starts"), Related(step, "calls"), Related(wait, "waits")],
            fix=Fix("Name the stream", (edit,), safe=False),
        ),
        SampleRecord.report("missing", Span("k/gone.cu", 4, 9), "x", level=Level.WARNING),
        SampleNote.report("lazy", wait, "x", "y"),
    ]
    silenced = Suppressed(SampleNote.report("lazy", step, "quiet", "y"), "one & only", step)
    return run_of(
        {path: SOURCE, "k/only.cu": SOURCE},
        findings,
        suppressed=[
            silenced,
            Suppressed(SampleNote.report("lazy", Span("k/only.cu", 0, 0), "q", "y"), "", step),
        ],
        notifications=(Notification("rule-failed", Level.ERROR, f"oh {HOSTILE}"),),
        skips=(Skip("CU5", "no nvcc"),),
        exit_code=2,
    )


@given(run=runs())
def test_any_run_is_well_formed_and_tells_every_finding(run: Run) -> None:
    page = parser.document_fromstring(html(run))
    articles = page.xpath("//article")
    assert len(articles) == len(run.findings) + len(run.suppressed)
    told = [" ".join(p.text_content().split()) for p in page.xpath("//p[@class='message']")]
    wanted = [f.message for f in (*run.findings, *(s.finding for s in run.suppressed))]
    assert sorted(told) == sorted(" ".join(visible(m).split()) for m in wanted)
    assert len(page.xpath("//script")) == 1
    for element in page.iter(etree.Element):
        for name, value in element.attrib.items():
            assert not name.startswith("on"), name
            assert name not in ("src", "style", "action")
            if name == "href":
                assert value.startswith("https://github.com/cudalint/")


def test_nothing_can_be_loaded_and_only_our_own_script_may_run() -> None:
    text = html(sample())
    policy = parser.document_fromstring(text).xpath("//meta[@http-equiv]/@content")[0]
    assert policy.startswith("default-src 'none'; ")
    for tag, kind in (("style", "style-src"), ("script", "script-src")):
        (content,) = re.findall(f"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        digest = b64encode(sha256(content.encode()).digest()).decode()
        assert f"{kind} 'sha256-{digest}'" in policy


def test_findings_of_the_baseline_are_there_on_request() -> None:
    held = SampleRecord.report("missing", span_of("a.cu", SOURCE, "wait();"), "wait")
    page = parser.document_fromstring(html(run_of({"a.cu": SOURCE}, baselined=(held,))))
    (article,) = page.xpath("//article")
    assert "hidden" in article.attrib
    assert article.xpath("p[@class='reason']")[0].text_content() == (
        "Suppressed: It is in the baseline."
    )
    assert [label.text_content().strip() for label in page.xpath("//label")][-1] == "suppressed (1)"


def test_a_long_line_and_a_long_span_are_cut() -> None:
    source = b"int a = " + b"1 + " * 1000 + b"wait();\n" + b"x;\n" * 40
    call, all_ = span_of("a.cu", source, "wait"), Span("a.cu", 0, len(source))
    findings = [SampleRecord.report("missing", span, "wait") for span in (call, all_)]
    text = html(run_of({"a.cu": source}, findings))
    assert "<mark>wait</mark>();" in text
    assert len(text) < 25_000
    assert text.count('class="line more"') == 1


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path: Path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(html(sample()), encoding="utf-8")
    return path


def codes(page: Page) -> list[str]:
    """The rules of the findings that can be seen, in order."""
    return [
        str(article.get_attribute("data-code"))
        for article in page.query_selector_all("article")
        if article.is_visible()
    ]


def test_filters_in_a_browser(file: Path) -> None:
    with opened(file) as page:
        everything = ["CU101", "CU302", "CU310", "CU302"]
        assert codes(page) == everything
        assert page.inner_text("output") == "4 of 4 shown"
        page.uncheck("input[value=error]")
        assert codes(page) == ["CU310", "CU302"]
        page.uncheck("input[value=warning]")
        assert codes(page) == ["CU310"]
        assert page.inner_text("output") == "1 of 4 shown"
        page.click("button[type=reset]")
        page.wait_for_function("document.querySelector('output').textContent === '4 of 4 shown'")
        page.select_option("select", "CU302")
        assert codes(page) == ["CU302", "CU302"]
        page.fill("input[type=search]", "GONE event")
        assert codes(page) == ["CU302"]
        assert page.locator("h2:visible").all_inner_texts() == ["k/gone.cu 1 finding"]
        page.fill("input[type=search]", "no such word")
        assert codes(page) == []
        page.click("button[type=reset]")
        page.check("input[name=suppressed]")
        assert len(codes(page)) == 6
        assert page.locator(".reason:visible").all_inner_texts() == [
            "Suppressed: one & only",
            "Suppressed: no reason given",
        ]


def test_what_is_hostile_is_shown_and_does_nothing(file: Path) -> None:
    with opened(file) as page:
        assert page.title().startswith("cudalint: 2 errors, 1 warning, 1 note")
        text = page.inner_text("body")
        assert HOSTILE in text
        assert "␛[31mred␛[0m <U+202E> hidden" in text
        assert "k/<img src=x onerror=alert(1)>.cu" in text
        assert "a place & <i>word</i>" in text
        assert page.locator("img, b, main i:not([data-line]):not(:empty)").count() == 0
        assert page.locator("mark", has_text="cudaEventRecord").count() >= 1
        assert f"error: oh {HOSTILE}" in page.inner_text("header")


def test_call_chains_and_fixes_unfold(file: Path) -> None:
    with opened(file) as page:
        chain = page.locator("details.flow")
        assert chain.locator("li").first.is_hidden()
        page.click("text=Call chain: 3 steps")
        assert chain.locator("li .label").all_inner_texts() == ["'run' starts", "calls", "waits"]
        assert chain.locator("li mark").all_inner_texts() == [
            "cudaEventRecord",
            "step();",
            "wait();",
        ]
        page.click("text=Unsafe fix: Name the stream")
        assert page.locator("del").inner_text() == "done)"
        assert page.locator("ins").inner_text() == f"done, {HOSTILE})"


def _luminance(colour: str) -> float:
    parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_read_in_both_schemes(file: Path, scheme: Literal["light", "dark"]) -> None:
    behind = """element => {
      while (getComputedStyle(element).backgroundColor === 'rgba(0, 0, 0, 0)') {
        element = element.parentElement;
      }
      return getComputedStyle(element).backgroundColor;
    }"""
    with opened(file, scheme) as page:
        paper = page.eval_on_selector("body", behind)
        assert (_luminance(paper) > 0.5) == (scheme == "light")
        for selector in (
            *("body", ".soft", ".place", ".message", ".error .level", ".warning .level"),
            *(".note .level", "article a", "mark", ".line code", ".run-error", ".filters output"),
        ):
            ink = page.eval_on_selector(selector, "e => getComputedStyle(e).color")
            under = page.eval_on_selector(selector, behind)
            light, dark = sorted((_luminance(ink), _luminance(under)), reverse=True)
            contrast = (light + 0.05) / (dark + 0.05)
            assert contrast >= 4.5, (selector, ink, under, contrast)


def test_it_fits_a_narrow_window(file: Path) -> None:
    with opened(file) as page:
        page.set_viewport_size({"width": 400, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") <= 400
