"""Which atomics depend on the order in which threads arrive."""

from __future__ import annotations

import pytest

from cudalint.devicecode.atomics import Atomics
from projects import context_of

HEAD = """\
using acc_t = float;
struct Stats { float sum; int count; };
template <typename T> __global__ void k(
    float* f, double* d, int* n, acc_t* a, Stats* s, T* t, __half2* h, float v, int i) {
"""


def _kinds(body: str, before: str = "", after: str = "") -> list[tuple[str, str]]:
    context = context_of({"a.cu": f"{before}\n{HEAD}{body}\n}}\n{after}"})
    return [(a.kind, a.type) for a in Atomics(context.models["a.cu"], context).found()]


@pytest.mark.parametrize(
    ("body", "type_"),
    [
        ("atomicAdd(f, v);", "float"),
        ("atomicAdd(&d[i], 1.0);", "double"),
        ("atomicAdd(a + i, v);", "float"),
        ("atomicAdd(&s->sum, v);", "float"),
        ("atomicAdd(h, __floats2half2_rn(v, v));", "__half2"),
        ("atomicSub((float*)n, v);", "float"),
        ("atomicAdd(t, 1.f);", "float"),
        ("atomicAdd(t, v);", "float"),
        ("v = atomicAdd(f, v);", "float"),
        ("atomicAdd_system(f, v);", "float"),
        ('asm volatile("red.global.add.f64 [%0], %1;" :: "l"(d), "d"(1.0));', "f64"),
        ('asm("atom.shared.add.noftz.f16x2 %0, [%1], %2;" : "=r"(i) : "r"(i), "r"(i));', "f16x2"),
    ],
)
def test_floating_point_additions(body: str, type_: str) -> None:
    assert _kinds(body) == [("float", type_)]


@pytest.mark.parametrize(
    "body",
    [
        "int slot = atomicAdd(n, 1);",
        "f[atomicAdd(&s->count, 1)] = v;",
        "if (atomicInc((unsigned*)n, 3u) == 2u) f[0] = v;",
        "i += atomicMax(n, i);",
        "int slot = atomicAdd(t, 1);",
    ],
)
def test_results_that_are_used(body: str) -> None:
    assert [kind for kind, _ in _kinds(body)] == ["slot"]


@pytest.mark.parametrize(
    "body",
    [
        "atomicAdd(n, 1);",
        "(void)atomicAdd(n, 1);",
        "if (i > 3) atomicAdd(n, 1); else atomicSub(n, 1);",
        "atomicMax((int*)f, __float_as_int(v));",
        "i = atomicAdd(n, 0);",
        "i = atomicOr(n, 0u);",
        "i = atomicCAS(n, 0, 1);",
        "i = atomicExch(n, 1);",
        "atomicAdd(t, T(1));",
        "i = queue.fetch_add(1);",
        'asm volatile("red.global.add.u32 [%0], 1;" :: "l"(n));',
        'asm volatile("red.global.max.f32 [%0], %1;" :: "l"(f), "f"(v));',
    ],
)
def test_what_does_not_depend_on_the_order(body: str) -> None:
    assert _kinds(body) == []


def test_a_wrapper_counts_by_its_callers() -> None:
    wrapper = "__device__ int take(int* n) { int old = atomicAdd(n, 1); return old; }"
    assert _kinds("take(n);", wrapper) == []
    assert _kinds("f[take(n)] = v;", wrapper) == [("slot", "int")]


def test_an_overload_of_an_atomic_is_no_caller() -> None:
    overload = (
        "__device__ float atomicMax(float* p, float v) "
        "{ return __int_as_float(atomicMax((int*)p, __float_as_int(v))); }"
    )
    assert _kinds("i = atomicMax(n, i);", overload) == [("slot", "int")]


@pytest.mark.parametrize(
    ("value", "kinds"),
    [
        ("__float_as_int(v + __int_as_float(old))", [("cas", "float")]),
        ("__float_as_int(fmaxf(v, __int_as_float(old)))", []),
        ("old + 1", []),
        ("__double_as_longlong(v + __longlong_as_double(old))", [("cas", "double")]),
    ],
)
def test_loops_around_compare_and_swap(value: str, kinds: list[tuple[str, str]]) -> None:
    body = f"int old = *n, seen; do {{ seen = old; old = atomicCAS(n, seen, {value}); }} while (1);"
    assert _kinds(body) == kinds
