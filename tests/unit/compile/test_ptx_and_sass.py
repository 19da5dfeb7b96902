"""Reading PTX (launch bounds, lines), dependency files and disassembly."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cudalint.compile.depfile import read_dependencies
from cudalint.compile.model import SpillLine
from cudalint.compile.ptx import EntryBounds, LineTable, SourceLine, read_bounds
from cudalint.compile.sass import read_spill_lines

TEXTS = Path(__file__).parents[2] / "fixtures" / "ptxas"


def test_launch_bounds_of_every_entry() -> None:
    text = """\
.visible .entry both(
\t.param .u64 .ptr .align 1 both_param_0,
\t.param .align 8 .b8 both_param_1[8]
)
.maxntid 128, 2, 1
.minnctapersm 3
{
\tret;
}
.func (.param .b32 func_retval0) helper(.param .b64 helper_param_0)
{
\tret;
}
.visible .entry none()
{
\tret;
}
.entry threads(.param .u64 threads_param_0) .maxntid 1024
{
\tret;
}
.weak .entry _Z1kILi2EEvv()
.reqntid 64, 1, 1
.maxnreg 40
{
\tret;
}
"""
    assert read_bounds(text) == {
        "both": EntryBounds(256, 3),
        "none": EntryBounds(None, None),
        "threads": EntryBounds(1024, None),
        "_Z1kILi2EEvv": EntryBounds(64, None),
    }


def test_a_line_of_ptx_leads_to_its_source() -> None:
    text = (TEXTS / "instruction_error.ptx").read_text()
    table = LineTable(text)
    at = next(i for i, line in enumerate(text.splitlines(), 1) if "e2m1x2" in line)
    assert table.source(at) == SourceLine("/project/instruction_error.cu", 7, 13)
    assert table.opcode(at) == "cvt.rn.satfinite.e2m1x2.f32"
    assert table.source(1) is None
    assert table.source(len(text.splitlines())) is None
    assert table.opcode(10_000) == ""


@given(st.text(), st.integers(0, 100))
def test_any_text_is_taken_for_ptx(text: str, line: int) -> None:
    read_bounds(text)
    LineTable(text).source(line)


def test_the_lines_that_spill_add_up_to_what_ptxas_says() -> None:
    found = read_spill_lines((TEXTS / "instances.sass").read_text())
    sums = {
        symbol: (sum(line.stores for line in lines), sum(line.loads for line in lines))
        for symbol, lines in found.items()
    }
    assert sums == {
        "_ZN6column4turnIfLi56EEEvPKT_PS1_": (96, 96),
        "_ZN6column4turnIiLi48EEEvPKT_PS1_": (64, 64),
    }
    lines = found["_ZN6column4turnIfLi56EEEvPKT_PS1_"]
    assert {line.path for line in lines} == {"/project/instances.cu"}
    assert {line.line for line in lines} <= {8, 9, 11}
    weights = [line.stores + line.loads for line in lines]
    assert weights == sorted(weights, reverse=True)


def test_widths_and_functions_inside_their_caller() -> None:
    text = """\
\t.section\t.text.k,"ax",@progbits
        .type           k,@function
.text.k:
\t//## File "/a.cu", line 3
        /*0010*/   STL.64 [R1+0x8], R2     (*"SpillRefill"*);
        /*0020*/   STL.128 [R1+0x10], R4   (*"SpillRefill"*);
        /*0030*/   STL [R1], R9 ;
\t//## File "/a.cu", line 4
        /*0040*/   LDL.LU.64 R2, [R1+0x8]  (*"SpillRefill"*);
        .type           $k$_Z1fi,@function
$k$_Z1fi:
        /*0050*/   STL [R1], R9            (*"SpillRefill"*);
\t//## File "/b.cuh", line 9
.L_x_1:
        /*0060*/   LDL R9, [R1]            (*"SpillRefill"*);
"""
    found = read_spill_lines(text)
    assert [(s.path, s.line, s.stores, s.loads) for s in found["k"]] == [
        ("/a.cu", 3, 24, 0),
        ("/a.cu", 4, 0, 8),
    ]
    assert [(s.path, s.line, s.stores, s.loads) for s in found["_Z1fi"]] == [("/b.cuh", 9, 0, 4)]


def test_a_dependency_file() -> None:
    text = "/tmp/x y/o.cubin : /w/a\\ b.cu \\\n    /usr/include/c.h \\\n /w/d\\#$$.h /w/a\\ b.cu\n"
    assert read_dependencies(text) == ("/w/a b.cu", "/usr/include/c.h", "/w/d#$.h")


@pytest.mark.parametrize("text", ["", "o.cubin :", "o.cubin", "o.cubin : \\\n", "\\"])
def test_dependency_files_of_nothing(text: str) -> None:
    assert read_dependencies(text) == ()


names = st.text(
    alphabet=st.characters(exclude_characters="\\\n\r", exclude_categories=["Cc", "Cs", "Z"])
    | st.just(" "),
    min_size=1,
).map(lambda name: "/" + name)


@given(st.lists(names, unique=True))
def test_every_path_comes_back(paths: list[str]) -> None:
    escaped = [path.replace("$", "$$").replace(" ", "\\ ").replace("#", "\\#") for path in paths]
    assert read_dependencies("o : " + " \\\n  ".join(escaped) + "\n") == tuple(paths)


def test_the_threads_of_a_block_are_the_product_of_its_sides() -> None:
    text = ".entry k()\n.maxntid 8, 4, 2\n{"
    assert read_bounds(text) == {"k": EntryBounds(64, None)}


def test_which_lines_of_ptx_a_place_is_for() -> None:
    """From its own line to the next place or the end of the function, if it names a file."""
    text = """\
.file 0 "/none.cu"
.file 1 "/a.cu"
.entry k()
{
.loc 1 7 3
add.s32 %r1;
}
.entry j()
{
.loc 2 5 1
.loc 1 0 4
sub.s32.first %r1, mul.lo;
.loc 1 9 2
mul.lo.s32 %r1;"""
    table = LineTable(text)
    first, last = SourceLine("/a.cu", 7, 3), SourceLine("/a.cu", 9, 2)
    assert [table.source(line) for line in range(1, 15)] == (
        [None] * 4 + [first] * 3 + [None] * 5 + [last] * 2
    )
    words = [table.opcode(line) for line in (0, 1, 6, 12, 14, 15)]
    assert words == ["", "none.cu", "add.s32", "sub.s32.first", "mul.lo.s32", ""]


WIDTHS = {"": 4, ".U8": 1, ".S8": 1, ".U16": 2, ".S16": 2, ".64": 8, ".128": 16, ".LU": 4}


@pytest.mark.parametrize("modifier", WIDTHS)
def test_the_width_of_an_access(modifier: str) -> None:
    text = f'.text.k:\n\t//## File "/a.cu", line 3\n        /*0000*/   STL{modifier} [R1], R2 ;\n'
    assert read_spill_lines(text) == {"k": (SpillLine("/a.cu", 3, WIDTHS[modifier], 0),)}


def test_places_in_a_frame_are_counted_in_sixteens() -> None:
    text = '.text.k:\n\t//## File "/a.cu", line 3\n   /*0000*/   STL [R1+0x10], R2 ;\n'
    assert read_spill_lines(text, {"k": 17}) == {}
    assert read_spill_lines(text, {"k": 16}) == {"k": (SpillLine("/a.cu", 3, 4, 0),)}
