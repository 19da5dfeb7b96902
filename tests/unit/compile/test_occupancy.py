"""Occupancy, held to CUDA's own header over every arch, and the steps of the staircases."""

from __future__ import annotations

import random
import shutil
import subprocess
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cudalint.compile.archs import ARCHS, ArchLimits, arch_limits, arch_number
from cudalint.compile.occupancy import (
    LIMITERS,
    Occupancy,
    Step,
    Usage,
    fewer_registers,
    less_shared,
    occupancy,
    register_staircase,
    shared_staircase,
)
from cudalint.compile.toolchain import Toolchains

CONFIGURATIONS_PER_ARCH = 2000
SM_103_BARRIERS_MENDED = (13, 5)
"""Older headers give sm_103 the barriers of sm_100."""

PROBE = r"""
#include <cstdio>
#include <cstddef>
#include <climits>
#include <cstring>
#include "cuda_occupancy.h"
int main() {
  int major, minor, threads_per_sm, registers_per_sm, threads, registers, barriers;
  size_t shared_per_sm, shared_per_block, reserved, fixed, dynamic;
  while (std::scanf("%d %d %d %d %zu %zu %zu %d %d %zu %zu %d", &major, &minor, &threads_per_sm,
                    &registers_per_sm, &shared_per_sm, &shared_per_block, &reserved, &threads,
                    &registers, &fixed, &dynamic, &barriers) == 12) {
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
    function.sharedSizeBytes = fixed;
    function.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
    function.maxDynamicSharedSizeBytes = dynamic;
    function.numBlockBarriers = barriers;
    cudaOccDeviceState state{};
    cudaOccResult result{};
    cudaOccError error = cudaOccMaxActiveBlocksPerMultiprocessor(&result, &device, &function,
                                                                 &state, threads, dynamic);
    std::printf("%d %d %u %d %d %d %d %d\n", error, result.activeBlocksPerMultiprocessor,
                result.limitingFactors, result.blockLimitRegs, result.blockLimitSharedMem,
                result.blockLimitWarps, result.blockLimitBlocks, result.blockLimitBarriers);
  }
}
"""
FLAGS = {"warps": 1, "registers": 2, "shared memory": 4, "blocks": 8, "barriers": 16}
UNLIMITED = 2**31 - 1


def limits_of(arch: str) -> ArchLimits:
    limits = arch_limits(arch)
    assert limits is not None
    return limits


def newest_header(toolchains: Toolchains) -> tuple[Path, tuple[int, int]]:
    """The include folder of the newest toolkit that has the header, and its release."""
    for toolchain in sorted(toolchains.found, key=lambda found: found.release, reverse=True):
        nvcc = Path(toolchain.nvcc).resolve()
        for home in (nvcc.parent.parent, Path("/usr/local/cuda")):
            if (home / "include" / "cuda_occupancy.h").is_file():
                return home / "include", toolchain.release
    pytest.skip("no cuda_occupancy.h beside any nvcc")


def random_usage(chance: random.Random, limits: ArchLimits) -> Usage:
    """A configuration near the edges of things as often as anywhere."""
    threads = chance.choice([chance.randint(1, 1024), chance.randint(1, 32) * 32, 1025])
    static = chance.choice([0, chance.randint(0, 48 * 1024), chance.randint(0, 48) * 1024])
    dynamic = chance.choice([0, chance.randint(0, limits.shared_per_sm), limits.shared_per_block])
    registers = chance.choice([0, chance.randint(1, 255), chance.randint(1, 32) * 8, 257])
    return Usage(threads, registers, static, dynamic, chance.choice([0, 1, 1, 2, 3, 16]))


def flags_of_the_header(found: Occupancy) -> int:
    """What the header sets: it marks the barriers last, and leaves what was marked before them."""
    others = {name: allowed for name, allowed in found.limits.items() if name != "barriers"}
    least = min(others.values())
    marked = {name for name, allowed in others.items() if allowed == least}
    if found.limits.get("barriers") == found.blocks:
        marked.add("barriers")
    return sum(FLAGS[name] for name in marked)


@pytest.mark.nvcc
def test_occupancy_is_that_of_the_occupancy_header(toolchains: Toolchains, tmp_path: Path) -> None:
    compiler = shutil.which("g++")
    if compiler is None:
        pytest.skip("needs g++")
    (tmp_path / "probe.cpp").write_text(PROBE)
    program = tmp_path / "probe"
    include, release = newest_header(toolchains)
    subprocess.run(
        [compiler, "-O1", "-w", f"-I{include}", "-o", program, tmp_path / "probe.cpp"], check=True
    )
    chance = random.Random(504)
    asked = []
    for arch in ARCHS:
        limits = limits_of(arch)
        usages = [random_usage(chance, limits) for _ in range(CONFIGURATIONS_PER_ARCH)]
        if arch == "sm_103" and release < SM_103_BARRIERS_MENDED:
            usages = [msgspec.structs.replace(usage, barriers=0) for usage in usages]
        asked += [(arch, usage) for usage in usages]
    assert len(asked) >= 20_000
    lines = []
    for arch, usage in asked:
        limits, number = limits_of(arch), arch_number(arch)
        device = (number // 10, number % 10, limits.threads_per_sm, limits.registers_per_sm)
        shared = (limits.shared_per_sm, limits.shared_per_block, limits.shared_reserved)
        lines.append(" ".join(map(str, (*device, *shared, *msgspec.structs.astuple(usage)))))
    answers = subprocess.run(
        [program], input="\n".join(lines), capture_output=True, text=True, check=True
    ).stdout.splitlines()
    for (arch, usage), answer in zip(asked, answers, strict=True):
        error, blocks, flags, *by = map(int, answer.split())
        found = occupancy(limits_of(arch), usage)
        names = ("registers", "shared memory", "warps", "blocks", "barriers")
        ours = [found.limits.get(name, UNLIMITED) for name in names]
        assert (error, blocks, flags, by) == (
            0,
            found.blocks,
            flags_of_the_header(found),
            ours,
        ), (arch, usage)


some_usages = st.builds(
    Usage,
    threads=st.integers(1, 1024),
    registers=st.integers(0, 255),
    static_shared=st.integers(0, 48 * 1024),
    dynamic_shared=st.integers(0, 228 * 1024),
    barriers=st.integers(0, 16),
)
archs = st.sampled_from(ARCHS)


@given(archs, some_usages)
def test_limiters_are_what_allows_no_more(arch: str, usage: Usage) -> None:
    found = occupancy(limits_of(arch), usage)
    assert found.limiters
    for name in LIMITERS:
        assert (name in found.limiters) is (found.limits.get(name) == found.blocks)
    assert 0 <= found.fraction <= 1
    assert found.warps <= found.warps_per_sm


@given(archs, some_usages)
def test_a_staircase_says_what_the_arithmetic_says(arch: str, usage: Usage) -> None:
    limits = limits_of(arch)
    stairs = register_staircase(limits, usage)
    assert [step.most for step in stairs] == sorted({step.most for step in stairs})
    assert stairs[-1].most == 255
    registers = max(usage.registers, 1)
    step = next(step for step in stairs if step.most >= registers)
    at = msgspec.structs.replace(usage, registers=registers)
    assert step.blocks == occupancy(limits, at).blocks
    stairs = shared_staircase(limits, usage)
    shared = usage.static_shared + usage.dynamic_shared
    if shared <= stairs[-1].most:
        step = next(step for step in stairs if step.most >= shared)
        assert step.blocks == occupancy(limits, usage).blocks


@given(archs, some_usages)
def test_the_next_step_gives_more_blocks_and_one_unit_more_does_not(
    arch: str, usage: Usage
) -> None:
    limits = limits_of(arch)
    blocks = occupancy(limits, usage).blocks
    step = fewer_registers(limits, usage)
    if step is not None:
        assert step.most < usage.registers
        fewer = msgspec.structs.replace(usage, registers=step.most)
        assert occupancy(limits, fewer).blocks == step.blocks > blocks
        one_more = msgspec.structs.replace(usage, registers=step.most + 1)
        assert occupancy(limits, one_more).blocks < step.blocks
    elif usage.registers > 1:
        least = msgspec.structs.replace(usage, registers=1)
        assert occupancy(limits, least).blocks == blocks
    step = less_shared(limits, usage)
    if step is not None:
        assert step.most < usage.static_shared + usage.dynamic_shared
        less = msgspec.structs.replace(usage, static_shared=step.most, dynamic_shared=0)
        assert occupancy(limits, less).blocks == step.blocks > blocks
    else:
        none = msgspec.structs.replace(usage, static_shared=0, dynamic_shared=0)
        assert occupancy(limits, none).blocks == blocks


def test_one_register_too_many() -> None:
    """The classic: 256 threads of 41 registers lose one of sm_121's six."""
    limits = limits_of("sm_121")
    usage = Usage(threads=256, registers=41)
    found = occupancy(limits, usage)
    assert (found.blocks, found.warps, found.warps_per_sm) == (5, 40, 48)
    assert found.limiters == ("registers",)
    assert fewer_registers(limits, usage) == Step(40, 6)
    assert less_shared(limits, usage) is None
    assert occupancy(limits, Usage(256, 40)).limiters == ("registers", "warps")


def test_one_kilobyte_too_many() -> None:
    limits = limits_of("sm_90")
    usage = Usage(threads=128, registers=32, static_shared=1024, dynamic_shared=47 * 1024)
    found = occupancy(limits, usage)
    assert (found.blocks, found.limiters) == (4, ("shared memory",))
    assert less_shared(limits, usage) == Step(228 * 1024 // 5 // 128 * 128 - 1024, 5)


def test_what_cannot_be_launched_has_no_blocks() -> None:
    limits = limits_of("sm_121")
    too_much = occupancy(limits, Usage(128, 32, dynamic_shared=limits.shared_per_block + 1))
    assert (too_much.blocks, too_much.limiters) == (0, ("shared memory",))
    assert occupancy(limits, Usage(1024, 128)).limiters == ("registers",)
    assert occupancy(limits, Usage(1056, 16)).limiters == ("warps",)
    with pytest.raises(ValueError, match="a block of 0 threads"):
        occupancy(limits, Usage(0, 16))


def test_every_step_of_the_registers() -> None:
    """256 threads are 8 warps, of which an SM of sm_121 holds 48 in four partitions.

    A partition's 16,384 registers go to warps in portions of 256: with 48 for a thread
    there are 10 warps in each, and 40 are 5 blocks.
    """
    limits = limits_of("sm_121")
    stairs = register_staircase(limits, Usage(256, 41))
    assert stairs == tuple(
        Step(*step) for step in ((40, 6), (48, 5), (64, 4), (80, 3), (128, 2), (255, 1))
    )
    for registers, below in ((40, None), (48, (40, 6)), (64, (48, 5)), (65, (64, 4))):
        step = fewer_registers(limits, Usage(256, registers))
        assert step == (Step(*below) if below else None)


def test_every_step_of_shared_memory() -> None:
    """An SM of sm_121 has 100 KiB in portions of 128 bytes, 1 KiB of them for each block's own."""
    limits = limits_of("sm_121")
    steps = (16000, 6), (19456, 5), (24576, 4), (33024, 3), (50176, 2), (101376, 1), (102400, 0)
    assert shared_staircase(limits, Usage(256, 40)) == tuple(Step(*step) for step in steps)
    assert shared_staircase(limits, Usage(256, 40, 700, 80)) == tuple(Step(*s) for s in steps)
    for shared, below in ((16000, None), (19456, (16000, 6)), (19457, (19456, 5))):
        step = less_shared(limits, Usage(256, 40, shared - 6, 6))
        assert step == (Step(*below) if below else None)
    old = shared_staircase(limits_of("sm_75"), Usage(256, 32))
    assert old == (Step(16384, 4), Step(21760, 3), Step(32768, 2), Step(65536, 1))


def test_steps_where_a_block_s_own_is_no_whole_portion() -> None:
    limits = msgspec.structs.replace(limits_of("sm_121"), shared_reserved=1000)
    usage = Usage(256, 40)
    for step in shared_staircase(limits, usage)[:-2]:
        most = occupancy(limits, msgspec.structs.replace(usage, static_shared=step.most))
        more = occupancy(limits, msgspec.structs.replace(usage, static_shared=step.most + 1))
        assert most.blocks == step.blocks == more.blocks + 1


def test_what_a_block_takes_nothing_of_does_not_limit_it() -> None:
    assert LIMITERS == ("registers", "shared memory", "warps", "blocks", "barriers")
    assert Usage(32, 16) == Usage(32, 16, static_shared=0, dynamic_shared=0, barriers=0)
    old, new = limits_of("sm_75"), limits_of("sm_90")
    assert occupancy(old, Usage(1, 0)).limits == {"warps": 32, "blocks": 16}
    assert set(occupancy(old, Usage(1, 0, 1)).limits) == {"shared memory", "warps", "blocks"}
    assert occupancy(new, Usage(32, 0, new.shared_reserved)).limits["shared memory"] == 114


def test_what_each_resource_allows() -> None:
    limits = limits_of("sm_90")
    found = occupancy(limits, Usage(1056, 257, barriers=5))
    assert (found.limits["warps"], found.limits["registers"]) == (0, 0)
    assert occupancy(limits, Usage(32, 256)).limits["registers"] == 8
    assert found.limits["barriers"] == limits.barriers_per_sm // 5
    assert occupancy(limits, Usage(1024, 128)).limits["registers"] == 0
    assert occupancy(limits, Usage(288, 192)).limits["registers"] == 0, "9 warps are judged as 12"
