"""run: the stages together, on small trees."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import lint, write_files
from cudalint.compile.toolchain import Toolchains
from cudalint.finding import Finding, Level, Span
from cudalint.rule import FileRule, NoOptions
from cudalint.run import Counts, Run
from cudalint.settings.origin import SettingsError
from cudalint.syntax.model import FileModel
from readers import read_by

SPDX = "// SPDX-License-Identifier: MIT OR Apache-2.0\n"
KERNEL = SPDX + 'extern "C" __global__ void __launch_bounds__(64) k(float* x) { *x = 1; }\n'
NO_BOUNDS = SPDX + 'extern "C" __global__ void k(float* x) { *x = 1; }\n'


def shown(finished: Run) -> list[str]:
    return [f"{f.span.path} {f.code} {f.level.value}" for f in finished.findings]


def test_a_clean_file(tmp_path: Path) -> None:
    write_files(tmp_path, {"a.cu": KERNEL, "b.cuh": SPDX})
    finished = lint(tmp_path)
    assert (finished.findings, finished.exit_code) == ((), 0)
    assert finished.counts == Counts(files=2, kernels=1)
    assert finished.notifications == ()
    assert [str(skip) for skip in finished.skips] == ["CU5 skipped (--compile never)"]
    ran = {entry.rule.code: entry.ran for entry in finished.rules}
    assert ran["CU101"]
    assert not ran["CU501"]


def test_paths_are_relative_to_the_root_of_the_settings(tmp_path: Path) -> None:
    write_files(tmp_path, {"cudalint.toml": "", "sub/a.cu": NO_BOUNDS})
    finished = lint(tmp_path / "sub", "a.cu")
    assert finished.root == str(tmp_path)
    assert shown(finished) == ["sub/a.cu CU108 warning"]
    assert finished.exit_code == 1


def test_levels_and_per_file_ignores(tmp_path: Path) -> None:
    settings = '[per-file-ignores]\n"b.cu" = ["CU1"]\n[rules.missing-launch-bounds]\nlevel="note"\n'
    write_files(tmp_path, {"cudalint.toml": settings, "a.cu": NO_BOUNDS, "b.cu": "int x;\n"})
    finished = lint(tmp_path)
    assert shown(finished) == ["a.cu CU108 note"]
    assert finished.exit_code == 0
    assert lint(tmp_path, strict=True).exit_code == 1
    levels = {entry.rule.code: entry.level for entry in finished.rules}
    assert levels["CU108"] is Level.NOTE


def test_the_command_line_beats_the_settings(tmp_path: Path) -> None:
    write_files(tmp_path, {"cudalint.toml": 'select = ["CU101"]', "a.cu": NO_BOUNDS})
    assert shown(lint(tmp_path)) == []
    assert shown(lint(tmp_path, select=("CU1",))) == ["a.cu CU108 warning"]
    assert shown(lint(tmp_path, select=("CU1",), ignore=("CU108",))) == []
    assert shown(lint(tmp_path, exclude=("a.cu",))) == []
    with pytest.raises(SettingsError, match="unknown rule 'CU999' in --select"):
        lint(tmp_path, select=("CU999",))


def test_what_cannot_be_read_is_a_finding_and_nothing_else(tmp_path: Path) -> None:
    write_files(tmp_path, {"a.cu": b"\x00\x01", "b.cu": KERNEL, "c.cuh": "é".encode("utf-16")})
    finished = lint(tmp_path)
    assert shown(finished) == ["a.cu CU004 error", "c.cuh CU004 error"]
    assert "binary data" in finished.findings[0].message
    assert (finished.exit_code, finished.counts) == (1, Counts(1, 1))


def test_a_missing_path_fails_the_run_and_the_rest_is_linted(tmp_path: Path) -> None:
    write_files(tmp_path, {"a.cu": NO_BOUNDS})
    finished = lint(tmp_path, "gone.cu", "a.cu")
    assert shown(finished) == ["a.cu CU108 warning"]
    assert [note.id for note in finished.notifications] == ["missing-path"]
    assert finished.exit_code == 2


def _tree(root: Path) -> None:
    write_files(
        root,
        {
            "cudalint.toml": "",
            "kernels/hw/common/k.cu": NO_BOUNDS,
            "kernels/hw/m/q/k.cu": NO_BOUNDS,
            "kernels/hw/m/q/other.cu": SPDX,
        },
    )


def test_the_tree_of_a_named_file_is_context(tmp_path: Path) -> None:
    _tree(tmp_path)
    finished = lint(tmp_path, "kernels/hw/m/q/k.cu")
    assert "kernels/hw/m/q/k.cu CU401 error" in shown(finished)
    assert {finding.span.path for finding in finished.findings} == {"kernels/hw/m/q/k.cu"}
    assert finished.counts == Counts(1, 1)
    assert not finished.sources["kernels/hw/common/k.cu"].requested
    other = lint(tmp_path, "kernels/hw/m/q/other.cu")
    assert shown(other) == []


def test_what_needs_an_arch_is_told_once_to_be_skipped(tmp_path: Path) -> None:
    _tree(tmp_path)
    kernel = 'extern "C" __global__ void __launch_bounds__({}) k(float* x) {{ *x = 1; }}\n'
    write_files(tmp_path, {f"{n}.cu": kernel.format("64, 2") for n in "ab"})
    write_files(tmp_path, {"c.cu": kernel.format("64"), "0.cu": ""})
    skipped = "CU109 for blocks per SM skipped (no arch known where 'targets' gives none)"
    assert [str(skip) for skip in lint(tmp_path, select=("CU109",)).skips] == [skipped]
    assert lint(tmp_path, "c.cu", select=("CU109",)).skips == ()
    assert lint(tmp_path, select=("CU101",)).skips == ()
    write_files(tmp_path, {"cudalint.toml": 'targets = ["sm_121"]\n'})
    assert lint(tmp_path, select=("CU109",)).skips == ()


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ('asm volatile("wgmma.fence.sync.aligned;");', True),
        ("*x = __nv_cvt_float_to_fp4(*x, __NV_E2M1, cudaRoundNearest);", True),
        ('asm volatile("mov.u32 %0, %laneid;" : "=r"(*x));', False),
        ("*x = __nv_cvt_float_to_fp8(*x, __NV_SATFINITE, __NV_E4M3);", False),
    ],
)
def test_instructions_of_some_archs_are_told_to_be_skipped(
    body: str, told: bool, tmp_path: Path
) -> None:
    write_files(tmp_path, {f"{n}.cu": f"__global__ void k(unsigned* x) {{ {body} }}" for n in "ab"})
    skipped = ["CU206 skipped (no arch known where 'targets' gives none)"] if told else []
    assert [str(skip) for skip in lint(tmp_path, select=("CU206",)).skips] == skipped
    write_files(tmp_path, {"cudalint.toml": 'targets = ["sm_121"]\n'})
    assert lint(tmp_path, select=("CU206",)).skips == ()


def test_what_is_for_other_hardware_is_not_linted(tmp_path: Path) -> None:
    _tree(tmp_path)
    bad = "__global__ void k(void* p) {}\n"
    others = {
        "kernels/strix-hip/HARDWARE.toml": '[hardware]\nvendor = "amd"\narch = "gfx1151"\n',
        "kernels/strix-hip/common/k.cu": bad,
        "kernels/mac/HARDWARE.toml": '[hardware]\nvendor = "apple"\n',
        "kernels/mac/common/k.cu": bad,
        "kernels/mac-pro/k.cu": bad,
        "cpu/common/k.cu": bad,
    }
    write_files(tmp_path, others)
    finished = lint(tmp_path, select=("CU106",))
    assert {f.span.path for f in finished.findings} == {"cpu/common/k.cu", "kernels/mac-pro/k.cu"}
    assert [str(skip) for skip in finished.skips] == [
        "kernels/mac skipped (vendor 'apple')",
        "kernels/strix-hip skipped (its name, 'strix-hip')",
    ]
    named = lint(tmp_path, "kernels/strix-hip/common/k.cu", select=("CU106",))
    assert named.findings == ()
    assert len(named.skips) == 1


WAIT = SPDX + "void wait(cudaStream_t s) {\n  cudaStreamSynchronize(s);{0}\n}\n"
STEP = (
    SPDX
    + "void wait(cudaStream_t s);\nvoid step(cudaStream_t s) { k<<<1, 32, 0, s>>>(); wait(s); }\n"
)


def test_rules_across_files_see_the_project_that_the_settings_stand_for(tmp_path: Path) -> None:
    write_files(tmp_path, {"util/wait.cpp": WAIT.replace("{0}", ""), "step.cu": STEP})
    asked = ("util/wait.cpp",)
    assert shown(lint(tmp_path, *asked, select=("CU301",))) == []
    write_files(tmp_path, {"cudalint.toml": ""})
    finished = lint(tmp_path, *asked, select=("CU301",))
    assert shown(finished) == ["util/wait.cpp CU301 error"]
    assert not finished.sources["step.cu"].requested
    assert finished.counts == Counts(1, 0)
    assert set(lint(tmp_path, *asked, select=("CU101",)).sources) == set(asked)


def test_what_part_of_a_project_cannot_tell_is_no_unused_suppression(tmp_path: Path) -> None:
    text = WAIT.replace("{0}", "  // NOLINT(CU301): the last wait of a request")
    write_files(tmp_path, {"util/wait.cpp": text, "step.cu": STEP})
    select = ("CU301", "CU002")
    assert shown(lint(tmp_path, "util/wait.cpp", select=select)) == []
    assert shown(lint(tmp_path, select=select)) == []
    (tmp_path / "step.cu").unlink()
    assert shown(lint(tmp_path, "util/wait.cpp", select=select)) == []
    assert shown(lint(tmp_path, select=select)) == ["util/wait.cpp CU002 warning"]


def test_a_suppression_takes_a_finding_out_and_keeps_its_reason(tmp_path: Path) -> None:
    text = NO_BOUNDS.replace("k(", "k(  // NOLINT(CU108): launched with any block\n")
    settings = '[rules.CU108]\nlevel = "error"\n'
    write_files(tmp_path, {"a.cu": text, "cudalint.toml": settings})
    finished = lint(tmp_path)
    assert (shown(finished), finished.exit_code) == ([], 0)
    (silenced,) = finished.suppressed
    assert (silenced.reason, silenced.finding.code) == ("launched with any block", "CU108")
    assert silenced.finding.level is Level.ERROR


def test_a_suppression_of_a_rule_that_did_not_run_is_not_unused(tmp_path: Path) -> None:
    text = KERNEL.replace("k(", "k(  // NOLINT(CU501,CU302): not now\n")
    write_files(tmp_path, {"a.cu": text})
    assert shown(lint(tmp_path, ignore=("CU302",))) == []
    assert shown(lint(tmp_path)) == ["a.cu CU002 warning"]


class Faulty(FileRule):
    """A rule that fails after its first finding."""

    code = "CU900"
    name = "always-fails"
    level = Level.NOTE
    messages = {"found": "Found."}

    def check(self, file: FileModel, context: object, options: NoOptions) -> Iterator[Finding]:
        yield self.report("found", Span(file.path, 0, 0))
        raise ZeroDivisionError("a fault")


def test_a_rule_that_fails_loses_no_other_finding(tmp_path: Path) -> None:
    write_files(tmp_path, {"a.cu": NO_BOUNDS, "b.cu": KERNEL})
    finished = lint(tmp_path, rules=(Faulty,))
    assert shown(finished) == ["a.cu CU900 note", "a.cu CU108 warning", "b.cu CU900 note"]
    assert [note.message for note in finished.notifications] == [
        "internal error in CU900 on 'a.cu': ZeroDivisionError: a fault (and in 1 more place)"
    ]
    assert "Traceback" in finished.notifications[0].detail
    assert finished.exit_code == 2


def test_jobs_change_nothing(tmp_path: Path) -> None:
    for number in range(80):
        text = (NO_BOUNDS, KERNEL, "int x;\n", b"\x00")[number % 4]
        write_files(tmp_path, {f"d{number % 7}/f{number}.cu": text})
    alone = lint(tmp_path, jobs=1)
    assert len(alone.findings) == 60
    assert lint(tmp_path, jobs=2) == alone
    cached = [lint(tmp_path, jobs=jobs, cache=tmp_path / "cache") for jobs in (2, 1)]
    assert cached == [alone, alone]


def test_a_cache_that_cannot_be_written_is_told_and_fails_nothing(tmp_path: Path) -> None:
    write_files(tmp_path, {"a.cu": KERNEL, "file": ""})
    finished = lint(tmp_path, cache=tmp_path / "file")
    assert [note.id for note in finished.notifications] == ["cache-unusable"]
    assert finished.exit_code == 0


def test_regions_that_are_not_understood_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from cudalint.syntax.model import Broken

    def broken(path: str, data: bytes) -> FileModel:
        regions = (Broken(Span(path, 46, 47), False), Broken(Span(path, 0, 1), True))
        return FileModel(path, len(data), broken=regions)

    read_by(broken, monkeypatch)
    write_files(tmp_path, {"a.cu": KERNEL, "b.cu": KERNEL})
    finished = lint(tmp_path, select=("CU101",))
    (note,) = finished.notifications
    assert (note.id, note.level) == ("regions-not-understood", Level.NOTE)
    assert note.message == "2 regions in 2 files not understood"
    assert note.detail == "a.cu:2\nb.cu:2"
    assert finished.exit_code == 0


@pytest.mark.parametrize(("compile_", "code"), [("auto", 0), ("always", 2), ("never", 0)])
def test_without_nvcc(
    compile_: str, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cudalint.compile.stage.find_toolchains", Toolchains)
    write_files(tmp_path, {"a.cu": KERNEL})
    finished = lint(tmp_path, compile=compile_)
    assert finished.exit_code == code
    why = "--compile never" if compile_ == "never" else "no nvcc"
    assert [str(skip) for skip in finished.skips] == [f"CU5 skipped ({why})"]
    assert [note.id for note in finished.notifications] == ["no-nvcc"] * (code == 2)
    selected = lint(tmp_path, select=("CU1",), compile=compile_)
    assert (selected.skips, selected.exit_code) == ((), 0)


def test_headers_alone_ask_for_no_nvcc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cudalint.compile.stage.find_toolchains", Toolchains)
    write_files(tmp_path, {"a.cuh": SPDX})
    finished = lint(tmp_path, compile="always")
    assert (finished.skips, finished.exit_code) == ((), 0)


@pytest.mark.nvcc
def test_what_does_not_compile_is_a_finding(tmp_path: Path, toolchains: Toolchains) -> None:
    write_files(tmp_path, {"a.cu": KERNEL.replace("*x = 1", "*x = nothing"), "b.cu": KERNEL})
    finished = lint(tmp_path, select=("CU5",), compile="always", jobs=2)
    assert shown(finished) == ["a.cu CU508 error"]
    assert (finished.skips, finished.exit_code) == ((), 1)


def test_a_run_equals_itself(tmp_path: Path) -> None:
    _tree(tmp_path)
    assert lint(tmp_path) == lint(tmp_path)
