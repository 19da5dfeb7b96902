"""The tables of names in rules: each name that the catalogue, or an API's manual, lists."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import lint, write_files
from cudalint.finding import Finding

SPDX = "// SPDX-License-Identifier: MIT OR Apache-2.0\n"
KERNEL = SPDX + 'extern "C" __global__ void __launch_bounds__(32) k(float* o) { *o = 1.f; }\n'


def findings(code: str, root: Path, source: str, settings: str = "") -> list[Finding]:
    """What the rule says of one file."""
    write_files(root, {"a.cu": source, "cudalint.toml": settings})
    return list(lint(root, "a.cu", select=(code,), preview=True).findings)


def text_at(source: str, finding: Finding) -> str:
    return source.encode()[finding.span.start : finding.span.end].decode()


def reported(code: str, root: Path, source: str, settings: str = "") -> list[str]:
    """The texts at which the rule reports, in order."""
    return [text_at(source, found) for found in findings(code, root, source, settings)]


CAPTURE = {
    "ask-": ["cudaEventQuery", "cudaStreamQuery", "cuEventQuery", "cuStreamQuery"],
    "legacy-": [
        *("cudaMemset", "cudaMemset2D", "cudaMemset3D", "cudaMemcpyPeer", "cudaMemcpy3DPeer"),
        *("cuMemsetD8", "cuMemsetD16", "cuMemsetD32", "cuMemcpyDtoD", "cuMemcpy"),
        *("cuMemsetD8_v2", "cuMemsetD16_v2", "cuMemsetD32_v2", "cuMemcpyDtoD_v2"),
    ],
    "change-": [
        *("cudaStreamCreate", "cudaStreamCreateWithFlags", "cudaStreamCreateWithPriority"),
        *("cudaEventCreate", "cudaEventCreateWithFlags", "cuStreamCreate", "cuEventCreate"),
        *("cuStreamCreateWithPriority", "cudaHostRegister", "cudaHostUnregister"),
        *("cuMemHostRegister", "cuMemHostRegister_v2", "cudaDeviceReset"),
    ],
    "set-": ["cudaFuncSetAttribute", "cuFuncSetAttribute", "cudaSetDevice"],
}
THRUST = [
    *("sort", "stable_sort", "sort_by_key", "stable_sort_by_key", "reduce", "reduce_by_key"),
    *("transform", "transform_reduce", "copy", "copy_if", "copy_n", "fill", "fill_n"),
    *("sequence", "for_each", "for_each_n", "inclusive_scan", "exclusive_scan", "generate"),
    *("inclusive_scan_by_key", "exclusive_scan_by_key", "gather", "scatter", "unique"),
    *("unique_by_key", "count", "count_if", "min_element", "max_element", "minmax_element"),
    *("remove", "remove_if", "replace", "replace_if", "partition", "lower_bound", "tabulate"),
    *("upper_bound", "merge", "inner_product", "adjacent_difference", "unique_copy"),
]


def launching(lines: list[str]) -> str:
    body = "".join(f"  {line}\n" for line in lines)
    head = "void step(float* o, float* a, float* b, cudaStream_t s) {\n  k<<<1, 32, 0, s>>>(o);\n"
    return f"{KERNEL}{head}{body}}}\n"


@pytest.mark.parametrize("prefix", CAPTURE)
def test_what_breaks_a_capture(prefix: str, tmp_path: Path) -> None:
    names = CAPTURE[prefix]
    source = launching([f"{name}(a, b);" for name in names])
    found = findings("CU306", tmp_path, source)
    assert [text_at(source, finding) for finding in found] == names
    assert {finding.message_id for finding in found} == {f"{prefix}here"}


def test_algorithms_of_thrust_with_no_policy(tmp_path: Path) -> None:
    source = launching([f"thrust::{name}(a, b, a);" for name in THRUST])
    found = findings("CU306", tmp_path, source)
    assert [text_at(source, finding).removeprefix("thrust::") for finding in found] == THRUST
    with_policy = launching([f"thrust::{name}(thrust::cuda::par.on(s), a, b);" for name in THRUST])
    assert findings("CU306", tmp_path, with_policy) == []


HEADERS = {
    "iostream": 'void f() { std::cout << "x"; }',
    "cstdio": 'void f() { std::puts("x"); }',
    "stdio.h": 'void f() { fputs("x", stderr); }',
    "iomanip": "auto f() { return std::setw(3); }",
    "fstream": "void f() { std::ofstream x; }",
    "sstream": "void f() { std::stringstream x; }",
}


@pytest.mark.parametrize("header", HEADERS)
def test_an_include_that_brings_nothing_goes(header: str, tmp_path: Path) -> None:
    [unused] = findings("CU103", tmp_path, f"{SPDX}#include <{header}>\nint x;\n")
    [used] = findings("CU103", tmp_path, f"{SPDX}#include <{header}>\n{HEADERS[header]}\n")
    assert unused.fix is not None
    assert used.fix is None


QUERIES = {
    "cudaGetDeviceProperties": "cudaDeviceProp p; {}(&p, 0); int n = p.multiProcessorCount;",
    "cuDeviceGetProperties": "CUdevprop p; {}(&p, 0); int n = p.maxThreadsPerBlock;",
    "cudaDeviceGetAttribute": "int n; {}(&n, cudaDevAttrMultiProcessorCount, 0);",
    "cuDeviceGetAttribute": "int n; {}(&n, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0);",
    "cudaOccupancyMaxPotentialBlockSize": "int n, m; {}(&n, &m, k, 0, 0);",
    "cuOccupancyMaxPotentialBlockSize": "int n, m; {}(&n, &m, f, nullptr, 0, 0);",
    "getCurrentDeviceProperties": "int n = at::cuda::{}()->multiProcessorCount;",
    "getDeviceProperties": "int n = at::cuda::{}(0)->multiProcessorCount;",
}


@pytest.mark.parametrize("name", QUERIES)
def test_what_devices_are_asked_by(name: str, tmp_path: Path) -> None:
    asked = QUERIES[name].format(name)
    source = f"{KERNEL}void step(float* o, CUfunction f) {{ {asked} k<<<n, 32>>>(o); }}\n"
    assert len(findings("CU202", tmp_path, source)) == 1


def test_the_standard_library_s_heap(tmp_path: Path) -> None:
    names = ["malloc", "calloc", "realloc", "free"]
    source = launching([f"std::{name}(a);" for name in names])
    assert reported("CU304", tmp_path, source) == names


def test_getters_of_a_banned_mode(tmp_path: Path) -> None:
    names = ["set_mode", "get_mode", "is_mode", "has_mode", "query_mode"]
    source = launching([f"{name}();" for name in names])
    settings = '[rules.CU308]\ncalls = ["*_mode"]\n'
    assert reported("CU308", tmp_path, source, settings) == ["set_mode"]


def test_records_of_the_driver(tmp_path: Path) -> None:
    source = launching(["cuEventRecord(e, 0);", "cuEventRecordWithFlags(e, 0, 0);"])
    assert reported("CU302", tmp_path, source) == ["cuEventRecord", "cuEventRecordWithFlags"]


@pytest.mark.parametrize("wait", ["cudaDeviceSynchronize();", "cuCtxSynchronize();"])
def test_a_fork_that_a_wait_for_all_joins(wait: str, tmp_path: Path) -> None:
    forked = [
        *("cudaEvent_t e;", "cudaStream_t side;", "cudaEventRecord(e, s);"),
        *("cudaStreamWaitEvent(side, e, 0);", "k<<<1, 32, 0, side>>>(o);"),
        *("cudaEvent_t f;", "cudaEventRecord(f, side);"),
    ]
    assert len(findings("CU312", tmp_path, launching(forked))) == 1
    assert findings("CU312", tmp_path, launching([*forked, wait])) == []


FILLERS = [
    *("TODO", "fixme: later", "tbd", "tba", "tbc", "XXX", "wip", "reason", "reason here"),
    *("the reason", "a reason", "some reason", "your reason", "placeholder", "n/a", "na"),
    *("none", "nil", "null", "unknown", "why", "fill in", "", " ", "..."),
]


def test_reasons_that_are_none(tmp_path: Path) -> None:
    reasons = [*FILLERS, "wider blocks, for its 8 heads", "no reason to share"]
    files = {
        f"gb10/{folder}/f{number}.cu": KERNEL.replace(" k(", f" f{number}(").replace("1.f", value)
        for number in range(len(reasons))
        for folder, value in (("common", "1.f"), ("qwen/nvfp4", "2.f"))
    }
    rows = "".join(f'f{number} = "{reason}"\n' for number, reason in enumerate(reasons))
    write_files(tmp_path, {**files, "gb10/qwen/nvfp4/KERNEL.toml": f"[shadow]\n{rows}"})
    found = lint(tmp_path, select=("CU403",)).findings
    assert len(found) == len(FILLERS)
