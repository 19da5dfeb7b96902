"""CU501 and CU502 by lines and archs: what one finding says, and where it stands."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_compile_rules import ARCHS, Case, K, marked, words

from conftest import lint
from cudalint.finding import Finding
from cudalint.run import Run

TEXTS = Path(__file__).parents[2] / "fixtures" / "toolkits"
WORST = "y[i * 512 + threadIdx.x] = paired(column, i) + window[picked[i]];"
AT_WORST_LINE = '[rules.CU501]\nlocation = "worst-line"\n'


@pytest.fixture
def case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Case:
    return Case(tmp_path, monkeypatch)


def columns(case: Case, toolkit: str, settings: str = "", *paths: str, cut: int = 0) -> Run:
    """The run over columns.cu with what the tools of a toolkit said of it."""
    sass = (TEXTS / f"{toolkit}.sass").read_text()
    text = sass[: cut or len(sass)].replace("/project/", f"{case.root}/")
    folder = case.folder / "bin"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "sass").write_text(text)
    (folder / "nvdisasm").write_text(f"#!/bin/sh\ncat {folder}/sass\n")
    (folder / "nvdisasm").chmod(0o755)
    return case.run(
        {name: (TEXTS / name).read_text() for name in ("columns.cu", "columns.cuh")},
        (TEXTS / f"{toolkit}.txt").read_text(),
        settings,
        *paths,
        archs=("sm_90",),
        ending=f"cp {TEXTS}/columns.ptx .",
        reads=("columns.cuh",),
    )


def spill_of(run: Run) -> Finding:
    (finding,) = (f for f in run.findings if f.code == "CU501" and f.arguments[0] == "columns")
    return finding


def places(run: Run, finding: Finding) -> list[tuple[str, str]]:
    """Marked text and label of each related place."""
    return [
        (run.sources[r.span.path].data[r.span.start : r.span.end].decode(), r.label)
        for r in finding.related
    ]


@pytest.mark.parametrize("toolkit", ["12.4", "13.2", "13.5"])
def test_the_lines_that_spill_are_related(case: Case, toolkit: str) -> None:
    run = columns(case, toolkit)
    finding = spill_of(run)
    assert marked(run, finding) == "columns.cu: columns"
    assert places(run, finding) == [
        (WORST, "spills 16 bytes of stores, 48 of loads"),
        (
            "for (int i = 0; i < kKept; ++i) column[i] = x[i * 512 + threadIdx.x];",
            "spills 28 bytes of stores, 0 of loads",
        ),
        (
            "__device__ inline float twisted(float a, float b) { return __fmaf_rn(a, b, a); }",
            "spills 12 bytes of stores, 8 of loads",
        ),
    ]


def test_the_worst_line_may_be_the_place(case: Case) -> None:
    run = columns(case, "12.4", AT_WORST_LINE)
    finding = spill_of(run)
    assert marked(run, finding) == f"columns.cu: {WORST}"
    assert places(run, finding)[:2] == [
        ("columns", "the kernel"),
        (WORST, "spills 16 bytes of stores, 48 of loads"),
    ]


def test_a_suppression_at_the_kernel_counts_wherever_the_finding_is(case: Case) -> None:
    assert spill_of(columns(case, "12.4", AT_WORST_LINE))
    path = case.root / "columns.cu"
    path.write_text(path.read_text().replace("(512, 3)", "(512, 3)  // NOLINT(CU501): measured"))
    run = lint(case.root, select=("CU5",), compile="always")
    assert [s.finding.arguments[0] for s in run.suppressed] == ["columns"]


def test_bytes_that_no_line_accounts_for_are_said(case: Case) -> None:
    """A disassembly that was cut off has lines, but not all of them."""
    sass = (TEXTS / "12.4.sass").read_text()
    run = columns(case, "12.4", cut=sass.index("LDL.LU"))
    labels = [label for _, label in places(run, spill_of(run))]
    assert labels[-1].startswith("ptxas counts 56 bytes of stores, 56 of loads; the lines account")
    assert labels[-1].endswith(" and 0")


def test_without_a_disassembly_there_is_nothing_to_account_for(case: Case) -> None:
    assert spill_of(columns(case, "12.4", cut=1)).related == ()


def test_a_worst_line_that_is_not_shown_leaves_the_finding_at_the_kernel(case: Case) -> None:
    """The header is not asked for, and a finding in it would be dropped."""
    sass = (TEXTS / "13.5.sass").read_text()
    only_header = sass.index("columns.cuh")
    run = columns(case, "13.5", AT_WORST_LINE, "columns.cu", cut=only_header)
    finding = spill_of(run)
    assert marked(run, finding).startswith("columns.cu: ")


@pytest.mark.parametrize(
    ("text", "symbol", "message"),
    [
        (
            K,
            "k",
            "Kernel 'k' spills registers on 'sm_90, sm_121': at worst '8' bytes of stores,"
            " '16' bytes of loads, on 'sm_121'"
            " (stores and loads: 'sm_90: 4 and 12; sm_121: 8 and 16').",
        ),
        (
            "template <int N> __global__ void k(int* y) {}\n",
            "_Z1kILi2EEvPi",
            "Kernel 'k' spills registers on 'sm_90, sm_121' in '1 of 1' instances: at worst '8'"
            " bytes of stores, '16' bytes of loads, in 'k<2>' on 'sm_121'"
            " (stores and loads: 'sm_90: 4 and 12; sm_121: 8 and 16').",
        ),
    ],
)
def test_one_finding_has_the_figures_of_each_arch(
    case: Case, text: str, symbol: str, message: str
) -> None:
    run = two_archs(case, text, symbol, (8, 4, 12), (16, 8, 16))
    assert [f.message for f in run.findings] == [message]


def test_one_frame_has_the_figures_of_each_arch(case: Case) -> None:
    run = two_archs(case, K, "k", (64, 0, 0), (48, 0, 0))
    assert [f.message for f in run.findings] == [
        "Kernel 'k' keeps up to '64' bytes of each thread in local memory on 'sm_90, sm_121'"
        " ('k' on 'sm_90'; bytes: 'sm_90: 64; sm_121: 48')."
    ]


def two_archs(
    case: Case, text: str, symbol: str, first: tuple[int, int, int], second: tuple[int, int, int]
) -> Run:
    """A run on both archs, of each of which nvcc says something else."""
    for arch, figures in zip(ARCHS, (first, second), strict=True):
        (case.folder / arch).write_text(words(symbol, *figures).replace("@ARCH@", arch))
    return case.run({"a.cu": text}, "", ending=f"cat {case.folder}/$arch", archs=ARCHS)


@pytest.mark.parametrize(
    ("registers", "figures"), [((50, 60), "60 (sm_90: 50; sm_121: 60)"), ((60, 60), "60")]
)
def test_registers_of_two_archs_are_one_finding_with_both_figures(
    case: Case, registers: tuple[int, int], figures: str
) -> None:
    for arch, count in zip(ARCHS, registers, strict=True):
        (case.folder / arch).write_text(words("k", 0, 0, 0, count).replace("@ARCH@", arch))
    settings = "[rules.CU503]\nbudget = 40\n"
    run = case.run({"a.cu": K}, "", settings, ending=f"cat {case.folder}/$arch", archs=ARCHS)
    assert [f.message for f in run.findings] == [
        f"Kernel 'k' uses '{figures}' registers on 'sm_90, sm_121', over the budget of '40'."
    ]
