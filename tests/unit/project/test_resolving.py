"""Which functions a call may mean."""

from __future__ import annotations

import pytest

from cudalint.project.project import Project
from projects import project_of

CODE = """\
void free_one() {}
void over(int) {}
void over(int, int b = 2) {}
template <typename... Ts> void many(const char*, Ts... rest) {}
namespace n { void inner() {} namespace m { void inner() {} } }
struct A {
  void run() {}
  void only_a() {}
  void reset() {}
  static void make() {}
  void twice() { run(); this->only_a(); }
};
using Owned = std::unique_ptr<A>;
struct B { void run() {} A* a; A direct; std::unique_ptr<A> owned; void go(); };
struct C { void other() {} };
void device_too();
__host__ __device__ void both() {}
__device__ void only_device() {}
"""


def called(body: str, parameters: str = "", owner: str = "") -> list[str]:
    """The functions that the calls in a body mean, as `owner.name/parameters`."""
    prefix = f"{owner}::" if owner else ""
    project = project_of({"a.cu": f"{CODE}void {prefix}go({parameters}) {{ {body} }}\n"})
    nodes = project.graph.nodes
    caller = next(n for n in nodes if n.function.name == "go")
    found = []
    for edge in project.graph.calls[caller.id]:
        function = nodes[edge.callee].function
        owned = f"{function.owner}." if function.owner else ""
        scope = "".join(f"{part}::" for part in function.scope if part != function.owner)
        found.append(f"{scope}{owned}{function.name}/{len(function.parameters)}")
    return found


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("free_one();", ["free_one/0"]),
        ("::free_one();", ["free_one/0"]),
        ("CHECK(free_one());", ["free_one/0"]),
        ("auto x = free_one();", ["free_one/0"]),
        ("free_one(1);", []),
        ("over(1);", ["over/1", "over/2"]),
        ("over(1, 2);", ["over/2"]),
        ("over(args...);", ["over/1", "over/2"]),
        ('many("x", 1, 2, 3);', ["many/2"]),
        ("n::inner();", ["n::inner/0"]),
        ("n::m::inner();", ["n::m::inner/0"]),
        ("m::inner();", ["n::m::inner/0"]),
        ("x::inner();", []),
        ("A::make();", ["A.make/0"]),
        ("thing.only_a();", ["A.only_a/0"]),
        ("thing.run();", []),
        ("thing.reset();", []),
        ("std::move(free_one)();", []),
        ("both();", ["both/0"]),
        ("only_device();", []),
        ("unknown();", []),
        ("// free_one();", []),
    ],
)
def test_calls(body: str, expected: list[str]) -> None:
    assert called(body) == expected


@pytest.mark.parametrize(
    ("body", "parameters", "expected"),
    [
        ("a.run();", "A& a", ["A.run/0"]),
        ("a->run();", "const A* a", ["A.run/0"]),
        ("a->reset();", "std::shared_ptr<A> a", ["A.reset/0"]),
        ("a.reset();", "std::shared_ptr<A>& a", []),
        ("a.reset(new A);", "std::unique_ptr<A>& a", []),
        ("a->reset();", "std::unique_ptr<A>* a", []),
        ("(*a)->reset();", "std::unique_ptr<A>* a", ["A.reset/0"]),
        ("a.value().reset();", "std::optional<A>& a", ["A.reset/0"]),
        ("a.reset();", "A& a", ["A.reset/0"]),
        ("a.reset();", "Owned& a", []),
        ("(*a).reset();", "std::unique_ptr<A>& a", ["A.reset/0"]),
        ("c.run();", "C& c", []),
        ("v.reset();", "std::vector<int>& v", []),
    ],
)
def test_receivers_that_are_parameters(body: str, parameters: str, expected: list[str]) -> None:
    assert called(body, parameters) == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("run();", ["B.run/0"]),
        ("this->run();", ["B.run/0"]),
        ("::run();", []),
        ("a->run();", ["A.run/0"]),
        ("direct.run();", ["A.run/0"]),
        ("this->owned->reset();", ["A.reset/0"]),
        ("other();", []),
        ("[this] { run(); }();", ["B.run/0"]),
    ],
)
def test_calls_inside_a_class(body: str, expected: list[str]) -> None:
    assert called(body, owner="B") == expected


NAMESPACES = """\
namespace cpu { void wait() {} void only_cpu() {} struct Q { void drain() {} }; }
namespace gpu { void wait() {} void declared(); namespace deep { void f() {} } }
namespace tpu { void declared() {} void wait() {} namespace deep { void f() {} } }
namespace gpu { struct Q { void drain() {} void go(); }; namespace { void hidden() {} } }
void wait_all() {}
namespace gpu { void wait_all(int) {} }
"""


@pytest.mark.parametrize(
    ("scope", "body", "expected"),
    [
        ("gpu", "wait();", ["gpu::wait"]),
        ("gpu::deep", "wait();", ["gpu::wait"]),
        ("tpu", "deep::f();", ["tpu::deep::f"]),
        ("gpu", "::cpu::wait();", ["cpu::wait"]),
        ("gpu", "hidden();", ["gpu::hidden"]),
        ("gpu", "declared();", []),
        ("gpu", "::wait();", []),
        ("gpu", "wait_all(1);", ["gpu::wait_all"]),
        ("cpu", "wait_all();", ["wait_all"]),
        ("gpu", "only_cpu();", ["cpu::only_cpu"]),
        ("other", "wait();", []),
        ("other", "deep::f();", []),
    ],
)
def test_the_innermost_namespace_decides(scope: str, body: str, expected: list[str]) -> None:
    opening = "".join(f"namespace {part} {{ " for part in scope.split("::"))
    closing = "}" * opening.count("{")
    project = project_of({"a.cu": f"{NAMESPACES}{opening}void step() {{ {body} }} {closing}\n"})
    assert _reached(project, "step") == expected


def test_methods_of_a_class_in_another_namespace() -> None:
    project = project_of({"a.cu": f"{NAMESPACES}namespace gpu {{ void Q::go() {{ drain(); }} }}\n"})
    assert _reached(project, "go") == ["gpu::Q::drain"]


def test_an_included_function_of_the_own_namespace_comes_before_one_of_another() -> None:
    project = project_of(
        {
            "a.cu": '#include "a.h"\nnamespace cpu { void wait() {} }\n'
            "namespace gpu { void step() { wait(); } }\n",
            "a.h": "#pragma once\nnamespace gpu { inline void wait() {} }\n",
        }
    )
    assert _reached(project, "step") == ["gpu::wait"]


def _reached(project: Project, name: str) -> list[str]:
    """The functions that the function of this name calls, with their namespaces."""
    nodes = project.graph.nodes
    caller = next(n for n in nodes if n.function.name == name)
    reached = (nodes[edge.callee].function for edge in project.graph.calls[caller.id])
    return ["::".join((*(part for part in f.scope if part), f.name)) for f in reached]
