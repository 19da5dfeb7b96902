"""A resource table as text, JSON, CSV and Markdown: what stands there, and what can't act."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from tables import EVERY, HOSTILE, UNKNOWN, measured, places, row

from cudalint.resources.formats import FORMATS, written
from cudalint.resources.formats.csv import HEADER
from cudalint.resources.model import FailedCompile, LaunchShape, Origin
from cudalint.resources.order import SORT_KEYS, sorted_groups


def table(name: str, *rows: object, sort: str = "path") -> str:
    found = measured(*rows)  # type: ignore[arg-type]
    return written(name, sorted_groups(found.table.rows, sort), found, places(found))


def test_text_has_the_archs_of_a_kernel_below_each_other() -> None:
    lines = table("text", *EVERY).splitlines()
    assert [line.split()[0] for line in lines[:6]] == [
        *("kernel", "full", "pooled", "spills", "sm_121", "unknown")
    ]
    assert lines[3].split()[:8] == ["spills", "sm_90", "40", "8", "8", "16", "0", "1"]
    assert lines[4].split() == [
        *("sm_121", "40", "12", "20", "16", "0", "1", "128", "12", "100", "%", "registers,"),
        "warps",
    ]
    assert lines[1].split()[6:12] == ["0+4096", "1", "256", "6", "100", "%"]
    assert lines[2].split()[6] == "1024+?"
    assert "≤ 67 %" in lines[2]
    assert lines[5].split()[7:] == ["1", "?", "?", "?", "a.cu:3"]
    assert lines[7] == "4 kernels on sm_121, sm_90 with nvcc 13.0.88, 1 of them spills"
    places_of_where = {line.index("a.cu:3") for line in lines[1:6] if "a.cu:3" in line}
    assert places_of_where == {lines[0].index("where")}


def test_no_kernels_are_said() -> None:
    assert table("text") == "no kernels\n"
    assert "no kernels" in table("html")
    assert msgspec.json.decode(table("json")) == {"version": 1, "rows": [], "failures": []}


def test_json_has_all_that_is_known() -> None:
    rows = msgspec.json.decode(table("json", *EVERY))["rows"]
    assert [(r["kernel"], r["arch"]) for r in rows] == [
        ("full", "sm_121"),
        ("pooled", "sm_121"),
        ("spills", "sm_90"),
        ("spills", "sm_121"),
        ("unknown", "sm_121"),
    ]
    full, pooled, on_90, spills, unknown = rows
    assert full["dynamic_shared"] == 4096
    assert (pooled["dynamic_shared"], pooled["occupancy"]) == (None, 0.6667)
    assert pooled["next_steps"] == [{"resource": "registers", "now": 64, "most": 48, "blocks": 5}]
    assert spills["spill_lines"][0] == {"path": "a.cu", "line": 2, "stores": 12, "loads": 12}
    assert (spills["unplaced_stores"], spills["unplaced_loads"]) == (0, 4)
    assert (on_90["spill_lines"], on_90["unplaced_stores"]) == ([], None)
    assert (unknown["threads"], unknown["occupancy"], unknown["limiters"]) == (None, None, [])


def test_json_tells_of_what_did_not_compile() -> None:
    failure = FailedCompile("b.cu", "sm_90", ("hw/m/q",), "no such header")
    found = measured(failures=(failure,))
    document = msgspec.json.decode(written("json", (), found, places(found)))
    assert document["failures"] == [
        {"path": "b.cu", "arch": "sm_90", "targets": ["hw/m/q"], "why": "no such header"}
    ]


def test_csv_is_one_line_a_row() -> None:
    lines = list(csv.reader(io.StringIO(table("csv", *EVERY))))
    assert tuple(lines[0]) == HEADER
    assert {len(line) for line in lines} == {len(HEADER)}
    named = [dict(zip(HEADER, line, strict=True)) for line in lines[1:]]
    assert [line["occupancy"] for line in named] == ["1.0000", "0.6667", "0.7500", "1.0000", ""]
    assert named[1]["dynamic_shared"] == ""
    assert named[3]["limiters"] == "registers warps"


@pytest.mark.parametrize("path", ["=cmd.cu", "+1.cu", "-1.cu", "@x.cu"])
def test_csv_holds_no_formula(path: str) -> None:
    lines = list(csv.reader(io.StringIO(table("csv", row(path=path)))))
    assert lines[1][0] == f"./{path}"


def test_markdown_is_a_table_of_plain_text() -> None:
    text = table("markdown", *EVERY, row(HOSTILE, origin=Origin("<b>.cu", 0)))
    rendered = MarkdownIt("commonmark").enable("table").render(text)
    assert rendered.count("<tr>") == 1 + len(EVERY) + 1
    assert {row.count("<td") for row in re.findall(r"<tr>.*?</tr>", rendered, re.DOTALL)[1:]} == {
        13
    }
    tags = set(re.findall(r"<(/?\w+)", rendered))
    assert tags <= {t + n for t in ("", "/") for n in ("table", "thead", "tbody", "tr", "th", "td")}
    assert "k&lt;img src=x onerror=alert(1)&gt;" in rendered


@pytest.mark.parametrize("name", FORMATS)
def test_nothing_acts_on_a_terminal(name: str) -> None:
    hostile = row(HOSTILE, path=f"{HOSTILE}.cu", origin=Origin(f"{HOSTILE}.cu", 1))
    text = table(name, hostile)
    assert "\x1b" not in text
    if name != "json":  # there it stands in a string, which a reader takes apart first
        assert "\u202e" not in text


@given(st.text(max_size=40), st.sampled_from(FORMATS))
def test_any_name_goes_through_every_format(name: str, format_: str) -> None:
    text = table(format_, row(name, path=f"{name}.cu"), UNKNOWN)
    assert text.endswith("\n")
    assert not any(ord(char) < 32 and char not in "\n\r\t" for char in text)


@pytest.mark.parametrize("name", FORMATS)
def test_a_file_name_that_is_no_text_is_shown(name: str) -> None:
    text = table(name, row(path="a\udcff.cu", origin=Origin("a\udcff.cu", 1)))
    assert text.encode("utf-8")


def test_sorting_puts_the_worst_first_and_keeps_archs_together() -> None:
    def order(key: str) -> list[str]:
        return [group[0].kernel for group in sorted_groups(EVERY, key)]

    assert order("path") == ["full", "pooled", "spills", "unknown"]
    assert order("registers") == ["pooled", "spills", "unknown", "full"]
    assert order("spills")[0] == "spills"
    assert order("stack")[0] == "spills"
    assert order("shared")[:2] == ["full", "pooled"]
    assert order("occupancy") == ["pooled", "spills", "full", "unknown"]
    assert order("arch")[0] == "spills"
    for key in SORT_KEYS:
        groups = sorted_groups(reversed(EVERY), key)
        assert groups == sorted_groups(EVERY, key)
        assert [r.arch for group in groups for r in group if group[0].kernel == "spills"] == [
            "sm_90",
            "sm_121",
        ]


def test_rows_of_other_targets_are_groups_of_their_own() -> None:
    rows = (row(targets=("hw/a",)), row(targets=("hw/b",)), row(arch="sm_90", targets=("hw/a",)))
    groups = sorted_groups(rows)
    assert [[r.arch for r in group] for group in groups] == [["sm_90", "sm_121"], ["sm_121"]]


def test_a_long_name_keeps_its_ends() -> None:
    name = f"n::k<{', '.join(['float'] * 30)}, 128>"
    line = table("text", row(name)).splitlines()[1]
    assert line.startswith("n::k<float, float")
    assert "float, 128>" in line
    assert len(line) < 200


def test_the_page_on_resources_shows_what_is_printed() -> None:
    page = (Path(__file__).parents[3] / "docs" / "resources.md").read_text(encoding="utf-8")
    shown = page.partition("--sort spills\n")[2].partition("\n\n")[0]
    shape = LaunchShape(512, 0, "bounds")

    def two(kernel: str, path: str, line: int, *spills: int, stacks: tuple[int, int]) -> list[Any]:
        return [
            row(
                kernel,
                arch,
                path=path,
                origin=Origin(path, line),
                shape=shape,
                spill_stores=bytes_,
                spill_loads=bytes_,
                stack=stack,
            )
            for arch, bytes_, stack in zip(("sm_89", "sm_121"), spills, stacks, strict=True)
        ]

    rows = two("turn", "a.cu", 4, 92, 96, stacks=(96, 96))
    rows += two("columns", "columns.cu", 7, 44, 72, stacks=(304, 336))
    printed = table("text", *rows, sort="spills").partition("\n\n")[0]
    assert [line.removeprefix("    ") for line in shown.splitlines()] == printed.splitlines()
