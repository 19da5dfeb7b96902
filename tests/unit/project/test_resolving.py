"""Which functions a call may mean."""

from __future__ import annotations

import pytest

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
