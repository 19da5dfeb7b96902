"""Reading ptxas' output: real texts of several shapes, and what must not confuse it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cudalint.compile.model import FunctionResources
from cudalint.compile.ptxas import read_ptxas

TEXTS = Path(__file__).parents[2] / "fixtures" / "ptxas"
SHAPES = sorted(file.name for file in TEXTS.glob("*.txt"))

Figures = tuple[str, bool, int, int, int, "int | None"]


def figures(function: FunctionResources) -> Figures:
    return (
        function.name,
        function.entry,
        function.stack,
        function.spill_stores,
        function.spill_loads,
        function.registers,
    )


def read(name: str) -> str:
    return (TEXTS / name).read_text()


def test_template_instances_and_a_kernel_with_c_linkage() -> None:
    output = read_ptxas(read("instances.txt"))
    assert [figures(function) for function in output.functions] == [
        ("column::turn<float, 56>", True, 96, 96, 96, 40),
        ("column::turn<int, 48>", True, 64, 64, 64, 40),
        ("column::turn<float, 8>", True, 0, 0, 0, 26),
        ("scale", True, 0, 0, 0, 8),
    ]
    assert {function.arch for function in output.functions} == {"sm_121"}
    assert [function.arity for function in output.functions] == [2, 2, 2, -1]
    assert output.diagnostics == ()


def test_functions_that_are_no_entries() -> None:
    output = read_ptxas(read("callees.txt"))
    assert [figures(function) for function in output.functions] == [
        ("numbers", True, 0, 0, 0, 24),
        ("fibonacci", False, 24, 20, 20, None),
        ("windows", True, 128, 0, 0, 32),
        ("(anonymous namespace)::window", False, 0, 0, 0, None),
    ]
    windows = output.functions[2]
    assert (windows.shared, windows.constant, windows.barriers) == (512, 0, 1)
    (warning,) = output.diagnostics
    assert (warning.severity, warning.function) == ("warning", "numbers")


def test_relocatable_code_names_a_function_before_any_entry() -> None:
    output = read_ptxas(read("callees_relocatable.txt"), "sm_121")
    first = output.functions[0]
    name = "(anonymous namespace)::window"
    assert (first.name, first.entry, first.arch) == (name, False, "sm_121")
    by_name = {function.name: function for function in output.functions}
    assert by_name["windows"].registers is not None
    assert by_name["windows"].entry


def test_several_archs_in_one_text_are_kept_apart() -> None:
    output = read_ptxas(read("several_archs.txt"))
    windows = {f.arch: f for f in output.functions if f.name == "windows"}
    assert {arch: f.registers for arch, f in windows.items()} == {"sm_75": 42, "sm_121": 40}
    assert {arch: f.constant for arch, f in windows.items()} == {"sm_75": 372, "sm_121": 0}
    fibonacci = {f.arch: f.spill_stores for f in output.functions if f.name == "fibonacci"}
    assert fibonacci == {"sm_75": 20, "sm_121": 52}


def test_warnings_name_the_kernel_quoted_or_not() -> None:
    output = read_ptxas(read("warnings.txt"))
    assert [(d.severity, d.function) for d in output.diagnostics] == [
        ("warning", "_Z7mangledPij"),
        ("warning", "dropped"),
    ]
    assert all(".minnctapersm will be ignored" in d.text for d in output.diagnostics)
    asked = read_ptxas(read("asked_warnings.txt"))
    assert len(asked.diagnostics) == 4
    assert all(d.function.startswith("_ZN6column4turn") for d in asked.diagnostics)


def test_errors_of_an_entry_and_of_a_line_of_ptx() -> None:
    (shared,) = read_ptxas(read("shared_error.txt")).diagnostics
    assert (shared.severity, shared.function) == ("error", "stage")
    assert "uses too much shared data" in shared.text
    unsupported, aborted = read_ptxas(read("instruction_error.txt")).diagnostics
    assert (unsupported.path, unsupported.line) == ("instruction_error.ptx", 33)
    assert aborted.text == "Ptx assembly aborted due to errors"


@pytest.mark.parametrize(
    ("line", "number", "function"),
    [
        (
            "ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are"
            " serialized due to non wgmma instructions in the function 'gemm'",
            "C7510",
            "gemm",
        ),
        ("ptxas warning : (C7508) Something odd in function 'gemm'", "C7508", "gemm"),
        ("ptxas warning : Too big maxrregcount value specified 300, will be ignored", "", ""),
    ],
)
def test_numbered_messages_are_warnings(line: str, number: str, function: str) -> None:
    (diagnostic,) = read_ptxas(line).diagnostics
    assert diagnostic.severity == "warning"
    assert (diagnostic.number, diagnostic.function) == (number, function)


def test_the_frame_of_a_callee_may_be_told_before_the_registers_of_its_entry() -> None:
    text = """\
ptxas info    : Compiling entry function 'k' for 'sm_90'
ptxas info    : Function properties for k
    8 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Function properties for callee
    16 bytes stack frame, 4 bytes spill stores, 12 bytes spill loads
ptxas info    : Used 20 registers, 48+16 bytes smem, 360 bytes cmem[0], 8 bytes cmem[2]
"""
    entry, callee = read_ptxas(text).functions
    assert (entry.registers, entry.shared, entry.constant, entry.barriers) == (20, 64, 368, 0)
    assert figures(callee) == ("callee", False, 16, 4, 12, None)


def test_a_function_whose_frame_is_never_told_is_left_out() -> None:
    text = "ptxas info : Compiling entry function 'k' for 'sm_90'\nptxas info : Used 20 registers\n"
    assert read_ptxas(text).functions == ()


@pytest.mark.parametrize("name", SHAPES)
@settings(max_examples=20)
@given(noise=st.lists(st.text(alphabet=st.characters(exclude_characters="\n"), max_size=40)))
def test_lines_of_others_between_change_nothing(name: str, noise: list[str]) -> None:
    text = read(name)
    expected = read_ptxas(text)
    lines = text.splitlines()
    mixed = []
    for number, line in enumerate(lines):
        mixed.append(line)
        if noise and number % 2:
            mixed.append("# " + noise[number % len(noise)])
    assert read_ptxas("\n".join(mixed)) == expected


@given(st.text())
def test_any_text_is_read(text: str) -> None:
    read_ptxas(text)


@given(st.data())
def test_any_mutilation_of_a_real_text_is_read(data: st.DataObject) -> None:
    text = read(data.draw(st.sampled_from(SHAPES)))
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    for function in read_ptxas(text[:start] + text[end:]).functions:
        assert function.stack >= 0
        assert function.registers is None or function.registers >= 0


FRAME = "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads"
USED = "ptxas info    : Used {} registers"


def registers(*lines: str) -> dict[str, int | None]:
    return {f.symbol: f.registers for f in read_ptxas("\n".join(lines)).functions}


def test_a_long_message_is_cut() -> None:
    (found,) = read_ptxas("ptxas warning : " + "x" * 2000).diagnostics
    assert found.text == "x" * 1000


def test_a_message_about_no_line_has_no_place() -> None:
    (found,) = read_ptxas("ptxas warning : Stack size can't be told").diagnostics
    assert (found.path, found.line, found.column) == ("", 0, 0)


def test_a_frame_is_that_of_the_function_before_it_and_told_once() -> None:
    other = FRAME.replace("0 bytes stack", "8 bytes stack")
    assert registers(FRAME) == {}
    text = "\n".join(("ptxas info    : Function properties for f", FRAME, other))
    (function,) = read_ptxas(text).functions
    assert function.stack == 0


def test_whose_registers_are_told() -> None:
    """The entry's of which ptxas speaks, else the last that waits, else the function's."""
    entries = [f"ptxas info    : Compiling entry function '{n}' for 'sm_90'" for n in "ab"]
    about = "ptxas info    : Function properties for {}"
    both = (*entries, about.format("b"), FRAME, about.format("a"), FRAME)
    assert registers(*both, USED.format(5)) == {"a": 5, "b": None}
    assert registers(*both, USED.format(5), USED.format(6)) == {"a": 5, "b": 6}
    alone = (about.format("f"), FRAME)
    assert registers(*alone, USED.format(7)) == {"f": 7}
    assert registers(*alone, USED.format(7), USED.format(8)) == {"f": 7}
    assert registers(USED.format(7)) == {}
    callee = (entries[0], about.format("a"), FRAME, about.format("f"), FRAME)
    assert registers(*callee, USED.format(9)) == {"a": 9, "f": None}
