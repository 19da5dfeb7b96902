"""Which of several overloads a call means, where one of them does something to a launch path."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cudalint.project.project import Project
from cudalint.semantics import overloads, sandbox
from projects import context_of, project_of

SYNC = "{ cudaDeviceSynchronize(); }"


def called(project: Project, caller: str = "go") -> list[tuple[int, str, bool]]:
    """The functions that `caller` calls: line in their file, file, and whether that is certain."""
    nodes = project.graph.nodes
    node = next(n for n in nodes if n.function.name == caller)
    found = []
    for edge in project.graph.calls[node.id]:
        callee = nodes[edge.callee]
        data = project.sources[callee.path].data
        line = data.count(b"\n", 0, callee.function.name_span.start) + 1
        found.append((line, callee.path, edge.certain))
    return found


def lines(code: str, **files: str) -> list[int] | str:
    """The lines of the functions that `go` calls, or "each" where that is uncertain."""
    found = called(project_of({"a.cu": code.replace("SYNC", SYNC), **files}))
    if not all(certain for _, _, certain in found):
        return "each"
    return [line for line, _, _ in found]


NUMBERS = """\
void f(int) SYNC
void f(float) {}
void f(const char*) {}
"""
POINTERS = """\
void f(const float* p) SYNC
void f(float* p) {}
void f(void* p) {}
"""
REFERENCES = """\
struct T { int n; };
void f(const T& t) SYNC
void f(T&& t) {}
T make();
"""
ENUMS = """\
enum class Mode { a }; enum Plain { b };
void f(Mode) SYNC
void f(int) {}
"""
DERIVED = """\
struct Base { virtual ~Base(); }; struct Mid : Base {}; struct Leaf : Mid {}; struct Other {};
void f(const Base&) SYNC
void f(const Mid&) {}
void f(Other) {}
"""
TEMPLATES = """\
template <typename T> void f(T) SYNC
void f(int) {}
template <typename T> void f(T*) {}
template <> void f<char>(char*) {}
"""
DEFAULTS = """\
void f(int a, float b = 0) SYNC
void f(float a, int b = 0) {}
void f(float a, float b) {}
"""
NAMESPACES = """\
namespace n { struct Q {}; enum class E { e };
void f(Q) SYNC
void f(E) {}
void f(int) {} }
void f(double) SYNC
"""
MEMBERS = """\
struct S {
  void f() SYNC
  void f() const {}
  void g(int) SYNC
  void g(float*) {}
  static void h(int) SYNC
  static void h(long) {}
};
"""
BOX = """\
template <typename T> struct Box {
  void put(T) SYNC
  void put(T*, int n = 0) {}
};
"""


@pytest.mark.parametrize(
    ("before", "parameters", "body", "expected"),
    [
        (NUMBERS, "int i", "f(i);", [1]),
        (NUMBERS, "float x", "f(x);", [2]),
        (NUMBERS, "short i", "f(i + 1);", [1]),
        (NUMBERS, "float x", "f(x * 2);", [2]),
        (NUMBERS, "double x", "f((float)x);", [2]),
        (NUMBERS, "", 'f("x");', [3]),
        (NUMBERS, "float x", "auto l = [&] { f(x); }; l();", [2]),
        (POINTERS, "const float* p", "f(p);", [1]),
        (POINTERS, "float* p", "f(p);", [2]),
        (POINTERS, "float* p", "f(p + 4);", [2]),
        (POINTERS, "int* p", "f(p);", [3]),
        (REFERENCES, "T t", "f(t);", [2]),
        (REFERENCES, "", "f(make());", [3]),
        (REFERENCES, "T& t", "f(static_cast<T&&>(t));", [3]),
        (ENUMS, "", "f(Mode::a);", [2]),
        (ENUMS, "", "f(b);", [3]),
        (ENUMS, "Mode m", "f((int)m);", [3]),
        (DERIVED, "Base& x", "f(x);", [2]),
        (DERIVED, "Leaf x", "f(x);", [3]),
        (DERIVED, "Leaf* x", "f(*x);", [3]),
        (DERIVED, "Other x", "f(x);", [4]),
        (TEMPLATES, "float x", "f(x);", [1]),
        (TEMPLATES, "int x", "f(x);", [2]),
        (TEMPLATES, "int x", "f<>(x);", [1]),
        (TEMPLATES, "float* x", "f(x);", [3]),
        (TEMPLATES, "char* x", "f(x);", [4]),
        (DEFAULTS, "int a", "f(a);", [1]),
        (DEFAULTS, "float a", "f(a);", [2]),
        (DEFAULTS, "float a", "f(a, a);", [3]),
        (NAMESPACES, "n::Q q", "n::f(q);", [2]),
        (NAMESPACES, "n::E e", "n::f(e);", [3]),
        (NAMESPACES, "int i", "using namespace n; n::f(i);", [4]),
        (MEMBERS, "S s", "s.f();", [2]),
        (MEMBERS, "const S& s", "s.f();", [3]),
        (MEMBERS, "const S* s", "s->f();", [3]),
        (MEMBERS, "S& s, char c", "s.g(c + 1);", [4]),
        (MEMBERS, "S& s, float* p", "s.g(p + 1);", [5]),
        (MEMBERS, "long n", "S::h(n);", [7]),
        (BOX, "Box<float>& b", "b.put(1.f);", [2]),
        (BOX, "Box<float>& b, float x[4]", "b.put(&x[1]);", [3]),
    ],
)
def test_types_decide(before: str, parameters: str, body: str, expected: list[int]) -> None:
    assert lines(f"{before}void go({parameters}) {{ {body} }}\n") == expected


CHECKS = """\
#define CHECK(x) do { (void)(x); } while (0)
#define CALL(p) f(p)
#define TWICE(a, b) f(a); f(b)
int f(int) SYNC
int f(float) { return 0; }
"""


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("CHECK(f(x));", [5]),
        ("CHECK(f(n));", [4]),
        ("UNKNOWN_CHECK(f(x));", [5]),
        ("CALL(x);", [5]),
        ("CALL(n);", [4]),
        ("TWICE(x, x);", [5, 5]),
        ("TWICE(x, n);", "each"),
    ],
)
def test_calls_in_and_out_of_macros(body: str, expected: list[int] | str) -> None:
    assert lines(f"{CHECKS}void go(float x, int n) {{ {body} }}\n") == expected


@pytest.mark.parametrize(
    ("before", "body"),
    [
        (NUMBERS, "f(unknown);"),
        (NUMBERS, "f(std::max(1, 2));"),
        (NUMBERS, "f(UNKNOWN(1));"),
        ("void f(int) SYNC\nvoid f(at::Tensor) {}\n", "f(1.5);"),
        ("void f(int) SYNC\nvoid f(std::string) {}\n", 'f("x"[0]);'),
    ],
)
def test_what_depends_on_unknown_types_stays_uncertain(before: str, body: str) -> None:
    assert lines(f"{before}void go() {{ {body} }}\n") == "each"


def test_a_template_that_calls_by_its_own_parameter_stays_uncertain() -> None:
    code = f"{NUMBERS}template <typename T> void go(T t) {{ f(t); f(2.f); }}\n"
    found = called(project_of({"a.cu": code.replace("SYNC", SYNC)}))
    assert [(line, certain) for line, _, certain in found] == [
        (1, False),
        (2, False),
        (3, False),
        (2, True),
    ]


def test_an_override_may_be_meant_wherever_its_base_is() -> None:
    code = """\
struct Base { virtual void run(int) {}
  virtual void run(float*) SYNC
};
struct Derived : Base { void run(int) override {}
  void run(float*) override SYNC
};
void go(Base& b, float* p) { b.run(p + 1); }
"""
    assert lines(code) == [2, 5]


FILES = {
    "f.h": "#pragma once\nvoid f(int);\nvoid f(const float*);\n",
    "f.cpp": f'#include "f.h"\nvoid f(int) {SYNC}\nvoid f(const float*) {{}}\n',
}


def test_definitions_in_another_file_are_told_apart() -> None:
    head = '#include "f.h"\n'
    for argument, line in (("n + 1", 2), ("p + 1", 3)):
        code = f"{head}void go(int n, const float* p) {{ f({argument}); }}\n"
        assert called(project_of({**FILES, "a.cu": code})) == [(line, "f.cpp", True)]


def test_few_units_are_kept_and_the_answers_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(overloads, "_KEPT", 1)
    files = dict(FILES)
    for number in range(4):
        body = "f(n + 1); f(p + 1);"
        files[f"a{number}.cu"] = (
            f'#include "f.h"\nvoid go{number}(int n, const float* p) {{ {body} }}\n'
        )
    project = project_of(files)
    expected = [(2, "f.cpp", True), (3, "f.cpp", True)]
    assert [called(project, f"go{number}") for number in range(4)] == [expected] * 4
    assert len(project.overloads._units) == 1


ARGUMENTS = {
    "int": "int",
    "float": "float",
    "double": "double",
    "Mode": "Mode",
    "const float*": "const float*",
    "short": "int",
    "float*": "const float*",
}


@given(
    st.permutations(sorted(set(ARGUMENTS.values()))),
    st.sampled_from(sorted(ARGUMENTS)),
    st.sampled_from(sorted(set(ARGUMENTS.values()))),
)
@settings(max_examples=30)
def test_what_a_call_does_is_what_the_meant_overload_does_in_any_order(
    order: list[str], given_type: str, syncing: str
) -> None:
    code = "enum class Mode { a };\n"
    code += "".join(f"void f({t}) {SYNC if t == syncing else '{}'}\n" for t in order)
    code += f"void go({given_type} x) {{ f(x); }}\n"
    found = lines(code)
    assert not isinstance(found, str)
    meant = [order[line - 2] for line in found]
    right = ARGUMENTS[given_type]
    assert right in meant
    assert {kind == syncing for kind in meant} == {right == syncing}


def test_a_header_that_does_not_stand_alone_is_read_as_its_first_includer_sees_it() -> None:
    code = f"void f(Real) {SYNC}\nvoid f(Real*) {{}}\ninline void go(Real* r) {{ f(r + 1); }}\n"
    files = {"a.h": code, "a.cu": 'typedef float Real;\n#include "a.h"\n'}
    assert called(project_of(files)) == [(2, "a.h", True)]
    assert {certain for _, _, certain in called(project_of({"a.h": code}))} == {False}


def test_a_call_of_an_overload_without_a_body_calls_none_of_the_others() -> None:
    code = "void f(float*) SYNC\nvoid f(long) {}\nvoid f(int);\nvoid go(int n) { f(n + 1); }\n"
    assert lines(code) == []


def test_defaults_that_a_class_does_not_state_are_none() -> None:
    header = "#pragma once\nstruct S { void f(Tensor); void f(Tensor, Tensor, int DEFAULT); };\n"
    code = f'#include "s.h"\nvoid S::f(Tensor) {SYNC}\nvoid S::f(Tensor, Tensor, int) {{}}\n'
    code += "void go(S& s, Tensor t) { s.f(CALL); }\n"

    def found(call: str, default: str, head: str = header) -> list[tuple[int, bool]]:
        files = {"a.cu": code.replace("CALL", call), "s.h": head.replace("DEFAULT", default)}
        return [(line, certain) for line, _, certain in called(project_of(files))]

    assert found("t", "") == found("t", "= 0") == [(2, True)]
    assert found("t, t", "= 0") == [(3, True)]
    assert found("t", "", "") == [(2, False), (3, False)]


def test_specialisations_of_a_class_are_no_overloads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "parse", None)
    code = """\
template <int N> struct C { void f(float* p) {} };
template <> struct C<1> { void f(float* p) SYNC };
void go(C<1>& c, float* p) { c.f(p); }
"""
    assert lines(code) == [1, 2]


def test_the_bytes_before_includes_do_not_matter() -> None:
    code = f"// ü\n#include <vector>\n#include <a/very/long/name/that/goes.h>\n{NUMBERS}"
    assert lines(f"{code}void go(float x) {{ f(x); }}\n") == [5]


def test_nothing_is_parsed_where_the_overloads_do_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("libclang was asked")

    monkeypatch.setattr(sandbox, "parse", refuse)
    same = "void f(int) SYNC\nvoid f(float) SYNC\n"
    apart = "struct A { void f(int) SYNC };\nstruct B { void f(float) {} };\n"
    arity = "void f(int) SYNC\nvoid f(int, int) {}\n"
    assert lines(f"{same}void go(float x) {{ f(x); }}\n") == [1, 2]
    assert lines("void f(int) {}\nvoid f(float) {}\nvoid go(float x) { f(x); }\n") == [1, 2]
    assert lines(f"{apart}void go(A& a) {{ a.f(1); }}\n") == [1]
    assert lines(f"{arity}void go() {{ f(1); }}\n") == [1]
    with pytest.raises(AssertionError, match="libclang was asked"):
        lines(f"{NUMBERS}void go(float x) {{ f(x); }}\n")


PATH = """\
void f(int) SYNC
void f(float) {}
void step(cudaStream_t s, ARGUMENT) { k<<<1, 1, 0, s>>>(); f(x); }
"""


@pytest.mark.parametrize(
    ("argument", "expected"),
    [("int x", ["high"]), ("float x", []), ("Unknown x", ["medium"])],
)
def test_a_finding_on_an_uncertain_path_is_less_sure(argument: str, expected: list[str]) -> None:
    from cudalint.registry import all_rules

    context = context_of({"a.cu": PATH.replace("SYNC", SYNC).replace("ARGUMENT", argument)})
    (rule,) = (rule for rule in all_rules() if rule.code == "CU301")
    findings = list(rule().check(context.project, context, rule.options()))  # type: ignore[attr-defined]
    assert [finding.confidence.value for finding in findings] == expected
    said = "may call" if expected == ["medium"] else "calls"
    for finding in findings:
        assert f"{said} 'f'" in [step.label for step in finding.flow]


def test_the_graph_says_that_a_call_may_mean_another_overload() -> None:
    from cudalint.hostcode.explanation import Explanations
    from cudalint.reporters.graph.words import how

    code = PATH.replace("SYNC", SYNC)
    for argument, said in (("int x", "call"), ("Unknown x", "call, or another overload")):
        project = project_of({"a.cu": code.replace("ARGUMENT", argument)})
        hops = [e.chains[0].below[0] for e in Explanations(project, 1).of("f") if e.chains]
        assert {how(hop) for hop in hops} == {said}
        assert {hop.certain for hop in hops} == {said == "call"}


def test_a_certain_way_goes_before_a_shorter_uncertain_one() -> None:
    code = f"""\
void low() {SYNC}
void f(int) {{ low(); }}
void f(float) {{}}
void a() {{ low(); }}
void b() {{ a(); }}
void step(cudaStream_t s, Unknown x) {{ k<<<1, 1, 0, s>>>(); f(x); b(); }}
"""
    project = project_of({"a.cu": code})
    low = next(node for node in project.graph.nodes if node.function.name == "low")
    witness = project.launch_paths.witness(low)
    assert witness is not None
    assert [hop.callee for hop in witness.below] == ["b", "a", "low"]
    assert witness.certain


def test_without_libclang_each_overload_may_be_meant_and_the_run_says_so() -> None:
    script = """\
from clang.cindex import Config
from projects import context_of
Config.set_library_file("/nowhere/libclang.so")
context = context_of({"a.cu": %r})
node = next(n for n in context.project.graph.nodes if n.function.name == "go")
print([edge.certain for edge in context.project.graph.calls[node.id]], context.types_failure)
"""
    code = f"{NUMBERS}void go(float x) {{ f(x); }}\n".replace("SYNC", SYNC)
    done = subprocess.run(
        [sys.executable, "-c", script % code],
        capture_output=True,
        text=True,
        check=False,
        cwd="tests",
    )
    assert done.stdout.startswith("[False, False] "), done.stderr
    assert "/nowhere/libclang.so" in done.stdout
