"""`benchmarks/oracle.py` on a planted tree: agreement, and differences of each kind."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from conftest import write_files
from cudalint.compile.toolchain import Toolchains

pytestmark = pytest.mark.nvcc

ORACLE = Path(__file__).parents[2] / "benchmarks" / "oracle.py"
AGREED = """\
#include "k.cuh"
#define RUN(grid) k<<<grid, 32>>>(o)
__global__ void bare(float* o) { *o = 1; }
template <typename T> void in_template(T* o) { k<<<1, 32>>>(o); }
void step(float* o, cudaStream_t s) {
  k<<<1, 32>>>(o);
  k<<<dim3(1),
      dim3(32, 1, 1), 0>>>
      (o);
  RUN(1); RUN(2);
  k<<<1, 32, 0, s>>>(o);
  k<<<1, 32, 0, 0>>>(o);
  in_template(o);
}
"""
DIFFERENT = """\
#include "k.cuh"
template <int N> __global__ void __launch_bounds__(N) bounded(float* o) { *o = N; }
template <int N> void of(float* o, cudaStream_t s) { bounded<N><<<1, N, 0, s>>>(o); }
void both(float* o, cudaStream_t s) { of<32>(o, s); }
template <typename T> void unused(T* o) { k<<<1, 32>>>(o); }
void step(float* o) {
#ifdef ELSEWHERE
  k<<<1, 32>>>(o);
#endif
}
"""
HEADER = """\
#pragma once
__global__ void __launch_bounds__(32) k(float* o) { *o = 1; }
"""


def oracle(root: Path, *flags: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ORACLE), *flags, str(root)]
    return subprocess.run(command, capture_output=True, text=True)


def test_agreement_and_differences(toolchains: Toolchains, tmp_path: Path) -> None:
    root = tmp_path / "tree"
    files = {"a.cu": AGREED, "b.cu": DIFFERENT, "c.cu": "#error no\n", "k.cuh": HEADER}
    write_files(root, files)
    done = oracle(root)
    if "no nvcc that knows" in done.stderr:
        pytest.skip("this nvcc does not know the warnings")
    told = done.stdout.splitlines()
    assert told[0].startswith("c.cu: does not compile: ")
    assert told[1:4] == [
        "nvcc warns of an instance that has bounds: b.cu:3: bounded",
        "only cudalint CU303: b.cu:5: in a template, of which this build makes no instance: "
        "template <typename T> void unused(T* o) { k<<<1, 32>>>(o); }",
        "only cudalint CU303: b.cu:8: not in this build: k<<<1, 32>>>(o);",
    ]
    assert told[-2:] == [
        "| tree | 3 | 2 | CU303 | 4 | 0 | 2 |",
        "| tree | 3 | 2 | CU108 | 1 | 0 | 0 |",
    ]
    assert done.returncode == 0, done.stderr


def test_what_cudalint_misses_fails(toolchains: Toolchains, tmp_path: Path) -> None:
    # A suppression is the one way to make it say less than nvcc on purpose.
    text = "__global__ void bare(float* o) {}  // NOLINT(CU108): seen\n"
    write_files(tmp_path, {"a.cu": text})
    done = oracle(tmp_path)
    if "no nvcc that knows" in done.stderr:
        pytest.skip("this nvcc does not know the warnings")
    assert done.stdout.splitlines()[0] == f"only nvcc CU108: a.cu:1: {text.strip()}"
    assert done.returncode == 1


def test_an_nvcc_that_knows_neither_is_a_user_error(tmp_path: Path) -> None:
    done = oracle(tmp_path, "--nvcc", "/bin/true")
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].endswith(
        "error: no nvcc that knows -Wdefault-stream-launch and -Wmissing-launch-bounds"
    )
