"""Occupancy as cudalint works it out, and as the driver does for the GPU that is there.

The shipped kernels as they are launched, over block sizes and dynamic shared memory; and
a kernel of many named barriers, of which the shipped ones have one at most.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import msgspec
import pytest

from cudalint.compile.archs import WARP, ArchLimits, arch_limits
from cudalint.compile.occupancy import Usage, occupancy
from cudalint.compile.ptxas import read_ptxas
from cudalint.resources.measure import measure
from cudalint.resources.model import ResourceRow
from cudalint.runner import Request

from .driver import Engine, cupy, torch
from .launch import KERNELS, Launch, read_launches

ROOT = KERNELS.parents[1]
LAUNCHES = read_launches()
ATTRIBUTES = {
    "threads_per_sm": 39,
    "blocks_per_sm": 106,
    "registers_per_sm": 82,
    "shared_per_sm": 81,
    "shared_per_block": 97,
    "shared_reserved": 111,
}
"""The limits by their number in `cudaDeviceAttr`."""

BARRIERS = r"""
#define SYNC(n) asm volatile("bar.sync %0, 32;" ::"n"(n) : "memory")
extern "C" __global__ void __launch_bounds__(32) few(float* y) { SYNC(1); y[0] = 1; SYNC(2); }
extern "C" __global__ void __launch_bounds__(32) many(float* y) {
  SYNC(0); SYNC(1); SYNC(2); SYNC(3); SYNC(4); SYNC(5); SYNC(6); SYNC(7);
  y[0] = 1;
  SYNC(8); SYNC(9); SYNC(10); SYNC(11); SYNC(12); SYNC(13); SYNC(14); SYNC(15);
}
"""


def arch_here() -> str:
    major, minor = torch.cuda.get_device_capability()
    return f"sm_{major}{minor}"


@pytest.fixture(scope="session")
def limits() -> ArchLimits:
    found = arch_limits(arch_here())
    if found is None:
        pytest.skip(f"{arch_here()} is not in the table of archs")
    return found


@pytest.fixture(scope="session")
def rows(tmp_path_factory: pytest.TempPathFactory) -> tuple[ResourceRow, ...]:
    """What `cudalint resources` says of the shipped kernels on this GPU's arch."""
    settings = tmp_path_factory.mktemp("settings") / "cudalint.toml"
    settings.write_text(f'targets = ["{arch_here()}"]\n')
    request = Request(("kernels",), ROOT, config=str(settings), jobs=os.cpu_count() or 1)
    return measure(request).table.rows


def of_driver(function: Any, threads: int, dynamic: int) -> int:
    """The blocks on one SM that the driver's own calculation gives."""
    blocks: int = cupy.cuda.driver.occupancyMaxActiveBlocksPerMultiprocessor(
        function.kernel.ptr, threads, dynamic
    )
    return blocks


def test_the_table_of_limits_is_this_gpu(engine: Engine, limits: ArchLimits) -> None:
    device = cupy.cuda.Device().id
    told = {n: cupy.cuda.runtime.deviceGetAttribute(i, device) for n, i in ATTRIBUTES.items()}
    assert told == {name: getattr(limits, name) for name in ATTRIBUTES}


@pytest.mark.parametrize("launch", LAUNCHES.values(), ids=lambda t: f"{t.leaf}:{t.entry}")
def test_shipped_kernels(
    engine: Engine, limits: ArchLimits, rows: tuple[ResourceRow, ...], launch: Launch
) -> None:
    path = (KERNELS / launch.file).relative_to(ROOT).as_posix()
    found = [row for row in rows if (row.path, row.kernel) == (path, launch.entry)]
    assert found, f"cudalint resources has no row of {launch.entry}"
    row = found[0]
    function = engine.kernel(launch.module, launch.entry, launch.leaf).function
    assert (row.registers, row.static_shared) == (function.num_regs, function.shared_size_bytes)
    room = limits.shared_per_block - row.static_shared
    function.max_dynamic_shared_size_bytes = room
    geometry = launch.geometry(dict.fromkeys(launch.sizes, 4096))
    shapes = [(geometry.block[0] * geometry.block[1] * geometry.block[2], geometry.shared)]
    shapes += [
        (threads, dynamic)
        for threads in range(1, function.max_threads_per_block + 1, WARP - 1)
        for dynamic in (0, 1000, 16 << 10, 47 << 10, room // 2, room)
        if dynamic <= room
    ]
    for threads, dynamic in shapes:
        usage = Usage(threads, row.registers, row.static_shared, dynamic, row.barriers)
        assert occupancy(limits, usage).blocks == of_driver(function, threads, dynamic), usage


def test_named_barriers(engine: Engine, limits: ArchLimits, tmp_path: Path) -> None:
    source, cubin = tmp_path / "barriers.cu", tmp_path / "barriers.cubin"
    source.write_text(BARRIERS)
    nvcc = shutil.which("nvcc")
    assert nvcc is not None  # the driver's module skips without one
    command = [nvcc, f"-arch={arch_here()}", "-cubin", "-Xptxas", "-v", "-o", str(cubin)]
    done = subprocess.run([*command, str(source)], capture_output=True, text=True, check=True)
    module = cupy.RawModule(path=str(cubin))
    said = read_ptxas(done.stdout + done.stderr, arch_here()).functions
    assert {function.symbol: function.barriers for function in said} == {"few": 3, "many": 16}
    for function in said:
        usage = Usage(32, function.registers or 0, function.shared or 0, 0, function.barriers or 0)
        for threads in (1, 32):
            shaped = msgspec.structs.replace(usage, threads=threads)
            loaded = module.get_function(function.symbol)
            assert occupancy(limits, shaped).blocks == of_driver(loaded, threads, 0), function
