"""Every shipped kernel compiles for sm_90 and sm_121 with no warning, spill or stack frame.

Needs nvcc and no GPU. Reads ptxas' own report, so it also checks what cudalint says of the tree.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from .build import Module, modules
from .launch import KERNELS, read_launches

pytestmark = pytest.mark.nvcc

ARCHS = ("sm_90", "sm_121")
LEAVES = sorted({leaf for leaf, _ in read_launches()} | {""})
# A target's own files: common's belong to the baseline alone.
MODULES = [
    module
    for leaf in LEAVES
    for module in modules(leaf).values()
    if module.source.parent == KERNELS / (leaf or "common")
]
_FRAME = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
Builds = dict[tuple[Module, str], "Future[subprocess.CompletedProcess[str]]"]


@pytest.fixture(scope="module")
def builds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Builds]:
    """All compilations, running as many at a time as there are processors."""
    toolchain: Any = pytest.importorskip(
        "cudalint.compile.toolchain", reason="cudalint is not installed"
    )
    chosen = toolchain.find_toolchains().choose("sm_121")
    if chosen is None:
        pytest.skip("no nvcc that knows sm_121")
    folder = tmp_path_factory.mktemp("cubins")
    pool = ThreadPoolExecutor(os.cpu_count())
    yield {
        (module, arch): pool.submit(compile_one, chosen.nvcc, module, arch, folder)
        for arch in ARCHS
        for module in MODULES
    }
    pool.shutdown(cancel_futures=True)


def compile_one(
    nvcc: str, module: Module, arch: str, folder: Path
) -> subprocess.CompletedProcess[str]:
    name = "-".join(module.source.relative_to(KERNELS).with_suffix("").parts)
    output = folder / f"{name}-{arch}.cubin"
    command = [nvcc, f"-arch={arch}", "-cubin", "-lineinfo", "-Xptxas", "-v", *module.flags]
    return subprocess.run(
        [*command, "-o", str(output), str(module.source)], capture_output=True, text=True
    )


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize("module", MODULES, ids=lambda m: m.source.relative_to(KERNELS).as_posix())
def test_kernel_compiles_clean(builds: Builds, module: Module, arch: str) -> None:
    done = builds[module, arch].result()
    report = done.stdout + done.stderr
    assert done.returncode == 0, report
    assert "warning" not in report.lower(), report
    frames = _FRAME.findall(report)
    assert frames, report
    assert all(numbers == ("0", "0", "0") for numbers in frames), report
