"""The rules CU5 over the words of a stand-in for nvcc: what is reported, where, and how often."""

from __future__ import annotations

from pathlib import Path

import pytest
from fake_nvcc import FakeNvcc

from conftest import lint, write_files
from cudalint.finding import Finding
from cudalint.run import Run
from cudalint.settings.origin import SettingsError

ARCHS = ("sm_90", "sm_121")


def words(symbol: str, stack: int, stores: int, loads: int, registers: int = 40) -> str:
    """What ptxas says of one entry on whichever arch is asked for."""
    return (
        f"ptxas info    : Compiling entry function '{symbol}' for '@ARCH@'\n"
        f"ptxas info    : Function properties for {symbol}\n"
        f"    {stack} bytes stack frame, {stores} bytes spill stores, {loads} bytes spill loads\n"
        f"ptxas info    : Used {registers} registers, used 0 barriers\n"
    )


class Case:
    """A project, and what nvcc says when it compiles any file of it."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self.root = folder / "project"
        self.folder = folder
        self.patch = patch

    def run(
        self,
        files: dict[str, str],
        says: str,
        settings: str = "",
        *paths: str,
        ending: str = ":",
        archs: tuple[str, ...] = ("sm_121",),
        reads: tuple[str, ...] = (),
        select: tuple[str, ...] = ("CU5",),
    ) -> Run:
        listed = ", ".join(f'"{arch}"' for arch in archs)
        write_files(self.root, {"cudalint.toml": f"targets = [{listed}]\n{settings}", **files})
        read = tuple(self.root / path for path in reads)
        nvcc = FakeNvcc(self.folder / "bin", says.replace("@ROOT@", str(self.root)), read, ending)
        FakeHost(self.folder / "bin")
        self.patch.setenv("PATH", f"{nvcc.path.parent}:/usr/bin:/bin")
        return lint(self.root, *paths, select=select, compile="always")


class FakeHost:
    """A host compiler that is there, and is never asked."""

    def __init__(self, folder: Path) -> None:
        (folder / "gcc").write_text("#!/bin/sh\nexit 1\n")
        (folder / "gcc").chmod(0o755)


@pytest.fixture
def case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Case:
    return Case(tmp_path, monkeypatch)


def shown(run: Run) -> list[tuple[str, str, str]]:
    """Code, marked text (with its path) and message of each finding."""
    return [(f.code, marked(run, f), f.message) for f in run.findings]


def marked(run: Run, finding: Finding) -> str:
    span = finding.span
    return f"{span.path}: {run.sources[span.path].data[span.start : span.end].decode()}"


K = 'extern "C" __global__ void k(float* y) { y[0] = 1; }\n'


def test_a_spill_is_told_with_both_numbers_once_for_all_archs(case: Case) -> None:
    run = case.run({"a.cu": K}, words("k", 8, 4, 12), archs=ARCHS)
    assert shown(run) == [
        (
            "CU501",
            "a.cu: k",
            "Kernel 'k' spills registers on 'sm_90, sm_121':"
            " at worst '4' bytes of stores, '12' bytes of loads, on 'sm_90'"
            " (stores and loads: 'sm_90: 4 and 12; sm_121: 4 and 12').",
        )
    ]
    properties = run.findings[0].properties
    assert (properties["stores"], properties["loads"]) == (4, 12)


def test_loads_alone_are_a_spill_too(case: Case) -> None:
    run = case.run({"a.cu": K}, words("k", 8, 0, 12))
    assert [f.code for f in run.findings] == ["CU501"]


def test_an_overload_is_found_by_its_parameters(case: Case) -> None:
    text = "__global__ void k(int* y) {}\nnamespace m { __global__ void k(int* y, int n) {} }\n"
    for symbol, line in (("_Z1kPi", 1), ("_ZN1m1kEPii", 2)):
        run = case.run({"a.cu": text}, words(symbol, 8, 4, 4))
        (finding,) = run.findings
        assert text[: finding.span.start].count("\n") + 1 == line


def test_a_kernel_of_the_anonymous_namespace_and_one_that_no_model_has(case: Case) -> None:
    text = "namespace {\n__global__ void k(int* y) {}\n}\n"
    symbol = "_ZN37_GLOBAL__N__e4275154_5_w2_cu__Z3bigPi1kEPi"
    run = case.run({"a.cu": text}, words(symbol, 8, 4, 4) + words("unknown", 8, 4, 4))
    assert [marked(run, f) for f in run.findings] == ["a.cu: ", "a.cu: k"]
    assert "'unknown' spills" in run.findings[0].message


def test_instances_are_one_finding_that_names_the_worst(case: Case) -> None:
    text = "template <int N> __global__ void k(int* y) {}\n"
    says = words("_Z1kILi2EEvPi", 0, 0, 0)
    says += words("_Z1kILi4EEvPi", 8, 4, 4) + words("_Z1kILi8EEvPi", 8, 8, 16)
    run = case.run({"a.cu": text}, says)
    assert shown(run) == [
        (
            "CU501",
            "a.cu: k",
            "Kernel 'k' spills registers on 'sm_121' in '2 of 3' instances:"
            " at worst '8' bytes of stores, '16' bytes of loads, in 'k<8>' on 'sm_121'.",
        )
    ]


def test_a_function_that_was_not_inlined_is_a_note(case: Case) -> None:
    text = "__device__ __noinline__ int f(int n) { return n; }\n" + K
    says = words("k", 0, 0, 0) + (
        "ptxas info    : Function properties for _Z1fi\n"
        "    24 bytes stack frame, 20 bytes spill stores, 20 bytes spill loads\n"
    )
    run = case.run({"a.cu": text}, says)
    (finding,) = run.findings
    assert (finding.code, finding.level.value, marked(run, finding)) == ("CU501", "note", "a.cu: f")
    assert run.exit_code == 0


@pytest.mark.parametrize(
    ("settings", "codes"),
    [
        ("", ["CU501"]),
        ("[rules.CU501]\nbudget = 11\n", ["CU501"]),
        ("[rules.CU501]\nbudget = 12\n", []),
        ('[rules.register-spill]\nper-kernel = { "k" = 12 }\n', []),
        ('[rules.CU501]\nbudget = 99\nper-kernel = { "[a-k]" = 0, "*" = 99 }\n', ["CU501"]),
    ],
)
def test_budgets_of_spills(case: Case, settings: str, codes: list[str]) -> None:
    run = case.run({"a.cu": K}, words("k", 8, 4, 12), settings)
    assert [f.code for f in run.findings] == codes


@pytest.mark.parametrize("rule", ["CU501", "CU503"])
@pytest.mark.parametrize("option", ["budget = -1", 'per-kernel = { "k" = -1 }'])
def test_a_budget_is_no_negative_number(rule: str, option: str, case: Case) -> None:
    with pytest.raises(SettingsError, match=r"^cudalint\.toml:3:\d+: .*: expected int >= 0$"):
        case.run({"a.cu": K}, "", f"[rules.{rule}]\n{option}\n")


def test_a_kernel_in_a_header_of_the_run_is_marked_there(case: Case) -> None:
    files = {"a.cu": '#include "k.cuh"\n', "k.cuh": "#pragma once\n" + K}
    run = case.run(files, words("k", 8, 4, 4), reads=("k.cuh",))
    assert [marked(run, f) for f in run.findings] == ["k.cuh: k"]


def test_a_kernel_in_a_file_that_is_not_shown_is_marked_at_the_include(case: Case) -> None:
    """A wrapper leaf is linted alone: its own finding must not vanish into the common file."""
    files = {
        "kernels/hw/common/k.cu": K,
        "kernels/hw/common/other.cu": "",
        "kernels/hw/m/q/k.cu": '#define HDIM 64\n#include "../../common/k.cu"\n',
        "kernels/hw/HARDWARE.toml": '[hardware]\narch = "sm_121"\n',
    }
    run = case.run(
        files,
        words("k", 8, 4, 4),
        "",
        "kernels/hw/m/q/k.cu",
        reads=("kernels/hw/common/k.cu",),
    )
    spills = [f for f in run.findings if f.code == "CU501"]
    assert [marked(run, f) for f in spills] == ['kernels/hw/m/q/k.cu: #include "../../common/k.cu"']


def test_kernels_that_a_macro_of_a_header_makes_are_marked_at_its_uses(case: Case) -> None:
    files = {
        "a.cu": '#include "m.cuh"\nMAKE(add, float)\nMAKE(mul, float)\n',
        "m.cuh": '#define MAKE(OP, T) extern "C" __global__ void OP##_f32(T* y) { y[0] = 1; }\n',
    }
    says = words("add_f32", 8, 4, 4) + words("mul_f32", 8, 8, 8)
    run = case.run(files, says, reads=("m.cuh",))
    assert [marked(run, f) for f in run.findings] == [
        "a.cu: MAKE(add, float)",
        "a.cu: MAKE(mul, float)",
    ]


def test_a_name_that_a_macro_stands_for(case: Case) -> None:
    """A wrapper names the kernel of the file that it includes."""
    text = 'extern "C" __global__ void KERNEL(float* y) { y[0] = 1; }\n'
    files = {"a.cu": '#define KERNEL turn_64\n#include "turn.cuh"\n', "turn.cuh": text}
    run = case.run(files, words("turn_64", 8, 4, 4), reads=("turn.cuh",))
    assert [marked(run, f) for f in run.findings] == ["turn.cuh: KERNEL"]
    assert "'turn_64' spills" in run.findings[0].message


def test_a_suppression_counts_on_every_line_of_the_head(case: Case) -> None:
    head = 'extern "C" __global__  // NOLINT(CU501): 4 bytes, measured\nvoid\nk(float* y) {}\n'
    run = case.run({"a.cu": head}, words("k", 8, 4, 4))
    assert run.findings == ()
    assert [s.finding.code for s in run.suppressed] == ["CU501"]


def test_a_frame_without_spills_is_local_memory(case: Case) -> None:
    run = case.run({"a.cu": K}, words("k", 64, 0, 0))
    assert shown(run) == [
        (
            "CU502",
            "a.cu: k",
            "Kernel 'k' keeps '64' bytes of each thread in local memory on 'sm_121'.",
        )
    ]


@pytest.mark.parametrize(
    ("registers", "settings", "message"),
    [
        (254, "", None),
        (255, "", "Kernel 'k' uses '255' registers on 'sm_121', the most that a thread can have."),
        (40, "[rules.CU503]\nbudget = 40\n", None),
        (
            41,
            "[rules.CU503]\nbudget = 40\n",
            "Kernel 'k' uses '41' registers on 'sm_121', over the budget of '40'.",
        ),
        (41, '[rules.CU503]\nbudget = 40\nper-kernel = { "k" = 41 }\n', None),
    ],
)
def test_registers(case: Case, registers: int, settings: str, message: str | None) -> None:
    run = case.run({"a.cu": K}, words("k", 0, 0, 0, registers), settings)
    assert [f.message for f in run.findings] == ([message] if message else [])


@pytest.mark.parametrize(
    ("bounds", "registers", "reported"),
    [
        (".maxntid 1024\n.minnctapersm 2\n", 33, True),
        (".maxntid 1024\n.minnctapersm 2\n", 32, False),
        (".maxntid 512, 2, 1\n", 64, False),
        (".maxntid 512, 2, 1\n", 65, True),
        (".maxntid 2048\n", 200, False),
        ("", 200, False),
    ],
)
def test_registers_that_launch_bounds_leave(
    case: Case, bounds: str, registers: int, reported: bool
) -> None:
    ptx = f".visible .entry k()\n{bounds}{{\n}}\n"
    (case.folder / "k.ptx").write_text(ptx)
    ending = f"cp {case.folder}/k.ptx ."
    run = case.run({"a.cu": K}, words("k", 0, 0, 0, registers), ending=ending)
    assert [f.code for f in run.findings] == ["CU503"] * reported


@pytest.mark.parametrize(
    ("registers", "codes"),
    [(32, ["CU507"]), (33, ["CU503"]), (254, ["CU503"]), (255, ["CU503", "CU507"])],
)
def test_an_impossible_minimum_of_blocks_is_told_once(
    case: Case, registers: int, codes: list[str]
) -> None:
    ptx = ".visible .entry k()\n.maxntid 1024\n.minnctapersm 2\n{\n}\n"
    (case.folder / "k.ptx").write_text(ptx)
    says = words("k", 0, 0, 0, registers) + (
        "ptxas warning : Value of threads per SM for entry k is out of range."
        " .minnctapersm will be ignored\n"
    )
    run = case.run({"a.cu": K}, says, ending=f"cp {case.folder}/k.ptx .")
    assert [f.code for f in run.findings] == codes


def test_bounds_that_one_instance_breaks_are_told_of_that_one(case: Case) -> None:
    bounds = {"_Z1kILi2EEvPi": ".maxntid 1024\n.minnctapersm 2", "_Z1kILi4EEvPi": ".maxntid 64"}
    ptx = "".join(f".visible .entry {k}()\n{text}\n{{\n}}\n" for k, text in bounds.items())
    (case.folder / "k.ptx").write_text(ptx)
    says = (
        words("_Z1kILi2EEvPi", 0, 0, 0, 40)
        + words("_Z1kILi4EEvPi", 0, 0, 0, 90)
        + (
            "ptxas warning : Value of threads per SM for entry _Z1kILi2EEvPi is out of range."
            " .minnctapersm will be ignored\n"
        )
    )
    text = "template <int N> __global__ void k(int* y) {}\n"
    settings = "[rules.CU503]\nbudget = 80\n"
    run = case.run({"a.cu": text}, says, settings, ending=f"cp {case.folder}/k.ptx .")
    assert [(f.code, f.message_id, f.arguments[0]) for f in run.findings] == [
        ("CU503", "bounds", "k<2>")
    ]


def test_warnings_of_all_archs_are_one_at_the_token(case: Case) -> None:
    says = (
        '@ROOT@/a.cu(2): warning #177-D: variable "u" was declared but never referenced\n'
        "    int u = 3;\n"
        "        ^\n\n"
    )
    run = case.run({"a.cu": "void f() {\n  int u = 3;\n}\n"}, says, archs=ARCHS)
    assert shown(run) == [
        (
            "CU507",
            "a.cu: u",
            "nvcc warns on 'sm_90, sm_121':"
            " 'variable \"u\" was declared but never referenced (177-D)'.",
        )
    ]


def test_a_warning_about_what_is_an_error_too_is_left_to_the_error(case: Case) -> None:
    says = (
        "@ROOT@/a.cu:1:9: warning: missing terminating ' character\n"
        "@ROOT@/a.cu:2:1: warning: another\n"
        "@ROOT@/a.cu(1): error: missing closing quote\n"
        "  int y = ';\n"
        "          ^\n\n"
    )
    run = case.run({"a.cu": "int y = ';\n\n"}, says, ending="exit 2")
    assert [(f.code, f.message) for f in run.findings] == [
        ("CU508", "nvcc fails for 'sm_121': 'missing closing quote'."),
        ("CU507", "nvcc warns on 'sm_121': 'another'."),
    ]


def test_a_warning_of_one_arch_names_that_arch(case: Case) -> None:
    says = "ptxas warning : Something about @ARCH@ for entry k\n"
    run = case.run({"a.cu": K}, says, archs=ARCHS)
    assert [(code, text) for code, text, _ in shown(run)] == [("CU507", "a.cu: k")] * 2


def test_warnings_about_instances_are_one_at_the_kernel(case: Case) -> None:
    text = "template <int N> __global__ void k(int* y) {}\n"
    says = "".join(
        f"ptxas warning : Value of threads per SM for entry _Z1kILi{n}EEvPi is out of range."
        " .minnctapersm will be ignored\n"
        for n in (2, 4)
    )
    run = case.run({"a.cu": text}, says)
    assert shown(run) == [
        (
            "CU507",
            "a.cu: k",
            "nvcc warns on 'sm_121': 'Value of threads per SM for entry k is out of range."
            " .minnctapersm will be ignored'.",
        )
    ]


def test_warnings_that_other_rules_speak_of_are_left_to_them(case: Case) -> None:
    says = words("k", 8, 4, 4) + (
        "ptxas warning : Local memory used for function 'k', size of stack frame: 8 bytes\n"
        "ptxas warning : Registers are spilled to local memory in function 'k', 4 bytes\n"
    )
    run = case.run({"a.cu": K}, says)
    assert [f.code for f in run.findings] == ["CU501"]


def test_a_warning_in_a_header_that_two_files_include_is_one(case: Case) -> None:
    files = {"a.cu": '#include "h.cuh"\n', "b.cu": '#include "h.cuh"\n', "h.cuh": "int u;\n"}
    run = case.run(files, "@ROOT@/h.cuh(1): warning #1-D: odd\n", reads=("h.cuh",))
    assert shown(run) == [("CU507", "h.cuh: int u;", "nvcc warns on 'sm_121': 'odd (1-D)'.")]


def test_a_warning_about_a_file_outside_is_said_on_line_1(case: Case) -> None:
    run = case.run({"a.cu": K}, "/usr/include/x.h(7): warning #1-D: odd\n")
    (finding,) = run.findings
    assert finding.span.end == 0
    assert "'odd (in x.h, line 7) (1-D)'" in finding.message


def test_the_first_error_is_reported_and_other_files_go_on(case: Case) -> None:
    says = (
        '@ROOT@/a.cu(1): error: identifier "z" is undefined\n'
        "  int y = z;\n"
        "          ^\n\n"
        "@ROOT@/a.cu(2): error: second\n"
    )
    ending = 'case "$source" in */a.cu) exit 2;; esac'
    run = case.run({"a.cu": "int y = z;\n\n", "b.cu": K}, says + words("k", 8, 4, 4), ending=ending)
    assert [(code, text) for code, text, _ in shown(run)] == [
        ("CU508", "a.cu: z"),
        ("CU501", "b.cu: k"),
    ]
    assert run.findings[0].message == ("nvcc fails for 'sm_121': 'identifier \"z\" is undefined'.")


@pytest.mark.parametrize(
    ("ending", "message"),
    [
        ("kill -9 $$", "nvcc fails for 'sm_121': 'nvcc was killed by SIGKILL'."),
        ("exit 5", "nvcc fails for 'sm_121': 'nvcc exited with status 5: hm'."),
        ("sleep 60", "nvcc fails for 'sm_121': 'nvcc took longer than 0.3 s'."),
    ],
)
def test_a_failure_without_an_error_is_on_line_1(case: Case, ending: str, message: str) -> None:
    run = case.run({"a.cu": K}, "hm\n", "compile-timeout = 0.3\n", ending=ending)
    (finding,) = run.findings
    assert (finding.code, finding.span.end, finding.message) == ("CU508", 0, message)
    assert run.exit_code == 1


def test_a_target_that_fails_alone_is_named(case: Case) -> None:
    files = {
        "kernels/hw/HARDWARE.toml": '[hardware]\narch = "sm_121"\n',
        "kernels/hw/common/k.cu": K,
        "kernels/hw/m/bf16/KERNEL.toml": '[build]\nextra_nvcc_flags = ["-DWIDE"]\n',
        "kernels/hw/m/bf16/other.cu": "",
        "kernels/hw/m/fp8/other.cu": "",
    }
    ending = f'case "$(tail -n 1 {case.folder}/bin/calls)" in *DWIDE*k.cu) exit 2;; esac'
    run = case.run(files, "", ending=ending)
    (finding,) = run.findings
    assert finding.span.path == "kernels/hw/common/k.cu"
    assert "'sm_121 for hw/m/bf16'" in finding.message


def test_an_undefined_function_is_marked_where_it_is_called(case: Case) -> None:
    text = '__device__ int f(int);\nextern "C" __global__ void k(int* y) { *y = f(3); }\n'
    says = "ptxas fatal   : Unresolved extern function '_Z1fi'\n"
    run = case.run({"a.cu": text}, says, ending="exit 255")
    assert [(code, text) for code, text, _ in shown(run)] == [("CU508", "a.cu: f")]
    assert run.findings[0].span.start > text.index("\n")


SHARED = (
    "ptxas error   : Entry function 'k' uses too much shared data (0x13880 bytes, 0xc000 max)\n"
)
TEMPLATE = "template <int N> __global__ void t(int* y) {}\n"
INSTANCES = SHARED.replace("'k'", "'_Z1tILi8EEvPi'") + SHARED.replace(
    "'k' uses too much shared data (0x13880", "'_Z1tILi9EEvPi' uses too much shared data (0x15f90"
)
TOLD = (
    "CU505",
    "a.cu: k",
    "A block of kernel 'k' takes '80000' bytes of static shared memory on '{}',"
    " and ptxas allows '49152'.",
)
BY_NVCC = (
    "CU508",
    "a.cu: k",
    "nvcc fails for 'sm_121': 'Entry function 'k' uses too much shared data"
    " (0x13880 bytes, 0xc000 max)'.",
)


def expected(on: str) -> tuple[str, str, str]:
    return (*TOLD[:2], TOLD[2].format(on))


@pytest.mark.parametrize("select", [("CU5",), ("CU505",)])
def test_static_shared_memory_that_ptxas_refuses_is_one_finding(
    case: Case, select: tuple[str, ...]
) -> None:
    run = case.run({"a.cu": K}, SHARED, ending="exit 255", archs=ARCHS, select=select)
    assert shown(run) == [expected("sm_90, sm_121")]
    assert (run.exit_code, run.skips) == (1, ())
    assert run.findings[0].properties["static"] == 80000


def test_all_kernels_and_the_worst_instance_are_told(case: Case) -> None:
    run = case.run({"a.cu": K + TEMPLATE}, INSTANCES + SHARED, ending="exit 255")
    assert [(code, text, message[:48]) for code, text, message in shown(run)] == [
        ("CU505", "a.cu: k", "A block of kernel 'k' takes '80000' bytes of sta"),
        ("CU505", "a.cu: t", "A block of kernel 't<9>' takes '90000' bytes of "),
    ]


@pytest.mark.parametrize("settings", ["ignore = ['CU505']", "per-file-ignores = {'*'=['CU505']}"])
def test_without_that_rule_it_is_a_compile_error(case: Case, settings: str) -> None:
    run = case.run({"a.cu": K}, SHARED, settings, ending="exit 255")
    assert shown(run) == [BY_NVCC]


def test_another_error_beside_it_is_told_too(case: Case) -> None:
    text = '__device__ int f(int);\nextern "C" __global__ void k(int* y) { *y = f(3); }\n'
    says = SHARED + "ptxas fatal   : Unresolved extern function '_Z1fi'\n"
    says += "ptxas fatal   : Ptx assembly aborted due to errors\n"
    run = case.run({"a.cu": text}, says, ending="exit 255")
    assert [(code, text) for code, text, _ in shown(run)] == [
        ("CU505", "a.cu: k"),
        ("CU508", "a.cu: f"),
    ]


def test_a_suppression_of_it_does_not_bring_the_compile_error_back(case: Case) -> None:
    text = K.rstrip("\n") + "  // NOLINT(CU505): it is what the board has\n"
    run = case.run({"a.cu": text}, SHARED, ending="exit 255")
    assert shown(run) == []
    assert [one.finding.code for one in run.suppressed] == ["CU505"]


UNDEFINED = '@ROOT@/a.cu(1): error: identifier "u" is undefined\n\n'
WITHOUT = ("per-file-ignores = {'*'=['CU508']}", "ignore = ['CU508']")


@pytest.mark.parametrize(
    ("select", "settings"),
    [(("CU501",), ""), (("CU5",), WITHOUT[0]), (("CU5",), WITHOUT[1])],
)
def test_a_failure_that_no_rule_tells_is_a_skip_and_an_error_where_compiling_is_demanded(
    case: Case, select: tuple[str, ...], settings: str
) -> None:
    run = case.run({"a.cu": K}, UNDEFINED, settings, ending="exit 2", archs=ARCHS, select=select)
    why = 'it does not compile for sm_90, sm_121: identifier "u" is undefined'
    assert [str(skip) for skip in run.skips] == [f"CU5 of a.cu skipped ({why})"]
    assert [(note.id, note.message) for note in run.notifications] == [
        ("not-compiled", f"--compile always, but CU5 of a.cu was skipped: {why}")
    ]
    assert (run.findings, run.exit_code) == ((), 2)
    auto = lint(case.root, select=select, compile="auto")
    assert (auto.skips, auto.notifications, auto.exit_code) == (run.skips, (), 0)


def test_many_such_failures_are_one_skip(case: Case) -> None:
    files = dict.fromkeys(("c.cu", "a.cu", "b.cu", "good.cu"), K)
    ending = 'case "$source" in */good.cu) ;; *) exit 2;; esac'
    run = case.run(files, words("k", 0, 0, 0), ending=ending, select=("CU501",))
    assert [skip.what for skip in run.skips] == ["CU5 of a.cu and 2 more"]
    assert len(run.notifications) == 1


def test_what_is_told_is_no_skip(case: Case) -> None:
    run = case.run({"a.cu": K}, UNDEFINED, ending="exit 2", select=("CU501", "CU508"))
    assert ([f.code for f in run.findings], run.skips, run.notifications) == (["CU508"], (), ())
    silenced = K.rstrip("\n") + "  // NOLINT(CU508): it is to fail\n"
    run = case.run({"a.cu": silenced}, UNDEFINED, ending="exit 2")
    assert (run.findings, run.skips, run.exit_code) == ((), (), 0)


def test_of_two_archs_the_one_whose_failure_is_not_told_is_a_skip(case: Case) -> None:
    other = "ptxas fatal   : Bad\n"
    ending = (
        f'case $arch in sm_90) echo "{SHARED.strip()}";; *) echo "{other.strip()}";; esac; exit 2'
    )
    run = case.run({"a.cu": K}, "", ending=ending, archs=ARCHS, select=("CU505",))
    assert shown(run) == [expected("sm_90")]
    assert [skip.why for skip in run.skips] == ["it does not compile for sm_121: Bad"]


def test_no_suppression_is_unused_in_what_does_not_compile(case: Case) -> None:
    text = K.rstrip("\n") + "  // NOLINT(CU501): it may spill\n"
    select = ("CU002", "CU5")
    run = case.run({"a.cu": text}, UNDEFINED, ending="exit 2", select=select)
    assert [f.code for f in run.findings] == ["CU508"]
    run = case.run({"a.cu": text}, words("k", 0, 0, 0), select=select)
    assert [f.code for f in run.findings] == ["CU002"]
