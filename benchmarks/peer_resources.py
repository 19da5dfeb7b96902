"""Holds `cudalint resources` to cuxray, a peer from PyPI, on the same cubins.

    pip install cuxray nvidia-cuda-cuobjdump
    python benchmarks/peer_resources.py [PATHS…]        (default: kernels)

Both are given what one nvcc makes of each kernel and arch, the same block size and
dynamic shared memory. Prints every figure in which they differ, and how many agree;
docs/resources.md explains the differences that are known. cuxray needs `nvdisasm`
and `cuobjdump` on PATH.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cudalint.cache import default_folder
from cudalint.compile.archs import ARCHS, arch_limits
from cudalint.compile.command import Command, build_command
from cudalint.compile.occupancy import Usage, occupancy
from cudalint.compile.plan import plan
from cudalint.compile.toolchain import find_toolchains
from cudalint.reading import read_project
from cudalint.resources.measure import measure
from cudalint.resources.model import ResourceRow
from cudalint.runner import Request

CONFIGURATIONS_PER_ARCH = 2000


def figures(row: ResourceRow) -> dict[str, object]:
    """What cudalint says, by the names that are compared."""
    found = row.occupancy
    return {
        "registers": row.registers,
        "stack": row.stack,
        "static shared": row.static_shared,
        "spill stores": row.spill_stores,
        "spill loads": row.spill_loads,
        "blocks": found and found.blocks,
        "limiter": found and "+".join(sorted(found.limiters)),
    }


def peer_figures(kernel: dict[str, Any]) -> dict[str, object]:
    """The same of cuxray's record of a kernel."""
    spills = kernel["spills"] or {"store_bytes": 0, "load_bytes": 0}
    found = kernel["occupancy"]
    limiters = found["limiter"].replace("_", " ").split("+") if found else []
    return {
        "registers": kernel["resources"]["regs"],
        "stack": kernel["resources"]["stack_frame"],
        "static shared": kernel["resources"]["smem_static"],
        "spill stores": spills["store_bytes"],
        "spill loads": spills["load_bytes"],
        "blocks": found and found["blocks_per_sm"],
        "limiter": found and "+".join(sorted(limiters)),
    }


def built(
    rows: tuple[ResourceRow, ...], paths: tuple[str, ...], folder: Path
) -> Iterator[tuple[ResourceRow, Path]]:
    """Each row with a cubin of its own that has its kernel, made by one nvcc for both tools."""
    reading, root = read_project(Request(paths, Path.cwd(), cache=default_folder()))
    project, toolchains = reading.project, find_toolchains()
    asked = plan({row.path for row in rows}, root, project.trees, project.settings)
    for number, row in enumerate(rows):
        request = next(
            one
            for one in asked
            if (one.path, one.arch or row.arch) == (row.path, row.arch)
            and set(one.targets) <= set(row.targets)
        )
        place = folder / str(number)
        place.mkdir()
        toolchain, command = toolchains.choose(row.arch), build_command(request, place)
        assert toolchain is not None
        assert isinstance(command, Command)
        subprocess.run([toolchain.nvcc, *command.arguments], capture_output=True, check=True)
        yield row, command.output


def ask(cubin: Path, row: ResourceRow) -> dict[str, Any]:
    """cuxray's record of one kernel of a cubin, launched as the row says."""
    command = ["cuxray", "report", "--fast", "--json", "--no-cache"]
    command += ["--kernel", f"^{row.symbol}$"]
    if row.shape.threads is not None:
        command += ["--threads", str(row.shape.threads)]
    command += ["--smem-dynamic", str(row.shape.dynamic_shared), str(cubin)]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    kernels = json.loads(said)["units"][0]["kernels"]
    kernel: dict[str, Any] = next(one for one in kernels if one["name"] == row.symbol)
    return kernel


def compare_cubins(paths: tuple[str, ...]) -> None:
    """Every kernel below `paths`, figure by figure."""
    rows = measure(Request(paths, Path.cwd(), cache=default_folder(), jobs=2)).table.rows
    compared = differing = 0
    with tempfile.TemporaryDirectory() as folder:
        for row, cubin in built(rows, paths, Path(folder)):
            ours, theirs = figures(row), peer_figures(ask(cubin, row))
            compared += len(ours)
            for name in ours:
                if ours[name] != theirs[name]:
                    differing += 1
                    where = f"{row.path} {row.kernel} {row.arch}"
                    print(f"{where}: {name} {ours[name]}, peer {theirs[name]}", flush=True)
    print(f"kernels: {compared - differing} of {compared} figures agree")


def compare_occupancies() -> None:
    """Random launches without barriers, which the peer does not count, on every arch."""
    from cuxray.archspec import lookup
    from cuxray.occupancy import compute

    chance = random.Random(6)
    agreeing = asked = 0
    for arch in ARCHS:
        limits = arch_limits(arch)
        assert limits is not None
        try:
            spec = lookup(arch)
        except KeyError:
            print(f"the peer knows no {arch}")
            continue
        for _ in range(CONFIGURATIONS_PER_ARCH):
            usage = Usage(
                chance.randint(1, 1024),
                chance.randint(1, 255),
                chance.choice([0, chance.randint(0, 48 * 1024)]),
                chance.choice([0, chance.randint(0, limits.shared_per_sm)]),
            )
            found = occupancy(limits, usage)
            launch = (usage.threads, usage.static_shared, usage.dynamic_shared)
            peer = compute(spec, usage.registers, *launch)
            asked += 1
            if found.blocks == peer.blocks_per_sm:
                agreeing += 1
            else:
                print(f"{arch} {usage}: {found.blocks}, peer {peer.blocks_per_sm}")
    print(f"occupancy: {agreeing} of {asked} configurations agree")


if __name__ == "__main__":
    compare_occupancies()
    compare_cubins(tuple(sys.argv[1:]) or ("kernels",))
