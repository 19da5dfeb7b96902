"""Comments that say a layout."""

from __future__ import annotations

import pytest

from cudalint.devicecode.layouts import LayoutNotes, says_layout
from cudalint.finding import Span
from cudalint.wording.nearby import NearbyComments
from projects import project_of


@pytest.mark.parametrize(
    "text",
    [
        "// [row][col], one pad column",
        "// row-major",
        "/* 8 x 32 */",
        "// kRows x kCols values",
        "// rows × lanes",
        "// xor swizzled",
        "// [stage] [lane]",
        "// stride 68",
        "// stored in lane order",
        "// K, then V, interleaved",
        "// transposed copy",
    ],
)
def test_layout(text: str) -> None:
    assert says_layout(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "// partial sums",
        "// load x into shared memory in order to reuse it",
        "// browse the border",
        "// one per warp",
        "// partial[warp]",
        "// 2 times",
    ],
)
def test_no_layout(text: str) -> None:
    assert not says_layout(text)


@pytest.mark.parametrize("text", ["// one per warp", "// [lane]", "// one value for each thread"])
def test_one_dimension_needs_its_index_only(text: str) -> None:
    assert says_layout(text, one_dimension=True)


def test_a_name_and_its_layout_belong_together() -> None:
    notes = LayoutNotes(
        "// Rows are read once.\n//\n//\n// tile is filled,\n// [row][col].\n// sums"
    )
    assert notes.speak_of({"tile"})
    assert not notes.speak_of({"sums"})
    assert not notes.speak_of({"til"})
    assert not LayoutNotes("// tile\n").speak_of({"tile"})


CODE = """\
// above all

// two lines,
// the second
int a;  // beside a
#if 1
int b; /* beside b,
  over two lines */
int c;
"""


@pytest.mark.parametrize(
    ("name", "above", "beside"),
    [
        ("a", "// two lines,\n// the second", "// beside a"),
        ("b", "", "/* beside b,\n  over two lines */"),
        ("c", "", ""),
    ],
)
def test_comments_by_lines(name: str, above: str, beside: str) -> None:
    model = project_of({"a.cu": CODE}).models["a.cu"]
    nearby = NearbyComments(model, CODE.encode())
    at = CODE.index(f"int {name};")
    span = Span("a.cu", at, at + 6)
    assert nearby.above(span) == above
    assert nearby.beside(span) == beside


def test_a_group_and_directives_may_stand_between() -> None:
    code = "// the block\nint a;\n#ifdef X\nint b;\n#endif\nint c;\n"
    model = project_of({"a.cu": code}).models["a.cu"]
    spans = [Span("a.cu", at, at + 6) for at in (code.index(f"int {n};") for n in "abc")]
    nearby = NearbyComments(model, code.encode())
    assert nearby.above(spans[2], spans[:2]) == "// the block"
    assert nearby.above(spans[2], spans[1:2]) == ""
