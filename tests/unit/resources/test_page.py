"""The HTML page in a real browser: what it shows, sorts and filters, and what cannot act."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tables import EVERY, HOSTILE, measured, places, row

from browser import find_browser, opened
from cudalint.compile.model import SpillLine
from cudalint.resources.formats import written
from cudalint.resources.model import FailedCompile, Origin
from cudalint.resources.order import sorted_groups

if TYPE_CHECKING:
    from playwright.sync_api import Page

SOURCE = "int a;\n<script>alert(1)</script>\x1b[31m\nint c;\nint d;\n"


def page_of(*rows: Any, failures: tuple[FailedCompile, ...] = ()) -> str:
    found = measured(*rows, failures=failures, a=SOURCE)
    return written("html", sorted_groups(found.table.rows), found, places(found))


@contextmanager
def shown(folder: Path, text: str, scheme: Any = "light") -> Iterator[Page]:
    find_browser()
    file = folder / "page.html"
    file.write_text(text, encoding="utf-8")
    with opened(file, scheme) as page:
        yield page


def kernels(page: Page) -> list[str]:
    """The names in the table that are to be seen, from top to bottom."""
    names: list[str] = page.eval_on_selector_all(
        "#kernels tbody:not([hidden]) th a", "found => found.map(one => one.textContent)"
    )
    return names


def test_the_page_is_one_file_that_asks_for_nothing() -> None:
    text = page_of(*EVERY)
    assert "default-src 'none'" in text
    assert not re.search(r"""(?:src|href)=["'](?!#)""", text)
    assert "http:" not in text
    assert "https:" not in text
    assert "@import" not in text
    assert "url(" not in text
    assert text.count("<script>") == 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_rows_and_cards_are_there_in_both_schemes(tmp_path: Path, scheme: str) -> None:
    with shown(tmp_path, page_of(*EVERY), scheme) as page:
        assert kernels(page) == ["full", "pooled", "spills", "unknown"]
        assert page.locator("section").count() == 4
        assert page.locator("section svg.stairs").count() == 8
        cells = page.locator("#kernels tbody").nth(2).locator("tr").nth(1).locator("td")
        assert cells.all_inner_texts()[:5] == ["sm_121", "40", "12", "20", "16"]
        light = page.evaluate(
            "() => getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)[0]"
        )
        assert (light > 128) is (scheme == "light")
        fits = "() => document.documentElement.scrollWidth <= window.innerWidth"
        assert page.evaluate(fits)


@pytest.mark.parametrize("width", [360, 768])
def test_a_narrow_window_scrolls_the_table_and_not_the_page(tmp_path: Path, width: int) -> None:
    long = row("n::k<" + "float, " * 30 + "4>")
    with shown(tmp_path, page_of(*EVERY, long)) as page:
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("() => document.documentElement.scrollWidth <= window.innerWidth")


def test_the_filter_leaves_what_has_every_word(tmp_path: Path) -> None:
    with shown(tmp_path, page_of(*EVERY)) as page:
        page.fill("#filter", "  SM_90 ")
        assert kernels(page) == ["spills"]
        assert page.locator("section:visible h2").all_inner_texts() == ["spills"]
        assert page.locator("#shown").inner_text() == "1 of 4 kernels"
        page.fill("#filter", "registers a.cu")
        assert kernels(page) == ["pooled", "spills"]
        page.fill("#filter", "no such thing")
        assert kernels(page) == []
        page.fill("#filter", "")
        assert kernels(page) == ["full", "pooled", "spills", "unknown"]
        assert page.locator("#shown").inner_text() == ""


@pytest.mark.parametrize(
    ("column", "first", "second"),
    [
        ("kernel", "full pooled spills unknown", "unknown spills pooled full"),
        ("arch", "spills full pooled unknown", "spills full pooled unknown"),
        ("regs", "pooled spills unknown full", "full spills unknown pooled"),
        ("spill st", "spills full pooled unknown", "full pooled unknown spills"),
        ("shared", "full pooled spills unknown", "spills unknown pooled full"),
        ("occupancy", "full spills pooled unknown", "unknown pooled spills full"),
    ],
)
def test_a_column_sorts_at_its_title(tmp_path: Path, column: str, first: str, second: str) -> None:
    with shown(tmp_path, page_of(*EVERY)) as page:
        button = page.get_by_role("button", name=column, exact=True)
        button.click()
        head = page.locator("#kernels thead th", has=button)
        is_number = "number" in (head.get_attribute("class") or "")
        assert head.get_attribute("aria-sort") == ("descending" if is_number else "ascending")
        assert kernels(page) == first.split()
        button.press("Enter")
        assert head.get_attribute("aria-sort") == ("ascending" if is_number else "descending")
        assert kernels(page) == second.split()
        assert page.locator("#kernels thead th[aria-sort]").count() == 1
        rows = page.locator("#kernels tbody", has_text="spills").locator("tr")
        assert [text.split()[0] for text in rows.all_inner_texts()][1:] == ["sm_121"]


def test_a_kernel_leads_to_its_card(tmp_path: Path) -> None:
    with shown(tmp_path, page_of(*EVERY)) as page:
        page.locator("#kernels tbody th a", has_text="pooled").click()
        assert page.locator("section:target h2").inner_text() == "pooled"
        steps = page.locator("section:target li").all_inner_texts()
        assert steps == ["at most 48 registers (64 now): 5 blocks"]
        label = page.locator("section:target svg.stairs").first.get_attribute("aria-label")
        assert label == "4 blocks at 64 registers"


def test_the_heat_is_where_the_spills_are(tmp_path: Path) -> None:
    with shown(tmp_path, page_of(*EVERY)) as page:
        card = page.locator("section", has_text="where it spills")
        strips = card.locator("svg.strip")
        assert strips.count() == 1
        marks = strips.locator("rect.hot")
        assert [mark.get_attribute("fill-opacity") for mark in marks.all()] == ["1.00", "0.38"]
        strip, worst = strips.bounding_box(), marks.first.bounding_box()
        assert strip is not None
        assert worst is not None
        share = (worst["x"] - strip["x"]) / strip["width"]
        assert share == pytest.approx(1 / 5, abs=0.01)  # line 2 of 5
        lines = card.locator("table.lines tr").all_inner_texts()
        assert lines[0].split("\t")[0] == "a.cu:2"
        assert "<script>alert(1)</script>␛[31m" in lines[0]
        texts = card.locator("p").all_inner_texts()
        assert "No disassembly tells which lines spill." in texts
        said = "ptxas counts 12 bytes of stores and 20 of loads; the lines account for 12 and 16."
        assert said in texts


def test_names_sources_and_errors_are_text(tmp_path: Path) -> None:
    hostile = row(
        HOSTILE,
        path=f"{HOSTILE}.cu",
        targets=(HOSTILE,),
        origin=Origin(f"{HOSTILE}.cu", 1),
        spill_stores=4,
        spill_lines=(SpillLine(f"{HOSTILE}.h", 1, 4, 0), SpillLine("a.cu", 2, 4, 0)),
    )
    failure = FailedCompile(
        f"{HOSTILE}.cu", "sm_90", (), f"</ul><script>alert(2)</script>{HOSTILE}"
    )
    text = page_of(hostile, failures=(failure,))
    assert "\x1b" not in text
    assert "\u202e" not in text
    with shown(tmp_path, text) as page:
        for kind, count in (("img", 0), ("script", 1), ("section", 1), ("tbody", 2)):
            assert page.locator(kind).count() == count, kind
        handlers = "() => [...document.querySelectorAll('*')].some(e => e.onerror || e.onclick)"
        assert not page.evaluate(handlers)
        assert kernels(page) == ["k<img src=x onerror=alert(1)>&\"'|`*␛[31m<U+202E>"]
        assert "</ul><script>alert(2)</script>" in page.locator(".failures").inner_text()


def test_a_script_that_got_in_would_not_run(tmp_path: Path) -> None:
    """The page's policy lets its own script run and no other, and the browser complains."""
    text = page_of(*EVERY).replace("</main>", "<script>document.title = 'taken'</script></main>")
    titles = []
    with pytest.raises(AssertionError), shown(tmp_path, text) as page:
        titles.append(page.title())
    assert titles == ["Kernel resources"]


def test_without_script_the_page_still_shows_everything(tmp_path: Path) -> None:
    text = re.sub(r"<script>.*</script>", "", page_of(*EVERY), flags=re.DOTALL)
    with shown(tmp_path, text) as page:
        assert kernels(page) == ["full", "pooled", "spills", "unknown"]
