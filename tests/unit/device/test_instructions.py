"""The table of instructions, held to ptxas for each arch that it knows."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from ptx_probes import COMMON, PROBES, module

from cudalint.compile.archs import ARCHS
from cudalint.compile.toolchain import Toolchains
from cudalint.devicecode.instructions import FEATURES, lacking_instruction, lacking_intrinsic

WITH_SUFFIX = ("sm_90a", "sm_100a", "sm_100f", "sm_103a", "sm_110a", "sm_120a", "sm_120f")
LAST = ("sm_121a", "sm_121f")


def test_every_entry_has_a_probe_that_it_finds() -> None:
    assert [feature.name for feature in FEATURES] == list(PROBES)
    for feature in FEATURES:
        assert re.search(rf"(?<![\w.%]){feature.pattern}", PROBES[feature.name]), feature.name


@pytest.mark.nvcc
@pytest.mark.parametrize("arch", [*ARCHS, *WITH_SUFFIX, *LAST])
def test_the_table_agrees_with_ptxas(arch: str, toolchains: Toolchains, tmp_path: Path) -> None:
    toolchain = toolchains.choose(arch)
    if toolchain is None:
        pytest.skip(f"no nvcc knows {arch}")
    ptxas = Path(toolchain.nvcc).resolve().with_name("ptxas")
    instructions = [*PROBES.values(), *COMMON]
    text, first = module(arch, instructions)
    source = tmp_path / "probes.ptx"
    source.write_text(text)
    finished = subprocess.run(
        [ptxas, f"-arch={arch}", source, "-o", tmp_path / "out"],
        capture_output=True,
        text=True,
        check=False,
    )
    lines = {int(line) - first for line in re.findall(r"line (\d+); error", finished.stderr)}
    refused = {instructions[place] for place in lines if 0 <= place < len(instructions)}
    ours = {text for text in instructions if lacking_instruction(text, arch) is not None}
    assert ours == refused


def test_what_is_found_is_named() -> None:
    lack = lacking_instruction("{ .reg .b8 t; cvt.rn.satfinite.e2m1x2.f32 t, %1, %2; }", "sm_121")
    assert lack is not None
    assert lack.instruction == "cvt.rn.satfinite.e2m1x2.f32"
    assert "sm_121a" in lack.needs
    assert "sm_121," not in lack.needs


@pytest.mark.parametrize("arch", ["", "gfx942", "sm_"])
def test_an_unknown_arch_lacks_nothing(arch: str) -> None:
    assert lacking_instruction("tcgen05.fence::before_thread_sync;", arch) is None
    assert lacking_intrinsic("__nv_cvt_float_to_fp4", arch) is None


@pytest.mark.parametrize(
    ("name", "arch", "lacks"),
    [
        ("__nv_cvt_float2_to_fp4x2", "sm_121", True),
        ("__nv_cvt_float2_to_fp4x2", "sm_121a", False),
        ("__nv_cvt_float2_to_fp4x2", "sm_90", False),
        ("__nv_cvt_float_to_fp8", "sm_121", False),
        ("__reduce_add_sync", "sm_75", True),
        ("__reduce_add_sync", "sm_80", False),
    ],
)
def test_intrinsics(name: str, arch: str, lacks: bool) -> None:
    assert (lacking_intrinsic(name, arch) is not None) is lacks


@pytest.mark.parametrize("arch", ["sm_120", "sm_121a"])
def test_multicast_needs_clusters(arch: str) -> None:
    ptx = (
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [a];"
    )
    assert lacking_instruction(ptx, arch) is not None
    assert lacking_instruction(ptx, "sm_100") is None
