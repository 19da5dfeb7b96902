"""Which values reach a use: scopes, order, loops, writes through `&`, aliases of types."""

from __future__ import annotations

import pytest

from cudalint.devicecode.flow.bindings import Bindings
from cudalint.devicecode.flow.branches import Branches
from cudalint.devicecode.flow.threads import ThreadDependence
from cudalint.devicecode.flow.types import Pointees
from projects import context_of


def _bindings(body: str, head: str = "float* p, int n", before: str = "") -> Bindings:
    source = f"{before}\n__global__ void k({head}) {{\n{body}\n}}\n"
    context = context_of({"a.cu": source})
    kernel = context.models["a.cu"].kernels[-1]
    bindings = context.bindings("a.cu", kernel.index)
    assert bindings is not None
    return bindings


def _differs(body: str, head: str = "float* p, int n") -> str | None:
    """What differs between threads in the argument of `use(…)`."""
    source = f"__global__ void k({head}) {{\n{body}\n}}\n"
    context = context_of({"a.cu": source})
    model = context.models["a.cu"]
    bindings = context.bindings("a.cu", model.kernels[0].index)
    assert bindings is not None
    (call,) = [call for call in model.calls if call.name == "use"]
    dependence = ThreadDependence(bindings, Branches(bindings, model), model)
    start = call.arguments_at
    return dependence.first(start, start + len(call.argument_text))


@pytest.mark.parametrize(
    ("body", "name"),
    [
        ("use(threadIdx.x);", "threadIdx"),
        ("const int t = threadIdx.x, u = 3; use(u + t);", "t"),
        ("int t; t = n + threadIdx.y; use(t);", "t"),
        ("int t = 0; if (n > 3) t = threadIdx.x; use(t);", "t"),
        ("int t = threadIdx.x; t += n; use(t);", "t"),
        ("float x = p[threadIdx.x]; use(x > 0.f);", "x"),
        ("auto [a, b] = split(threadIdx.x); use(b);", "b"),
        ("int t; divide(threadIdx.x, &t); use(t);", "t"),
        ('unsigned t; asm("mov.u32 %0, %laneid;" : "=r"(t)); use(t);', "t"),
        ("int row[2]; row[0] = threadIdx.x; use(row[1]);", "row"),
        ("auto block = cg::this_thread_block(); use(block.thread_rank());", "thread_rank"),
        ("for (int i = threadIdx.x; i < n; i += 32) use(i);", "i"),
        ("int t = 0; for (int i = 0; i < n; ++i) { use(t); t = threadIdx.x; }", "t"),
        ("use(lane_id() == 0);", "lane_id"),
        ("int4 v = make_int4(threadIdx.x, 0, 0, 0); use(v.x);", "v"),
    ],
)
def test_what_differs_between_threads(body: str, name: str) -> None:
    assert _differs(body) == name


@pytest.mark.parametrize(
    "body",
    [
        "use(n + blockIdx.x);",
        "const int t = threadIdx.x, u = 3; use(u);",
        "int t = threadIdx.x; t = n; use(t);",
        "{ int t = threadIdx.x; p[t] = 0; } int t = n; use(t);",
        "for (int i = threadIdx.x; i < n; i += 32) p[i] = 0; for (int i = 0; i < n; ++i) use(i);",
        "int t = 0; for (int i = 0; i < n; ++i) { t = threadIdx.x; p[t] = 0; t = n; } use(t);",
        "use(__syncthreads_or(threadIdx.x > 3));",
        "use(sizeof(threadIdx.x));",
        "__shared__ int all; if (threadIdx.x == 0) all = threadIdx.x; __syncthreads(); use(all);",
        "int t = n; // t = threadIdx.x;\nuse(t);",
        "p[threadIdx.x] = 0.f; *p = threadIdx.x; use(p[0]);",
        "Shape shape(n, threadIdx.x); use(shape.rows);",
        "auto of = [&](int i) { return i + threadIdx.x; }; use(n);",
    ],
)
def test_what_is_the_same_for_all_threads(body: str) -> None:
    assert _differs(body) is None


@pytest.mark.parametrize(
    ("expression", "type_"),
    [
        ("p", "float"),
        ("p + n", "float"),
        ("&p[n]", "float"),
        ("&stats->sum", "double"),
        ("&stats[2].sum", "double"),
        ("&tile[n][0]", "__half"),
        ("q", "float"),
        ("(int*)p", "int"),
        ("reinterpret_cast<unsigned long long*>(p)", "long"),
        ("&total", "float"),
        ("&wide", "double"),
        ("aliased", "float"),
        ("t", None),
        ("f(p)", None),
    ],
)
def test_what_an_address_points_to(expression: str, type_: str | None) -> None:
    before = (
        "struct Stats { int count; double sum; };\ntypedef float acc_t;\n"
        "__device__ float total;\n__device__ double wide[4];\ntemplate <typename T>"
    )
    body = (
        "__shared__ __align__(16) __half tile[4][4];\n auto* q = p + 3; acc_t* aliased = p; use();"
    )
    source = f"{before}\n__global__ void k(float* p, int n, Stats* stats, T* t) {{\n{body}\n}}\n"
    context = context_of({"a.cu": source})
    kernel = context.models["a.cu"].kernels[0]
    bindings = context.bindings("a.cu", kernel.index)
    assert bindings is not None
    at = source.index("use();")
    assert Pointees(bindings, context).of_address(expression, at) == type_


def test_a_variable_is_known_from_its_declaration_to_the_end_of_its_block() -> None:
    bindings = _bindings("{ int a = 1; f(a); } for (int b = 0; b < n; ++b) g(b); h();")
    code = bindings.code
    assert bindings.find("a", code.index("f(a)")) is not None
    assert bindings.find("a", code.index("g(b)")) is None
    assert bindings.find("b", code.index("g(b)")) is not None
    assert bindings.find("b", code.index("h()")) is None
    parameter = bindings.find("n", code.index("h()"))
    assert parameter is not None
    assert parameter.parameter


def test_text_has_one_character_for_each_byte() -> None:
    source = '__global__ void k(float* p) { /* ä */ [[maybe_unused]] int a = 1; f("(é{"); }\n'
    context = context_of({"a.cu": source})
    bindings = context.bindings("a.cu", 0)
    assert bindings is not None
    assert len(bindings.code) == len(source.encode())
    assert bindings.find("a", len(source.encode()) - 4) is not None
    assert "maybe_unused" not in bindings.code


def test_a_function_out_of_a_macro_has_no_bindings() -> None:
    context = context_of({"a.cu": "#define K(n) __global__ void n(float* p) { *p = 1; }\nK(k)\n"})
    kernel = next(k for k in context.models["a.cu"].kernels if k.use is not None)
    assert context.bindings("a.cu", kernel.index) is None
    assert context.bindings("a.cu", -1) is None
