"""Which streams are in scope at a call."""

from __future__ import annotations

import pytest

from cudalint.project.scopes import streams_in_scope
from projects import context_of


def in_scope(source: str) -> list[str]:
    """The streams in scope at the call `here()`."""
    context = context_of({"a.cu": source})
    model = context.models["a.cu"]
    call = next(c for c in model.calls if c.name == "here")
    return streams_in_scope(call, model, context)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("here();", ["p"]),
        ("cudaStream_t a, b; here();", ["p", "a", "b"]),
        ("here(); cudaStream_t late;", ["p"]),
        ("{ cudaStream_t inner; } here();", ["p"]),
        ("{ cudaStream_t inner; { here(); } }", ["p", "inner"]),
        ("cudaStream_t many[2]; cudaStream_t* pointer = many; here();", ["p"]),
        ("for (cudaStream_t s : all) { use(s); } here();", ["p"]),
        ("for (cudaStream_t s : all) { here(); }", ["p", "s"]),
        ("for (cudaStream_t s : all) here();", ["p", "s"]),
        ("for (cudaStream_t s : all) use(s); here();", ["p"]),
        ("if (cudaStream_t s = pick()) { here(); }", ["p", "s"]),
        ("cudaStream_t s; // }\n const char* t = \"}\"; char c = '}'; here();", ["p", "s"]),
        ("auto f = [&](cudaStream_t q) { here(); };", ["p", "q"]),
        ("auto f = [&](cudaStream_t q) { use(q); }; here();", ["p"]),
        ("auto f = [] { cudaStream_t q; }; here();", ["p"]),
        ("const cudaStream_t s{}; std::vector<cudaStream_t> v; here();", ["p", "s"]),
    ],
)
def test_locals_and_parameters(body: str, expected: list[str]) -> None:
    source = f"void before(cudaStream_t other) {{}}\nvoid f(cudaStream_t p) {{ {body} }}\n"
    assert sorted(in_scope(source)) == sorted(expected)


def test_members_of_the_class_and_globals_before() -> None:
    source = """\
    static cudaStream_t shared_one;
    struct Other { cudaStream_t theirs; };
    struct Op {
      cudaStream_t own, *many;
      void f() { here(); }
    };
    cudaStream_t later;
    """
    assert sorted(in_scope(source)) == ["own", "shared_one"]
