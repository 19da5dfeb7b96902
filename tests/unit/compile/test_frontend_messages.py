"""Messages of nvcc's front end, the host preprocessor and the driver, and their places."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cudalint.compile.frontend import Complaint, Place, read_complaints
from cudalint.compile.model import Diagnostic
from cudalint.compile.place import Placer, relative_path
from cudalint.compile.ptx import LineTable
from cudalint.compile.ptxas import read_ptxas

TEXTS = Path(__file__).parents[2] / "fixtures" / "ptxas"


def test_warnings_with_numbers_carets_and_instantiations() -> None:
    complaints = read_complaints((TEXTS / "warnings.txt").read_text())
    assert [(c.severity, c.path, c.line, c.number) for c in complaints] == [
        ("warning", "warnings.cu", 9, "177-D"),
        ("warning", "warnings.cu", 13, "186-D"),
        ("warning", "warnings.cu", 5, "177-D"),
        ("warning", "warnings.cu", 6, "63-D"),
    ]
    unused, pointless, _, shift = complaints
    assert unused.text == 'variable "unused" was declared but never referenced'
    assert unused.echo[unused.caret :].startswith("unused = 3")
    assert pointless.echo[pointless.caret] == "<"
    assert shift.context == (Place("warnings.cu", 14),)


def test_errors_with_details_and_one_at_the_end_of_the_file() -> None:
    complaints = read_complaints((TEXTS / "front_errors.txt").read_text())
    assert [(c.severity, c.line, c.text) for c in complaints] == [
        (
            "error",
            14,
            'no instance of function template "pick" matches the argument list;'
            " argument types are: (float, int)",
        ),
        ("error", 17, 'identifier "nowhere" is undefined'),
        ("error", 13, 'expected a "}"'),
        ("error", 11, 'expression must have class type but it has type "const int"'),
    ]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (
            "a.cu:1:10: fatal error: x.h: No such file or directory",
            Complaint("error", "x.h: No such file or directory", "a.cu", 1, 10),
        ),
        (
            "/w/b.cuh:2:2: warning: #warning careful [-Wcpp]",
            Complaint("warning", "#warning careful [-Wcpp]", "/w/b.cuh", 2, 2),
        ),
        (
            "nvcc fatal   : Unsupported gpu architecture 'sm_20'",
            Complaint("error", "Unsupported gpu architecture 'sm_20'", program="nvcc"),
        ),
        (
            "nvcc error   : 'cicc' died due to signal 11 (Invalid memory reference)",
            Complaint(
                "error", "'cicc' died due to signal 11 (Invalid memory reference)", program="nvcc"
            ),
        ),
        ("sh: 1: cicc: not found", Complaint("error", "sh: 1: cicc: not found", program="sh")),
        (
            'c:x(3): catastrophic error: cannot open source file "y.h"',
            Complaint("error", 'cannot open source file "y.h"', "c:x", 3),
        ),
        ("a.cu(3): error #20: undefined", Complaint("error", "undefined", "a.cu", 3, number="20")),
    ],
)
def test_messages_of_one_line(line: str, expected: Complaint) -> None:
    assert read_complaints(line) == (expected,)


@pytest.mark.parametrize(
    "line",
    [
        "In file included from a.cu:1:",
        "compilation terminated.",
        "a.cu(3): note #3196-D: to match this",
        "a.cu:3:1: note: here",
        '2 errors detected in the compilation of "a.cu".',
        "ptxas fatal   : Ptx assembly aborted due to errors",
        "",
    ],
)
def test_lines_that_are_no_complaint(line: str) -> None:
    assert read_complaints(line) == ()


def test_what_is_said_twice_is_one_complaint() -> None:
    assert len(read_complaints("a.cu:1:2: warning: #warning x\n" * 2)) == 1


@given(st.text())
def test_any_text_is_read(text: str) -> None:
    for complaint in read_complaints(text):
        assert complaint.line >= 0


@given(st.data())
def test_any_mutilation_of_a_real_text_is_read(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(["warnings.txt", "front_errors.txt"]))
    text = (TEXTS / name).read_text()
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    placer = Placer(TEXTS)
    for complaint in read_complaints(text[:start] + text[end:]):
        placer.complaint(complaint)


@pytest.mark.parametrize(
    ("path", "inside"),
    [
        ("/w/p/a.cu", "a.cu"),
        ("/w/p/x/../a.cu", "a.cu"),
        ("/w/p", "."),
        ("/w/pq/a.cu", ""),
        ("/w/a.cu", ""),
        ("a.cu", ""),
        ("/w/p/..a.cu", "..a.cu"),
    ],
)
def test_paths_become_relative_to_the_root(path: str, inside: str) -> None:
    assert relative_path(path, Path("/w/p")) == inside


@pytest.mark.parametrize(
    ("source", "echo", "marked"),
    [
        ("int unused = 3;", "int unused = 3;", "unused"),
        ("\t/* µµ */ __global__ void k() { int q; }", " void k() { int q; }", "q"),
        ("  ADD(a) b = missing;", "  x += a; b = missing;", "missing"),
        ("  ADD(one)", "  missing + one", "missing"),
        ("  if (n < 0) y = n;", "  if (n < 0) y = n;", "<"),
        ("a + a", "a + a + a", "a"),
    ],
)
def test_a_caret_becomes_a_column_only_where_that_is_sure(
    tmp_path: Path, source: str, echo: str, marked: str
) -> None:
    (tmp_path / "a.cu").write_text(f"// first\n{source}\n")
    complaint = Complaint(
        "error", "x", str(tmp_path / "a.cu"), 2, echo=echo, caret=echo.index(marked)
    )
    placed = Placer(tmp_path).complaint(complaint)
    assert (placed.path, placed.line) == ("a.cu", 2)
    words_agree = source.count(marked) == echo.count(marked)
    assert (placed.column > 0) is words_agree
    if placed.column:
        assert source.encode()[placed.column - 1 :].startswith(marked.encode())


def test_an_error_in_a_system_header_is_placed_where_the_project_asks_for_it(
    tmp_path: Path,
) -> None:
    text = f"""\
/usr/include/lib.h(70): error: static assertion failed
          detected during:
            instantiation of "f<T>" at line 80
            instantiation of "g<T>" at line 3 of {tmp_path}/a.cu
            instantiation of "h<T>" at line 9

"""
    (complaint,) = read_complaints(text)
    placed = Placer(tmp_path).complaint(complaint)
    assert (placed.path, placed.line) == ("a.cu", 3)
    assert placed.text == "static assertion failed (in lib.h, line 70)"


def test_an_error_in_ptx_is_placed_at_the_instruction_in_the_source(tmp_path: Path) -> None:
    (tmp_path / "a.cu").write_text((TEXTS / "instruction_error.cu").read_text())
    ptx = (TEXTS / "instruction_error.ptx").read_text()
    ptx = ptx.replace("/project/instruction_error.cu", str(tmp_path / "a.cu"))
    first = read_ptxas((TEXTS / "instruction_error.txt").read_text()).diagnostics[0]
    placed = Placer(tmp_path).ptxas(first, LineTable(ptx))
    line = (tmp_path / "a.cu").read_text().splitlines()[placed.line - 1]
    assert line[placed.column - 1 :].startswith("cvt.rn.satfinite.e2m1x2.f32")


@pytest.mark.parametrize(
    "start", ["a.cu(1): error: ", "error: ", "a.cu:1:2: error: ", "nvcc fatal   : ", "gcc: "]
)
def test_a_long_message_is_cut(start: str) -> None:
    (found,) = read_complaints(start + "x" * 2000)
    assert len(found.text) == 1000


@pytest.mark.parametrize(
    ("line", "line_number"), [("nvcc fatal   : x", 0), ("error: x", 0), ("a.h:3: error: x", 3)]
)
def test_what_is_not_told_is_nought(line: str, line_number: int) -> None:
    (found,) = read_complaints(line)
    assert (found.severity, found.text, found.line, found.column) == ("error", "x", line_number, 0)


def test_what_ptxas_says_is_not_the_front_end_s() -> None:
    assert read_complaints("ptxas error   : in f(1): error: x") == ()


def test_a_remark_is_a_warning() -> None:
    (found,) = read_complaints("a.cu(1): remark #1-D: x")
    assert (found.severity, found.number) == ("warning", "1-D")


@pytest.mark.parametrize("after", ["", "something else", "a.cu(3): error: y"])
def test_the_end_of_the_source_is_placed_by_a_note_alone(after: str) -> None:
    first = read_complaints(f"At end of source: error: x\n{after}")[0]
    assert (first.text, first.path, first.line) == ("x", "", 0)


def test_a_message_begins_right_after_another_one_s_lines() -> None:
    first, second = read_complaints("a.cu(1): error: x\n          more\nb.cu(2): error: y")
    assert (first.text, second.text) == ("x", "y")


def test_what_is_shown_below_a_message() -> None:
    """A caret without a line above it marks nothing; a line that is shown is no place."""
    alone, shown, plain = read_complaints(
        "a.cu(1): error: x\n   ^\n\n"
        "a.cu(1): error: y\n    f(); // at line 9\n    ^\n      at line 7 of b.cu\n\n"
        "a.cu(1): error: z\n      at line 5 of b.cu\n      at line 6\n"
    )
    assert (alone.echo, alone.caret, alone.text) == ("", -1, "x")
    assert (shown.echo, shown.caret, shown.text) == ("  f(); // at line 9", 2, "y")
    assert shown.context == (Place("b.cu", 7),)
    assert plain.context == (Place("b.cu", 5), Place("a.cu", 6))


def test_a_message_without_a_place_or_about_a_foreign_file(tmp_path: Path) -> None:
    place = Placer(tmp_path / "tree").complaint
    found = place(Complaint("error", "x", program="nvcc"))
    assert found == Diagnostic("error", "x", path="", line=0, column=0)
    found = place(Complaint("error", "x", "/usr/include/lib.h", 5, column=3))
    assert found == Diagnostic("error", "x (in lib.h, line 5)", path="", line=0, column=0)


@pytest.mark.parametrize(
    ("line", "column", "placed"),
    [(1, 5, 5), (1, 6, 6), (1, 7, 0), (2, 5, 5), (2, 6, 0), (0, 3, 0), (3, 1, 0)],
)
def test_a_column_of_the_host_compiler_lies_in_its_line(
    tmp_path: Path, line: int, column: int, placed: int
) -> None:
    """Also in the last line, which ends with the file; none lies in lines that are not there."""
    (tmp_path / "a.cu").write_text("first;\nint x")
    found = Placer(tmp_path).complaint(
        Complaint("error", "x", str(tmp_path / "a.cu"), line, column=column)
    )
    assert (found.path, found.column) == ("a.cu", placed)


@pytest.mark.parametrize(("caret", "column"), [(-1, 0), (0, 1), (3, 0), (4, 5), (5, 0), (9, 0)])
def test_a_caret_at_no_word_is_no_column(tmp_path: Path, caret: int, column: int) -> None:
    (tmp_path / "a.cu").write_text("int x\n")
    found = Placer(tmp_path).complaint(
        Complaint("error", "x", str(tmp_path / "a.cu"), 1, echo="int x", caret=caret)
    )
    assert found.column == column


def test_an_error_in_ptx_from_a_foreign_file_has_no_place(tmp_path: Path) -> None:
    text = '.file 1 "/usr/include/lib.h"\n.loc 1 7 3\nadd.s32 %r1;\n'
    for line in (0, 1, 3):
        found = Placer(tmp_path).ptxas(Diagnostic("error", "x", "k.ptx", line, 4), LineTable(text))
        assert found == Diagnostic("error", "x", path="", line=0, column=0)
