"""CU506 and its notes over the words of a stand-in for nvcc."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_compile_rules import Case, words

from cudalint.run import Run
from cudalint.settings.origin import SettingsError

KERNEL = 'extern "C" __global__ void __launch_bounds__(512) {0}(float* x) {{ *x = 1; }}\n'
SETTINGS = 'resource-baseline = "resources.toml"\n'


def line(kernel: str, figures: str, *, path: str = "a.cu", nvcc: str = "13.0.88") -> str:
    where = f'path = "{path}", kernel = "{kernel}", arch = "sm_121", nvcc = "{nvcc}"'
    return f"  {{ {where}, {figures} }},\n"


def baseline(*lines: str) -> str:
    return f"version = 1\nkernels = [\n{''.join(lines)}]\n"


@pytest.fixture
def case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Case:
    return Case(tmp_path, monkeypatch)


def told(run: Run) -> list[str]:
    return [f.message for f in run.findings if f.code == "CU506"]


def notes(run: Run) -> list[str]:
    return [note.message for note in run.notifications]


def test_worse_than_recorded_by_the_same_nvcc(case: Case) -> None:
    files = {
        "a.cu": KERNEL.format("k") + KERNEL.format("m"),
        "resources.toml": baseline(
            line("k", "registers = 40, threads = 512, warps = 48"),
            line("m", "registers = 40, spill-stores = 8, spill-loads = 8, stack = 8"),
        ),
    }
    says = words("k", 0, 0, 0, 64) + words("m", 8, 8, 8)
    run = case.run(files, says, f'{SETTINGS}[launches."*"]\nthreads = 512\n')
    (finding,) = [found for found in run.findings if found.code == "CU506"]
    assert finding.message == (
        "Kernel 'k' on 'sm_121' is worse than its baseline:"
        " 'warps 48 to 32 on an SM, registers 40 to 64'."
    )
    assert finding.compiled_from == "a.cu"
    assert (run.exit_code, notes(run)) == (1, [])


def test_what_is_new_gone_or_of_another_nvcc_is_a_note(case: Case) -> None:
    files = {
        "a.cu": KERNEL.format("k") + KERNEL.format("fresh"),
        "b.cu": "// nothing\n",
        "resources.toml": baseline(
            line("k", "registers = 40", nvcc="12.9.86"),
            line("old", "registers = 40"),
            line("x", "registers = 40", path="gone.cu"),
        ),
    }
    ending = 'case $source in *b.cu) : > "$output";; esac'
    says = words("k", 0, 0, 0) + words("fresh", 0, 0, 0)
    run = case.run(files, says, SETTINGS, "a.cu", ending=ending)
    assert told(run) == []
    assert notes(run) == [
        "resources.toml has kernels of files that are gone: 'gone.cu'",
        "resources.toml lacks kernels of 'a.cu': 'fresh'",
        "'a.cu' has no more of its recorded kernels: 'old'",
        "resources.toml is of nvcc 12.9.86, and 13.0.88 compiled: figures may be somewhat larger",
    ]
    assert {note.level.value for note in run.notifications} == {"note"}
    assert run.exit_code == 0


def test_a_suppression_is_of_use_or_not(case: Case) -> None:
    silenced = "// NOLINTNEXTLINE(CU506): measured\n" + KERNEL.format("k")
    files = {"a.cu": silenced, "resources.toml": baseline(line("k", "registers = 40"))}

    def unused(says: str, settings: str) -> list[str]:
        run = case.run(files, says, settings, select=("CU002", "CU506"))
        return [found.code for found in run.findings]

    assert unused(words("k", 8, 8, 8), SETTINGS) == []
    assert unused(words("k", 0, 0, 0), SETTINGS) == ["CU002"]
    # Without a baseline the rule judges nothing, and so not its suppressions.
    assert unused(words("k", 0, 0, 0), "") == []


def test_a_baseline_that_can_not_be_read_ends_the_run(case: Case) -> None:
    files = {"a.cu": KERNEL.format("k")}
    with pytest.raises(SettingsError, match=r"^cudalint\.toml:2:21: resource-baseline: there is"):
        case.run(files, words("k", 0, 0, 0), SETTINGS)
    with pytest.raises(SettingsError, match=r"^resources\.toml:1:11: invalid TOML"):
        case.run({**files, "resources.toml": "version = \n"}, words("k", 0, 0, 0), SETTINGS)


def test_a_failed_compile_has_lost_no_kernel(case: Case) -> None:
    files = {"a.cu": KERNEL.format("k"), "resources.toml": baseline(line("k", "registers = 40"))}
    run = case.run(files, "", SETTINGS, ending="exit 1")
    assert notes(run) == []
    assert [found.code for found in run.findings] == ["CU508"]
