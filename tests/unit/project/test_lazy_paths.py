"""What is called at the first need of a resource alone, and what makes such a resource."""

from __future__ import annotations

from pathlib import Path

import pytest

from cudalint.runner import Request, run
from cudalint.settings.select import Overrides

KERNEL = "__global__ void k(float* o) { *o = 1; }\n"
OP = """\
struct Op {
  float* buf_ = nullptr;
  size_t cap_ = 0;
  %s
  void run(float* o, size_t n, cudaStream_t s, Pool& pool) {
    %s
    k<<<1, 32, 0, s>>>(o);
  }
};
"""


def _codes(tmp_path: Path, code: str) -> list[tuple[str, int]]:
    """The codes of findings on memory, and how many calls lead to each."""
    (tmp_path / "a.cu").write_text(KERNEL + code)
    request = Request(
        ("a.cu",), tmp_path, isolated=True, compile="never", overrides=Overrides(("CU304", "CU310"))
    )
    return [(found.code, len(found.flow) - 3) for found in run(request).findings]


@pytest.mark.parametrize(
    ("methods", "body"),
    [
        ("void take() { cudaMalloc(&buf_, 4); }", "if (!buf_) take();"),
        ("void take() { cudaMalloc(&this->buf_, 4); }", "if (buf_ == nullptr) this->take();"),
        ("void take(size_t n) { cudaMalloc(&buf_, n); cap_ = n; }", "if (cap_ < n) take(n);"),
        ("float* take() { float* p; cudaMalloc(&p, 4); return p; }", "if (!buf_) buf_ = take();"),
        ("float* take() { return (float*)malloc(4); }", "if (!buf_) { buf_ = take(); }"),
    ],
)
def test_a_function_that_makes_what_is_tested(tmp_path: Path, methods: str, body: str) -> None:
    assert _codes(tmp_path, OP % (methods, body)) == [("CU310", 1)]


@pytest.mark.parametrize(
    ("methods", "body"),
    [
        ("void take(float* p) { cudaMalloc(&p, 4); }", "if (n < 4) take(o);"),
        ("void take() { cudaMalloc(&buf_, 4); }", "if (!buf_) take(); take();"),
        ("void take() { cudaMalloc(&buf_, 4); }", "if (n) take();"),
        ("void take(float** p) { cudaMalloc(p, 4); }", "float* t = nullptr; if (!t) take(&t);"),
    ],
)
def test_another_function_is_on_the_path(tmp_path: Path, methods: str, body: str) -> None:
    assert _codes(tmp_path, OP % (methods, body)) == [("CU304", 1)]


@pytest.mark.parametrize(
    ("condition", "code"),
    [
        ("pool->separates()", "CU304"),
        ("pool->cap() < n", "CU310"),
        ("n > pool->cap", "CU310"),
        ("pool->grown(n) && o", "CU304"),
    ],
)
def test_an_arrow_compares_nothing(tmp_path: Path, condition: str, code: str) -> None:
    step = (
        "void step(Pool* pool, float* o, size_t n, cudaStream_t s) {\n"
        f"  if ({condition}) cudaMalloc(&pool->buf, n);\n  k<<<1, 32, 0, s>>>(o);\n}}\n"
    )
    assert _codes(tmp_path, step) == [(code, 0)]


def test_a_function_of_another_object_makes_nothing_of_this_one(tmp_path: Path) -> None:
    pool = "struct Pool { float* buf_; void take() { cudaMalloc(&buf_, 4); } };\n"
    assert _codes(tmp_path, pool + OP % ("", "if (!buf_) pool.take();")) == [("CU304", 1)]


def test_what_is_called_by_such_a_function_runs_at_the_first_need_too(tmp_path: Path) -> None:
    code = OP % (
        "void take() { more(); cudaMalloc(&buf_, 4); }\n  void more() { cudaMalloc(&buf_, 8); }",
        "if (!buf_) take();",
    )
    assert sorted(_codes(tmp_path, code)) == [("CU310", 1), ("CU310", 2)]


def test_a_cold_function_is_not_looked_into(tmp_path: Path) -> None:
    code = OP % ("void initBuffers() { cudaMalloc(&buf_, 4); }", "if (!buf_) initBuffers();")
    assert _codes(tmp_path, code) == []


def test_a_namesake_elsewhere_makes_nothing_here(tmp_path: Path) -> None:
    """Of two functions of a name, that of the file is called; and it makes nothing."""
    (tmp_path / "a.cu").write_text(
        KERNEL
        + "static void fetch(float* b, cudaStream_t s) { cudaStreamSynchronize(s); }\n"
        + "void step(float* buf, cudaStream_t s) {\n"
        + "  if (!buf) fetch(buf, s);\n  k<<<1, 32, 0, s>>>(buf);\n}\n"
    )
    (tmp_path / "b.cu").write_text("static void fetch(float** b) { cudaMalloc(b, 4); }\n")
    request = Request(
        (".",), tmp_path, isolated=True, compile="never", overrides=Overrides(("CU301",))
    )
    assert [found.span.path for found in run(request).findings] == ["a.cu"]


@pytest.mark.parametrize(
    ("declared", "code"),
    [
        ("float* t = nullptr;", "CU304"),
        ("void *t{};", "CU304"),
        ("static float* t = nullptr;", "CU310"),
        ("", "CU310"),
    ],
)
def test_a_pointer_that_is_null_in_each_call_is_no_resource(
    tmp_path: Path, declared: str, code: str
) -> None:
    body = declared + " if (!t) cudaMalloc(&t, 4);"
    assert _codes(tmp_path, OP % ("float* t;", body)) == [(code, 0)]
