"""The table of arch limits, held to CUDA's own header and to ptxas."""

from __future__ import annotations

import random
import shutil
import subprocess
from pathlib import Path

import pytest

from cudalint.compile.archs import (
    ARCHS,
    REGISTERS_PER_THREAD,
    arch_limits,
    arch_number,
    arch_order,
)
from cudalint.compile.toolchain import Toolchains

PROBE = r"""
#include <cstdio>
#include <cstddef>
#include <climits>
#include <cstring>
#include <initializer_list>
#include "cuda_occupancy.h"
int main() {
  int major, minor, threads, threads_per_sm, registers_per_sm, registers, blocks;
  size_t shared_per_sm, shared_per_block, reserved;
  while (std::scanf("%d %d %d %d %d %zu %zu %zu %d", &major, &minor, &threads, &threads_per_sm,
                    &registers_per_sm, &shared_per_sm, &shared_per_block, &reserved, &registers)
         == 9) {
    cudaOccDeviceProp device{};
    device.computeMajor = major;
    device.computeMinor = minor;
    device.maxThreadsPerBlock = 1024;
    device.maxThreadsPerMultiprocessor = threads_per_sm;
    device.regsPerBlock = registers_per_sm;
    device.regsPerMultiprocessor = registers_per_sm;
    device.warpSize = 32;
    device.sharedMemPerBlock = 48 * 1024;
    device.sharedMemPerMultiprocessor = shared_per_sm;
    device.numSms = 1;
    device.sharedMemPerBlockOptin = shared_per_block;
    device.reservedSharedMemPerBlock = reserved;
    cudaOccFuncAttributes function{};
    function.maxThreadsPerBlock = 1024;
    function.numRegs = registers;
    cudaOccDeviceState state{};
    cudaOccResult result{};
    cudaOccError error =
        cudaOccMaxActiveBlocksPerMultiprocessor(&result, &device, &function, &state, threads, 0);
    int unit = 0, most = 0;
    cudaOccSMemAllocationGranularity(&unit, &device);
    cudaOccMaxBlocksPerMultiprocessor(&most, &device);
    size_t fits = shared_per_sm, over = shared_per_sm + 1;
    bool ok = cudaOccAlignUpShmemSizeVoltaPlus(&fits, &device) == CUDA_OCC_SUCCESS
              && fits == shared_per_sm
              && cudaOccAlignUpShmemSizeVoltaPlus(&over, &device) != CUDA_OCC_SUCCESS;
    std::printf("%d %d %d %d %d %d\n", error, result.blockLimitRegs, unit, most, ok,
                result.activeBlocksPerMultiprocessor);
  }
}
"""


def include_folder(toolchains: Toolchains) -> Path:
    for toolchain in toolchains.found:
        nvcc = Path(toolchain.nvcc).resolve()
        for home in (nvcc.parent.parent, Path("/usr/local/cuda")):
            if (home / "include" / "cuda_occupancy.h").is_file():
                return home / "include"
    pytest.skip("no cuda_occupancy.h beside any nvcc")


@pytest.mark.nvcc
def test_the_table_agrees_with_the_occupancy_header(toolchains: Toolchains, tmp_path: Path) -> None:
    """Every arch, and for random blocks the ceiling: it fits, and one portion more does not."""
    compiler = shutil.which("g++")
    if compiler is None:
        pytest.skip("needs g++")
    (tmp_path / "probe.cpp").write_text(PROBE)
    program = tmp_path / "probe"
    subprocess.run(
        [compiler, "-w", f"-I{include_folder(toolchains)}", "-o", program, tmp_path / "probe.cpp"],
        check=True,
    )
    chance = random.Random(5)
    questions = []
    asked = []
    for arch in ARCHS:
        limits = arch_limits(arch)
        assert limits is not None
        for _ in range(300):
            threads = chance.randint(1, 1024)
            blocks = chance.randint(1, limits.blocks_per_sm)
            ceiling = limits.register_ceiling(threads, blocks)
            for registers in {max(ceiling, 1), min(ceiling + 8, REGISTERS_PER_THREAD)}:
                asked.append((arch, threads, blocks, ceiling, registers))
                questions.append(
                    f"{arch_number(arch) // 10} {arch_number(arch) % 10} {threads}"
                    f" {limits.threads_per_sm} {limits.registers_per_sm} {limits.shared_per_sm}"
                    f" {limits.shared_per_block} {limits.shared_reserved} {registers}"
                )
    answers = subprocess.run(
        [program], input="\n".join(questions), capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert len(answers) == len(asked)
    for (arch, threads, blocks, ceiling, registers), answer in zip(asked, answers, strict=True):
        error, by_registers, unit, most, configuration, _ = map(int, answer.split())
        limits = arch_limits(arch)
        assert limits is not None
        assert error == 0
        assert (unit, most, configuration) == (limits.shared_unit, limits.blocks_per_sm, 1), arch
        if ceiling:
            assert (by_registers >= blocks) is (registers <= ceiling), (arch, threads, blocks)


@pytest.mark.nvcc
@pytest.mark.parametrize("arch", ARCHS)
def test_ptxas_drops_a_minimum_of_blocks_beyond_the_threads_of_an_sm(
    arch: str, toolchains: Toolchains, tmp_path: Path
) -> None:
    toolchain = toolchains.choose(arch)
    if toolchain is None:
        pytest.skip(f"no nvcc knows {arch}")
    limits = arch_limits(arch)
    assert limits is not None
    blocks = limits.threads_per_sm // 512
    for count, dropped in ((blocks, False), (blocks + 1, True)):
        ptx = tmp_path / f"{count}.ptx"
        ptx.write_text(
            f".version 9.0\n.target {arch}\n.address_size 64\n.visible .entry k()\n"
            f".maxntid 512\n.minnctapersm {count}\n{{ ret; }}\n"
        )
        said = subprocess.run(
            [toolchain.nvcc, "-cubin", f"-arch={arch}", "-o", tmp_path / "k.cubin", ptx],
            capture_output=True,
            text=True,
        )
        assert said.returncode == 0, said.stderr
        assert (".minnctapersm will be ignored" in said.stdout + said.stderr) is dropped


@pytest.mark.parametrize(
    ("arch", "number"),
    [("sm_90a", 90), ("sm_121f", 121), ("compute_75", 75), ("sm_", 0), ("sm_90b", 0), ("", 0)],
)
def test_numbers_of_archs(arch: str, number: int) -> None:
    assert arch_number(arch) == number


def test_suffixes_share_the_limits_and_archs_sort_by_number() -> None:
    assert arch_limits("sm_121f") == arch_limits("sm_121")
    assert arch_limits("sm_20") is None
    assert sorted(["sm_121", "sm_90a", "sm_90"], key=arch_order) == ["sm_90", "sm_90a", "sm_121"]


@pytest.mark.parametrize(
    ("threads", "blocks", "ceiling"),
    [(1024, 1, 64), (1024, 2, 32), (512, 3, 40), (32, 1, 255), (1024, 64, 0)],
)
def test_registers_that_launch_bounds_leave(threads: int, blocks: int, ceiling: int) -> None:
    limits = arch_limits("sm_121")
    assert limits is not None
    assert limits.register_ceiling(threads, blocks) == ceiling


# Threads, blocks, shared memory of an SM and of a block in KiB, barriers: the table of
# the programming guide once more, so that a slip of the hand shows where no nvcc is.
GUIDE = {
    "sm_75": (1024, 16, 64, 64, 0),
    "sm_80": (2048, 32, 164, 163, 0),
    "sm_86": (1536, 16, 100, 99, 0),
    "sm_87": (1536, 16, 164, 163, 0),
    "sm_88": (1536, 16, 100, 99, 0),
    "sm_89": (1536, 24, 100, 99, 0),
    "sm_90": (2048, 32, 228, 227, 64),
    "sm_100": (2048, 32, 228, 227, 64),
    "sm_103": (2048, 32, 228, 227, 32),
    "sm_110": (1536, 24, 228, 227, 24),
    "sm_120": (1536, 24, 100, 99, 24),
    "sm_121": (1536, 24, 100, 99, 24),
}


def test_the_table_of_the_programming_guide() -> None:
    table = {}
    for arch in ARCHS:
        limits = arch_limits(arch)
        assert limits is not None
        per_sm, per_block = limits.shared_per_sm / 1024, limits.shared_per_block / 1024
        of_sm = (limits.threads_per_sm, limits.blocks_per_sm)
        table[arch] = (*of_sm, per_sm, per_block, limits.barriers_per_sm)
        units = (limits.shared_reserved, limits.shared_unit)
        assert units == ((0, 256) if arch == "sm_75" else (1024, 128))
        registers = (limits.registers_per_sm, limits.register_unit, limits.partitions)
        assert registers == (65536, 256, 4)
    assert table == GUIDE


def test_a_block_is_what_bounds_leave_registers_for_if_no_number_is_said() -> None:
    limits = arch_limits("sm_90")
    assert limits is not None
    assert limits.register_ceiling(1024) == limits.register_ceiling(1024, 1) == 64
