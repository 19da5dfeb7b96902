"""CU504 and CU505 over the words of a stand-in for nvcc: what is reported, and what is not."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_compile_rules import ARCHS, Case, K, shown, words

from cudalint.finding import Finding
from cudalint.run import Run
from cudalint.settings.origin import SettingsError


@pytest.fixture
def case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Case:
    return Case(tmp_path, monkeypatch)


def of(run: Run, *codes: str) -> list[Finding]:
    return [finding for finding in run.findings if finding.code in codes]


def run_with(
    case: Case,
    registers: int,
    settings: str,
    bounds: str = ".maxntid 128",
    smem: int = 0,
    archs: tuple[str, ...] = ("sm_121",),
) -> Run:
    (case.folder / "k.ptx").write_text(f".visible .entry k()\n{bounds}\n{{\n}}\n")
    says = words("k", 0, 0, 0, registers).rstrip() + f", {smem} bytes smem\n"
    ending = f"cp {case.folder}/k.ptx ."
    return case.run({"a.cu": K}, says, settings, ending=ending, archs=archs)


@pytest.mark.parametrize(
    ("registers", "settings", "reported"),
    [
        (248, "", False),  # 8 of 48 warps: 16.7 %
        (248, "[rules.CU504]\nmin-occupancy = 16.6\n", False),
        (248, "[rules.CU504]\nmin-occupancy = 16.7\n", True),
        (248, '[rules.CU504]\nper-kernel = { "k" = 17 }\n', True),
        (248, '[rules.CU504]\nmin-occupancy = 50\nper-kernel = { "k" = 0 }\n', False),
        (8, "[rules.CU504]\nmin-occupancy = 100\n", False),
    ],
)
def test_the_minimum_of_occupancy(
    case: Case, registers: int, settings: str, reported: bool
) -> None:
    assert bool(of(run_with(case, registers, settings), "CU504")) is reported


def test_low_occupancy_names_the_limiter_and_the_next_step(case: Case) -> None:
    run = run_with(case, 81, "[rules.CU504]\nmin-occupancy = 50\n")
    assert shown(run) == [
        (
            "CU504",
            "a.cu: k",
            "Kernel 'k' fills '41.7' % of an SM on 'sm_121': '5' blocks of '128' threads,"
            " limited by 'registers'.",
        )
    ]
    (finding,) = run.findings
    assert finding.level.value == "note"
    assert [r.label for r in finding.related] == ["at most 80 registers (81 now): 6 blocks"]
    assert finding.properties == {
        "occupancy": 0.4167,
        "blocks": 5,
        "threads": 128,
        "arch": "sm_121",
    }
    assert run.exit_code == 0


def test_both_archs_are_one_note_with_both_figures(case: Case) -> None:
    run = run_with(case, 81, "[rules.CU504]\nmin-occupancy = 50\n", archs=ARCHS)
    assert [f.message for f in run.findings] == [
        "Kernel 'k' fills '31.2' % of an SM at worst, on 'sm_90': '5' blocks of '128' threads,"
        " limited by 'registers' (percent on 'sm_90, sm_121': 'sm_90: 31.2; sm_121: 41.7')."
    ]


def test_an_unknown_block_size_is_left_alone(case: Case) -> None:
    run = run_with(case, 200, "[rules.CU504]\nmin-occupancy = 100\n", bounds="")
    assert of(run, "CU504") == []


def test_a_block_that_the_registers_do_not_allow(case: Case) -> None:
    """The bounds are kept, and the launch is larger than they say."""
    run = run_with(case, 128, "[launches.k]\nthreads = 1024\n")
    assert [f.message for f in of(run, "CU503", "CU504")] == [
        "No block of '1024' threads of kernel 'k' can run on 'sm_121':"
        " there is not enough of 'registers'."
    ]


@pytest.mark.parametrize(
    ("settings", "codes"),
    [
        ("[launches.k]\ndynamic-shared = 100352\n", ["CU504"]),  # one block of four warps
        ("[launches.k]\ndynamic-shared = 100353\n", ["CU505"]),
        ("[launches.k]\ndynamic-shared = 4096\n[rules.CU505]\nbudget = 5119\n", ["CU505"]),
        ("[launches.k]\ndynamic-shared = 4096\n[rules.CU505]\nbudget = 5120\n", []),
        ("[rules.CU505]\nper-arch = { sm_121 = 1023 }\n", ["CU505"]),
        ("[rules.CU505]\nper-arch = { sm_90 = 1023 }\n", []),
        ('[rules.CU505]\nbudget = 1\nper-kernel = { "k" = 2048 }\n', []),
    ],
)
def test_shared_memory(case: Case, settings: str, codes: list[str]) -> None:
    """1,024 bytes are static; what does not fit the SM is no low occupancy too."""
    run = run_with(case, 32, settings, smem=1024)
    assert [f.code for f in of(run, "CU504", "CU505")] == codes


def test_the_arch_that_has_not_enough_is_named(case: Case) -> None:
    settings = "[launches.k]\ndynamic-shared = 131072\n[rules.CU504]\nmin-occupancy = 0\n"
    run = run_with(case, 32, settings, archs=ARCHS)
    (finding,) = of(run, "CU505")
    assert finding.message == (
        "A block of kernel 'k' takes '131072' bytes of shared memory on 'sm_121'"
        " ('0' static, '131072' dynamic), and 'sm_121' has '101376' for one."
    )
    assert run.exit_code == 1


@pytest.mark.parametrize(
    "option",
    ["min-occupancy = 101", "min-occupancy = -1", 'min-occupancy = "50 %"', "minimum = 5"],
)
def test_options_out_of_range_are_told(case: Case, option: str) -> None:
    with pytest.raises(SettingsError, match=r"^cudalint\.toml:3:\d+: "):
        run_with(case, 32, f"[rules.CU504]\n{option}\n")
