"""Kernels whose `__global__` comes from a macro that another file defines."""

from __future__ import annotations

from pathlib import Path

from cudalint.runner import Request, run
from cudalint.settings.select import Overrides
from projects import project_of

_HEADER = """\
#pragma once
#if defined(__CUDACC__)
#define OPS_HIDDEN __attribute__((visibility("hidden")))
#define OPS_KERNEL OPS_HIDDEN static __global__ void
#else
#define OPS_KERNEL void
#endif
#define OPS_ENTRY OPS_KERNEL
#define OPS_BOUNDED __global__ __launch_bounds__(64)
#define OPS_HOST static void
"""


def _functions(source: str) -> list[tuple[str, str, bool, str]]:
    files = {"ops/heads.cuh": _HEADER, "ops/a.cu": source}
    functions = project_of(files).models["ops/a.cu"].functions
    return [(f.name, f.space, f.static, f.return_type) for f in functions]


def test_a_macro_of_another_file_makes_a_kernel() -> None:
    source = """\
#include <ops/heads.cuh>
template <typename T>
OPS_KERNEL copy(T* to, const T* from) { *to = *from; }
OPS_ENTRY fill(float* to);
OPS_HOST run(float* to) { fill<<<1, 1>>>(to); }
"""
    assert _functions(source) == [
        ("copy", "global", True, "void"),
        ("fill", "global", True, "void"),
        ("run", "host", False, "OPS_HOST"),
    ]


def test_bounds_in_the_macro_are_its_kernels_bounds() -> None:
    files = {
        "heads.cuh": _HEADER,
        "a.cu": '#include "heads.cuh"\nOPS_BOUNDED void fill(float* to) { *to = 1.f; }\n',
    }
    (kernel,) = project_of(files).models["a.cu"].kernels
    assert kernel.name == "fill"
    assert "__launch_bounds__" in kernel.words
    assert kernel.return_type == "void"


def test_a_word_that_no_file_defines_makes_no_kernel() -> None:
    files = {"heads.cuh": _HEADER, "a.cu": "OTHER_KERNEL fill(float* to) { *to = 1.f; }\n"}
    assert project_of(files).models["a.cu"].kernels == ()


def test_models_without_such_a_macro_stay_the_same_objects() -> None:
    files = {"a.cu": "#define GLOBAL __global__\nGLOBAL void k() {}\n", "b.cu": "void run() {}\n"}
    project = project_of(files)
    assert [kernel.name for kernel in project.models["a.cu"].kernels] == ["k"]
    assert project.models["b.cu"].kernels == ()


def test_such_kernels_are_judged_and_counted(tmp_path: Path) -> None:
    (tmp_path / "heads.cuh").write_text(_HEADER)
    (tmp_path / "a.cu").write_text(
        '#include "heads.cuh"\nOPS_KERNEL free(float* to) { *to = 1.f; }\n'
        "OPS_BOUNDED void bound(float* to) { *to = 2.f; }\n"
    )
    request = Request((".",), tmp_path, isolated=True, overrides=Overrides(("CU108",)))
    done = run(request)
    assert [finding.arguments for finding in done.findings] == [("free",)]
    assert done.counts.kernels == 2
