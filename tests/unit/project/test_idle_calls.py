"""Calls whose arguments turn off every launch below."""

from __future__ import annotations

import pytest

from projects import project_of

CODE = """\
__global__ void k() {}
void fill(float* p) { k<<<1, 1>>>(); }
template <typename T> void take(T** p, int n, bool random) { grab(p, n); if (random) { fill(*p); } }
void sort(void* space, size_t& bytes, int n) {
  if (space == nullptr) { bytes = n; return; }
  k<<<1, 1>>>();
}
void pick(void* space, size_t& bytes) { if (!space) bytes = 1; else k<<<1, 1>>>(); }
void batch(void* space, size_t& bytes, int n) { log("batch"); sort(space, bytes, n); }
void both(void* a, void* b) { if (a && b) k<<<1, 1>>>(); }
void either(void* a, void* b) { if (a || b) k<<<1, 1>>>(); }
void guess(void* space, size_t& bytes) { if (!space) space = pool(); if (space) k<<<1, 1>>>(); }
void late(void* space) { k<<<1, 1>>>(); if (!space) return; }
void some(void* space, int n) { if (n > 3) { if (!space) return; } k<<<1, 1>>>(); }
void again(void* space, int n) { if (n) again(space, n - 1); if (space) k<<<1, 1>>>(); }
"""


def launches(call: str) -> bool:
    """Whether a function that makes this call alone is one that a launch is reached from."""
    project = project_of({"a.cu": f"{CODE}void go(float* p, size_t b, bool on) {{ {call} }}\n"})
    node = next(n for n in project.graph.nodes if n.function.name == "go")
    return project.launch_paths.is_root(node.id)


@pytest.mark.parametrize(
    "call",
    [
        "take(&p, 3, false);",
        "CHECK(take<float>(&p, 3, false));",
        "sort(nullptr, b, 3);",
        "sort(NULL, b, 3);",
        "sort(0, b, 3);",
        "pick(nullptr, b);",
        "batch(nullptr, b, 3);",
        "both(p, nullptr);",
    ],
)
def test_turned_off(call: str) -> None:
    assert not launches(call)


@pytest.mark.parametrize(
    "call",
    [
        "take(&p, 3, true);",
        "take(&p, 0, on);",
        "take(&p, 3, false); take(&p, 3, true);",
        "sort(p, b, 0);",
        "batch(p, b, 0);",
        "either(p, nullptr);",
        "guess(nullptr, b);",
        "late(nullptr);",
        "some(nullptr, 3);",
        "again(nullptr, 3);",
    ],
)
def test_not_turned_off(call: str) -> None:
    assert launches(call)


def test_what_the_function_does_besides_is_still_done() -> None:
    text = (
        f"{CODE}void go(float* p) {{ take(&p, 3, false); k<<<1, 1>>>(); }}\nvoid grab(int) {{}}\n"
    )
    project = project_of({"a.cu": text.replace("grab(p, n);", "grab(n);")})
    node = next(n for n in project.graph.nodes if n.function.name == "grab")
    assert project.launch_paths.witness(node) is not None
