"""Which lines spill, in what the tools of several toolkits print of one file.

The texts are of `ptxas -v` and `nvdisasm -gi -c` on `columns.cu`, from the PyPI packages of
their toolkits; those of 12.x were given the PTX of 13.0 with its version lowered.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cudalint.compile.model import FunctionResources, SpillLine
from cudalint.compile.ptx import read_local_arrays
from cudalint.compile.ptxas import read_ptxas
from cudalint.compile.sass import read_spill_lines

TEXTS = Path(__file__).parents[2] / "fixtures" / "toolkits"
DISASSEMBLED = ("12.4", "13.2", "13.5")
COLUMNS = (
    SpillLine("/project/columns.cu", 17, 16, 48),
    SpillLine("/project/columns.cu", 12, 28, 0),
    SpillLine("/project/columns.cuh", 7, 12, 8),
)
STEPS = (
    SpillLine("/project/columns.cu", 23, 32, 0),
    SpillLine("/project/columns.cu", 25, 0, 32),
)


def arrays() -> dict[str, int]:
    return read_local_arrays((TEXTS / "columns.ptx").read_text())


@pytest.mark.parametrize("toolkit", ["12.4", "12.9", "13.2", "13.5"])
def test_every_toolkit_is_read_alike(toolkit: str) -> None:
    output = read_ptxas((TEXTS / f"{toolkit}.txt").read_text())
    figures = {
        f.name: (f.entry, f.stack, f.spill_stores, f.spill_loads, f.registers)
        for f in output.functions
    }
    assert figures == {
        "walk": (True, 0, 0, 0, 26),
        "steps": (False, 32, 32, 32, None),
        "columns": (True, 320, 56, 56, 40),
    }
    assert [d.function for d in output.diagnostics] == ["walk"] * (toolkit in ("12.4", "13.5"))


def test_local_arrays_are_told_by_the_ptx() -> None:
    assert arrays() == {"columns": 256}
    text = (
        ".visible .func  (.param .b32 r) f(\n\t.param .b64 a\n)\n{\n"
        "\t.local .align 8 .b8 \t__local_depot0[16];\n}\n"
        ".weak .entry k()\n{\n\t.local .b8 a[4];\n\t.local .align 4 .b8 b[8];\n}\n"
    )
    assert read_local_arrays(text) == {"f": 16, "k": 12}


@pytest.mark.parametrize("toolkit", DISASSEMBLED)
def test_lines_are_the_same_with_and_without_marks(toolkit: str) -> None:
    text = (TEXTS / f"{toolkit}.sass").read_text()
    assert ("SpillRefill" in text) is (toolkit == "13.5")
    found = read_spill_lines(text, arrays())
    assert found == {"columns": COLUMNS, "_Z5stepsPKii": STEPS}
    for function in read_ptxas((TEXTS / f"{toolkit}.txt").read_text()).functions:
        placed = FunctionResources(
            function.symbol,
            function.name,
            function.arch,
            function.entry,
            function.stack,
            function.spill_stores,
            function.spill_loads,
            spill_lines=found.get(function.symbol, ()),
        )
        assert placed.unplaced == (0, 0)


@pytest.mark.parametrize("toolkit", DISASSEMBLED)
def test_a_line_of_a_foreign_header_is_that_of_the_call(toolkit: str) -> None:
    text = (TEXTS / f"{toolkit}.sass").read_text()
    found = read_spill_lines(text, arrays(), lambda path: path.endswith(".cu"))
    assert {line.path for line in found["columns"]} == {"/project/columns.cu"}
    assert [sum(line.stores for line in found["columns"])] == [56]
    nobody = read_spill_lines(text, arrays(), lambda path: False)
    assert nobody["columns"] == COLUMNS


def test_an_element_of_an_array_is_no_spill() -> None:
    text = """\
\t.section\t.text.k,"ax",@progbits
.text.k:
\t//## File "/a.cu", line 3
        /*0010*/   STL [R1+0xc], R2 ;
        /*0020*/   STL.64 [R1+0x10], R4 ;
        /*0030*/   LDL R3, [R1] ;
        /*0040*/   LDL R3, [R7+0x40] ;
"""
    assert read_spill_lines(text, {"k": 16}) == {"k": (SpillLine("/a.cu", 3, 8, 0),)}
    assert read_spill_lines(text) == {"k": (SpillLine("/a.cu", 3, 12, 4),)}


def test_what_is_left_over_is_said() -> None:
    function = FunctionResources(
        "k", "k", "sm_90", True, 8, 12, 8, spill_lines=(SpillLine("a.cu", 1, 8, 12),)
    )
    assert function.unplaced == (4, -4)


LINES = st.sampled_from(
    [
        '\t.section\t.text.k,"ax",@progbits',
        ".text.k:",
        "        .type           $k$_Z1fi,@function",
        "$k$_Z1fi:",
        '\t//## File "/a.cu", line 3 inlined at "/b.cu", line 4',
        '\t//## File "/b.cu", line 4',
        '\t//## File "/b.cu", line 99999999999999999999',
        '        /*0010*/   STL.64 [R1+0x8], R2     (*"SpillRefill"*);',
        "        /*0020*/   LDL.LU R2, [R1+0xffffffff] ;",
        "        /*0020*/   LDL.LU R2, [R1+0xfffffffffffffffff] ;",
        "\x1b[31m\x00",
    ]
)


@given(st.lists(LINES | st.text(), max_size=30).map("\n".join), st.integers(0, 400))
def test_any_text_is_taken_for_a_disassembly(text: str, cut: int) -> None:
    for lines in read_spill_lines(text[:cut], {"k": 8}).values():
        assert all(line.stores or line.loads for line in lines)
        assert all(line.path for line in lines)


@given(st.sampled_from(DISASSEMBLED), st.integers(0, 40_000))
def test_a_disassembly_may_be_cut_anywhere(toolkit: str, cut: int) -> None:
    found = read_spill_lines((TEXTS / f"{toolkit}.sass").read_text()[:cut], arrays())
    stores = sum(line.stores for line in found.get("columns", ()))
    assert stores <= 56
