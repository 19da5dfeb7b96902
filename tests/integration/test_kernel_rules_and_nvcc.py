"""CU104, CU108 and CU109 held to what nvcc and ptxas say of the same source."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from conftest import lint, write_files
from cudalint.compile.toolchain import Toolchains

pytestmark = pytest.mark.nvcc

BOUNDS = """\
extern "C" __global__ void a(float* o) { *o = 1.f; }
extern "C" __global__ void __launch_bounds__(64) b(float* o) { *o = 1.f; }
extern "C" __global__ void __launch_bounds__(64) c(float* o);
extern "C" __global__ void c(float* o) { *o = 1.f; }
extern "C" __global__ void __maxnreg__(64) d(float* o) { *o = 1.f; }
namespace n { __global__ __launch_bounds__(64) void e(float* o) { *o = 1.f; } }
template <int N> __global__ void f(float* o) { *o = N; }
template <int N> __global__ void __launch_bounds__(N) g(float* o) { *o = N; }
#define LB __launch_bounds__(32)
extern "C" LB __global__ void h(float* o) { *o = 1.f; }
extern "C" __global__ void /* __launch_bounds__(32) */ i(float* o) { *o = 1.f; }
"""

LINKAGE = """\
extern "C" __global__ void k0(float* o) { *o = 0; }
__global__ void k1(float* o) { *o = 0; }
extern "C" { __global__ void __launch_bounds__(64) k2(float* o) { *o = 0; } }
extern "C" __global__ void k3(float* o);
__global__ void k3(float* o) { *o = 0; }
namespace n { extern "C" __global__ void k4(float* o) { *o = 0; } }
namespace n { __global__ void k5(float* o) { *o = 0; } }
extern "C" void __global__ k6(float* o) { *o = 0; }
#define ENTRY extern "C" __global__
ENTRY void k7(float* o) { *o = 0; }
"""

RANGES = """\
extern "C" __global__ void __launch_bounds__(1024, 2) two_of_1024(float* o) { *o = 0; }
extern "C" __global__ void __launch_bounds__(512, 3) three_of_512(float* o) { *o = 0; }
extern "C" __global__ void __launch_bounds__(512, 4) four_of_512(float* o) { *o = 0; }
extern "C" __global__ void __launch_bounds__(480, 3) three_of_480(float* o) { *o = 0; }
extern "C" __global__ void __launch_bounds__(256, 6) six_of_256(float* o) { *o = 0; }
extern "C" __global__ void __launch_bounds__(256, 7) seven_of_256(float* o) { *o = 0; }
"""


def nvcc(toolchains: Toolchains, root: Path, *flags: str) -> tuple[str, bytes]:
    """What nvcc prints on `a.cu`, and the cubin."""
    command = [toolchains.found[0].nvcc, "-cubin", *flags, "-o", "a.cubin", "a.cu"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    return done.stdout + done.stderr, (root / "a.cubin").read_bytes()


def lines(root: Path, code: str) -> set[int]:
    """The lines of `a.cu` on which a rule finds something."""
    data = (root / "a.cu").read_bytes()
    finished = lint(root, select=(code,))
    return {data[: finding.span.start].count(b"\n") + 1 for finding in finished.findings}


def test_missing_bounds_are_those_that_nvcc_warns_of(
    toolchains: Toolchains, tmp_path: Path
) -> None:
    if toolchains.found[0].release < (13, 0):
        pytest.skip("this nvcc does not know -Wmissing-launch-bounds")
    write_files(tmp_path, {"a.cu": BOUNDS})
    said, _ = nvcc(toolchains, tmp_path, "-arch=sm_90", "-Wmissing-launch-bounds")
    warned = {int(line) for line in re.findall(r"a\.cu\((\d+)\): warning #20238-D", said)}
    assert warned
    assert warned == lines(tmp_path, "CU108")


def test_mangled_kernels_are_those_whose_name_the_cubin_lacks(
    toolchains: Toolchains, tmp_path: Path
) -> None:
    write_files(tmp_path, {"a.cu": LINKAGE})
    _, cubin = nvcc(toolchains, tmp_path, "-arch=sm_90")
    plain = {n for n in range(8) if re.search(rb"\0\.text\.k%d\0" % n, cubin)}
    flagged = lint(tmp_path, select=("CU104",)).findings
    assert {f"k{n}" for n in range(8)} - {f"k{n}" for n in plain} == {
        finding.arguments[0] for finding in flagged
    }
    assert flagged


def test_bounds_out_of_range_are_those_that_ptxas_ignores(
    toolchains: Toolchains, tmp_path: Path
) -> None:
    write_files(tmp_path, {"a.cu": RANGES, "cudalint.toml": 'targets = ["sm_89"]\n'})
    said, _ = nvcc(toolchains, tmp_path, "-arch=sm_89")
    names = set(re.findall(r"for entry (\w+) is out of range. .minnctapersm will be ignored", said))
    assert names == {finding.arguments[0] for finding in lint(tmp_path, select=("CU109",)).findings}
    assert names
