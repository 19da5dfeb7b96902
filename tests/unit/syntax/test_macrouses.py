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
        b"SHARED(n * n, int64_t);",
        b"SHARED(size_t, s);",
        b"SHARED(uint8_t const*, s);",
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
        b"KERNEL_LOOP(i, n * n, int64_t) { x[i] = 1; }",
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


def test_casts_to_sized_types_may_stand_in_braces() -> None:
    code = b"dim3 b{unsigned(size<1>(n)), 1u, unsigned(size<3>(n))}; int c{long(n)}; f(short(n));"
    assert _read(code)[1:] == (1, 0)
    model = read_model("a.cu", b"void f(int a, unsigned(*g)(int), long(&h)[2]) { g(a); }\n")
    assert [p.name for p in model.functions[0].parameters] == ["a", "g", "h"]


def test_a_product_is_no_new_pointer() -> None:
    model = read_model("a.cu", b"int f(int renew, int b) { return renew * b; }\n")
    assert len(model.functions) == 1
    assert not model.broken


@pytest.mark.parametrize(
    "block",
    [
        b"BEGIN_CHECK { run(1); } END_CHECK;",
        b"int m; BEGIN_CHECK\n  { run(m); int b = n; }\n  END_CHECK;",
        b"if (n) { BEGIN_CHECK { run(n); } END_CHECK; }",
    ],
)
def test_a_macro_without_arguments_may_begin_a_block(block: bytes) -> None:
    assert _read(block) == (["run", "after"], 1, 0)


def test_a_macro_may_stand_for_the_handlers_of_a_try_block() -> None:
    assert _read(b"try { auto e = run(x, n); } HANDLERS;") == (["run", "after"], 1, 0)
    assert _read(b"try { run(x, n); } HANDLERS(n)\n") == (["run", "HANDLERS", "after"], 1, 0)
    for caught in (b"int e", b"const std::exception &e", b"..."):
        handler = b"try { run(n); }\n  catch(" + caught + b") { log(n); }"
        assert _read(handler) == (["run", "log", "after"], 1, 0)
    model = read_model("a.cpp", b"int f() {\n  try { run(1); }\n  HANDLERS\n}\nint g() { h(); }\n")
    assert [(f.name, f.return_type) for f in model.functions] == [("f", "int"), ("g", "int")]
    assert not model.broken


def test_a_temporary_in_capitals_begins_no_block() -> None:
    assert _read(b"BLAS{}.execute(x, n); BLAS{n}.run();")[1:] == (1, 0)


def test_declarations_by_macros_may_stand_before_what_a_macro_defines() -> None:
    code = (
        b"#define DECLARE(f, T) template T f<T>();\n#define DEFINE(f, T) T f() { return go(); }\n"
        b"DECLARE(a, int)\nDECLARE(b, int)\n\nDEFINE(c, int)\nDEFINE(d, int)\nDECLARE(e, int)\n"
    )
    model = read_model("a.cpp", code)
    assert [f.name for f in model.functions if f.use is not None] == ["c", "d"]
    assert not model.broken


@pytest.mark.parametrize(
    ("statement", "calls"),
    [
        (b"typedef PREFIX_NS cub::Reduce<float, 256> Reduce;", []),
        (b"auto y = PREFIX_NS cub::reduce(n);", ["reduce"]),
        (b"check(PREFIX_NS cub::Device::reduce(nullptr, x, n));", ["check", "reduce"]),
        (b"std::vector<PREFIX_NS cub::Key> keys(n);", []),
        (b"return PREFIX_NS cub::reduce(n);", ["reduce"]),
    ],
)
def test_a_macro_may_stand_before_a_qualified_name(statement: bytes, calls: list[str]) -> None:
    assert _read(statement) == ([*calls, "after"], 1, 0)


def test_a_type_in_capitals_before_a_member_pointer_is_none() -> None:
    model = read_model("a.cu", b"void f(INT_T A::*p, INT_T A::B::*q) {}\nINT_T A::g(int n) {}\n")
    assert [f.name for f in model.functions] == ["f", "g"]
    assert model.functions[0].parameters[0].type == "INT_T A::*"
    assert not model.broken


@pytest.mark.parametrize(
    ("statement", "calls"),
    [
        (b'print("a" TEXT_OF(n) "b");', ["print"]),
        (b'print("a" TEXT_OF(n)\n "b" MORE(x, (n)), n);', ["print"]),
        (b'asm volatile("mov " NAME_OF(r) ", 1;");', []),
        (b'print("a" PRIu64 ", " PRIu64, n, n);', ["print"]),
        (b'SWITCH(n, "a" SWITCH(m, "b", run<T>(n);););', ["run"]),
        (b'SWITCH(n, "a"   SWITCH(m,  \n "b",  run<T>(n);););', ["SWITCH", "run"]),
    ],
)
def test_uses_of_macros_may_stand_between_strings(statement: bytes, calls: list[str]) -> None:
    assert _read(statement) == ([*calls, "after"], 1, 0)


def test_what_follows_a_linkage_is_no_part_of_a_string() -> None:
    for head in (b'extern "C" EXPORTED(void) f', b'double operator"" _km'):
        model = read_model("a.cu", head + b"(int n) { return run(n); }\n")
        assert [call.name for call in model.calls] == ["run"]
        assert len(model.functions) == 1


def test_calls_with_template_arguments_in_macros_are_found() -> None:
    code = b"#define CASE(N) case N: run<N>(x); break;\n" + KERNEL
    model = read_model("a.cu", code % b"switch (n) { CASE(1) CASE(2) default: { other(x); } }")
    calls = [c.name for c in model.calls if c.use is not None or not c.via_macro]
    assert calls == ["run", "run", "CASE", "CASE", "other", "after"]
    assert not model.broken
