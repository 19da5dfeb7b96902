"""Uses of macros that no header seen here explains, and pointers that are made by `new`."""

from __future__ import annotations

import pytest

from cudalint.syntax.read import read_model

KERNEL = b"__global__ void k(float* x, int n) {\n  %b\n  after(n);\n}\n"


def _read(statement: bytes) -> tuple[list[str], int, int]:
    """The calls, the functions and the broken regions of a kernel with `statement` in it."""
    model = read_model("a.cu", KERNEL % statement)
    return [call.name for call in model.calls], len(model.functions), len(model.broken)


@pytest.mark.parametrize(
    "statement",
    [
        b"SHARED(float, s);",
        b"SHARED(float, s)",
        b"SHARED(unsigned char, s)",
        b"SHARED(const float*, s);",
        b"SHARED(const T&, s);",
        b"SHARED(T*, s);",
        b"SHARED(s, int);",
        b"SHARED(std::vector<int>, s);",
        b"x[0] = SHARED(float, s);",
    ],
)
def test_types_may_be_given_to_macros(statement: bytes) -> None:
    assert _read(statement) == (["SHARED", "after"], 1, 0)


@pytest.mark.parametrize(
    "loop",
    [
        b"KERNEL_LOOP(i, n) { x[i] = 1; }",
        b"KERNEL_LOOP(i, n * n) { x[i] = 1; }",
        b"KERNEL_LOOP(i, (n + 3) * n * n) { x[i] = 1; }",
        b"KERNEL_LOOP(i, p.n * n)\n  { x[i] = 1; }",
        b"if (n) { KERNEL_LOOP(i, n * n * n) { x[i] = 1; } }",
        b"{ int m = n; KERNEL_LOOP(i, m * m * m) { x[i] = 1; } }",
    ],
)
def test_a_use_may_begin_a_block(loop: bytes) -> None:
    assert _read(loop) == (["KERNEL_LOOP", "after"], 1, 0)


def test_a_block_may_begin_with_no_space_before_it() -> None:
    assert _read(b"KERNEL_LOOP(i, n * n * n){ x[i] = 1; }") == (["after"], 1, 0)


def test_what_a_macro_defines_at_file_scope_stays_a_function() -> None:
    for code in (b"TEST(Suite, Name) { run(1); }\n", b"namespace a { TEST(S, N) { run(1); } }\n"):
        model = read_model("a.cu", code)
        assert len(model.functions) == 1
        assert not model.broken


@pytest.mark.parametrize(
    "made", [b"float*[n]", b"float **[n]", b"T *", b"std::vector<int> *[n]()", b"const T *[2]"]
)
def test_new_makes_pointers(made: bytes) -> None:
    assert _read(b"auto p = new " + made + b";") == (["after"], 1, 0)


def test_a_product_is_no_new_pointer() -> None:
    model = read_model("a.cu", b"int f(int renew, int b) { return renew * b; }\n")
    assert len(model.functions) == 1
    assert not model.broken
