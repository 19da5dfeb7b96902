"""What the integer parameters of known template instances are worth."""

from __future__ import annotations

import pytest

from cudalint.project.instances import instances
from projects import context_of


def found(source: str, user: str = "") -> list[dict[str, int]]:
    files = {"k.cuh": source, "a.cu": f'#include "k.cuh"\n{user}'}
    context = context_of(files)
    kernel = next(k for k in context.models["k.cuh"].kernels if k.kind == "definition")
    return instances(kernel, context)


KERNEL = "template <int N, typename T = float, int M = N * 2> __global__ void k(T*) {}\n"


@pytest.mark.parametrize(
    ("user", "expected"),
    [
        ("", []),
        ("template __global__ void k<64>(float*);", [{"N": 64, "M": 128}]),
        ("template __global__ void k<64, Pair<1, 2>, 3>(Pair<1, 2>*);", [{"N": 64, "M": 3}]),
        ("void f() { k<kT><<<1, 1>>>(0); }\nconstexpr int kT = 32;", [{"N": 32, "M": 64}]),
        ("void f() { k<(3 > 2) ? 96 : 1><<<1, 1>>>(0); }", [{"N": 96, "M": 192}]),
        ("void f() { auto g = &k<7, int>; g<<<1, 1>>>(0); }", [{"N": 7, "M": 14}]),
        ("void f() { k<1><<<1, 1>>>(0); k<1><<<2, 1>>>(0); }", [{"N": 1, "M": 2}]),
        ("void f(int n) { k<unknown><<<1, 1>>>(0); }", [{}]),
        ("void f() { other<5><<<1, 1>>>(0); }", []),
    ],
)
def test_instances(user: str, expected: list[dict[str, int]]) -> None:
    assert found(KERNEL, user) == expected
