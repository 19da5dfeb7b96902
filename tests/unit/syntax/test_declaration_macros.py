"""Macros that no header seen here explains, in the heads of classes and functions."""

from __future__ import annotations

import pytest

from cudalint.syntax.read import read_model


@pytest.mark.parametrize(
    "head",
    [
        "class API_EXPORT Op : public Base",
        "class API_EXPORT Op final : Base, Other<int>",
        "struct EXPORTED Op",
        "template <typename T> class API_EXPORT Op",
        "class API_EXPORT\nOp",
    ],
)
def test_a_class_with_a_macro_before_its_name_keeps_its_members(head: str) -> None:
    code = (
        f"{head} {{\n public:\n  Op(int n) : n_(n) {{}}\n  void run() {{ go(); }}\n  int n_;\n}};\n"
    )
    model = read_model("a.h", code.encode())
    assert [(f.owner, f.name) for f in model.functions] == [("Op", "Op"), ("Op", "run")]
    assert [(s.name, [m.name for m in s.members]) for s in model.structs] == [("Op", ["n_"])]
    assert not model.broken


@pytest.mark.parametrize(
    ("head", "returned"),
    [
        ("void LIB_API f(int n)", "void LIB_API"),
        ("LIB_RC LIB_API f()", "LIB_RC LIB_API"),
        ("LIB_API Tensor f(const Tensor& t)", "LIB_API Tensor"),
        ("DLL_PUBLIC std::tuple<A, std::optional<A>>\nf(int n)", None),
        ("template <typename T> MY_CONSTEXPR MY_INLINE MY_DEVICE T* f(T* x)", None),
        ("MY_CONSTEXPR __DH__ Half f(float x)", None),
        ("__DH__\nstatic Half f()", None),
        ("const INT_T f()", "const INT_T"),
        ("static INT_T f()", "INT_T"),
        ("static MY_CONSTEXPR __DH__ ns::Half f() noexcept", None),
        ("static MY_INLINE Half* f()", None),
        ("INT_T f(int n)", "INT_T"),
    ],
)
def test_a_function_with_macros_before_its_name_is_one(head: str, returned: str | None) -> None:
    model = read_model("a.cpp", f"{head} {{ go(); }}\n".encode())
    assert [(f.name, f.owner) for f in model.functions] == [("f", "")]
    assert returned is None or model.functions[0].return_type == returned
    assert [(c.name, c.function) for c in model.calls] == [("go", 0)]
    assert not model.broken


def test_a_declaration_with_a_type_in_capitals_is_no_call() -> None:
    model = read_model("a.h", b"LIB_RC LIB_API f();\nLIB_RC g();\nLIB_API Tensor h(int n);\n")
    assert [f.name for f in model.functions] == ["f", "g", "h"]
    assert not model.calls


def test_a_type_in_capitals_stays_the_type_of_a_variable() -> None:
    code = b"struct A { INT_T const n; struct STAT s; STAT* t; };\nINT_T const kMany = 3;\n"
    model = read_model("a.h", code)
    assert [m.name for s in model.structs for m in s.members] == ["n", "s", "t"]
    assert not model.broken


@pytest.mark.parametrize("word", ["class", "struct", "union"])
def test_instances_of_classes_are_read(word: str) -> None:
    code = f"template {word} A<B<(int)1, (E)2>>;\nextern template {word} ns::A<int>;\nint f();\n"
    model = read_model("a.cu", code.encode())
    assert [f.name for f in model.functions] == ["f"]
    assert not model.broken


def test_spaces_in_the_call_operator() -> None:
    code = b"struct A { template <typename T> int operator( )( const T& t ) const { go(); } };\n"
    model = read_model("a.cu", code)
    assert [(f.owner, f.name) for f in model.functions] == [("A", "operator()")]
    assert [p.name for p in model.functions[0].parameters] == ["t"]
    assert not model.broken
