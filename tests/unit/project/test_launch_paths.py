"""Launch paths: who is on one, and the shortest way that shows it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cudalint.hostcode.launchpath import Witness
from cudalint.project.project import Project
from cudalint.settings.model import Settings
from projects import project_of

KERNEL = "__global__ void k(float* o) { *o = 1; }\n"


def witness(project: Project, name: str) -> Witness | None:
    node = next(node for node in project.graph.nodes if node.function.name == name)
    return project.launch_paths.witness(node)


def on_path(source: str, settings: Settings | None = None) -> set[str]:
    """The names of the functions of a file that are on a launch path."""
    project = project_of({"a.cu": KERNEL + source}, settings)
    nodes = project.graph.nodes
    return {n.function.name for n in nodes if project.launch_paths.witness(n) is not None}


def test_launchers_their_callers_and_all_that_these_call() -> None:
    source = """\
    void leaf() {}
    void aside() { leaf(); }
    void launcher(float* o) { k<<<1, 1>>>(o); }
    void caller(float* o) { aside(); launcher(o); }
    void top(float* o) { caller(o); }
    void alone() { leaf(); }
    """
    assert on_path(source) == {"leaf", "aside", "launcher", "caller", "top"}


@pytest.mark.parametrize(
    "body",
    [
        "k<<<1, 1>>>(o);",
        "auto f = k; f<<<1, 1>>>(o);",
        "auto body = [&] { k<<<1, 1>>>(o); }; body();",
        "if (o) { for (;;) k<<<1, 1>>>(o); }",
        "RUN(o);",
        "::cudaLaunchKernel((void*)k, 1, 1, nullptr, 0, 0);",
        "CHECK(cudaLaunchCooperativeKernel((void*)k, 1, 1, nullptr, 0, 0));",
        "cudaLaunchKernelEx(&config, k, o);",
        "cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, a, nullptr);",
        "cudaGraphLaunch(graph, s);",
        "ours::launch(f);",
        "engine->enqueue(o);",
    ],
)
def test_what_a_launch_is(body: str) -> None:
    macros = "#define RUN(o) k<<<1, 1>>>(o)\n#define CHECK(x) (x)\n"
    settings = Settings(launch_functions=("ours::launch", "enqueue"))
    assert on_path(f"{macros}void f(float* o) {{ {body} }}", settings) == {"f"}


@pytest.mark.parametrize(
    "body",
    [
        "// k<<<1, 1>>>(o);",
        'const char* s = "k<<<1, 1>>>(o)";',
        "auto g = [=] __device__ () { k<<<1, 1>>>(o); };",
        "other::launch(f);",
        "void cudaGraphLaunch(int);",
        "mock::cudaLaunchKernel(k);",
    ],
)
def test_what_no_launch_is(body: str) -> None:
    settings = Settings(launch_functions=("ours::launch",))
    assert on_path(f"void f(float* o) {{ {body} }}", settings) == set()


def test_nothing_is_reached_through_cold_functions() -> None:
    source = """\
    void helper() {}
    void init(float* o) { helper(); k<<<1, 1>>>(o); }
    void caller(float* o) { init(o); }
    void hot(float* o) { k<<<1, 1>>>(o); teardown(); }
    void below() {}
    void teardown() { below(); }
    """
    assert on_path(source) == {"hot"}


def test_a_mark_makes_a_function_cold_or_hot() -> None:
    source = """\
    // cudalint: cold
    void collect(float* o) { k<<<1, 1>>>(o); }
    void below() {}
    /* Called for each token.
       cudalint: hot */
    void load_next() { below(); }
    """
    assert on_path(source) == {"load_next", "below"}


def test_a_mark_on_the_declaration_in_a_header_counts() -> None:
    files = {
        "op.h": "struct Op {\n  // cudalint: cold\n  void collect(float* o);\n};\n",
        "op.cu": KERNEL + '#include "op.h"\nvoid Op::collect(float* o) { k<<<1, 1>>>(o); }\n',
    }
    assert witness(project_of(files), "collect") is None


def test_the_witness_is_the_shortest_way() -> None:
    source = """\
    void c(float* o) { k<<<1, 1>>>(o); }
    void b(float* o) { c(o); }
    void a(float* o) { b(o); c(o); }
    void wait() {}
    void far() { wait(); }
    void long_way(float* o) { far(); a(o); }
    void short_way(float* o) { wait(); c(o); }
    """
    project = project_of({"a.cu": KERNEL + source})
    found = witness(project, "a")
    assert found is not None
    assert [hop.callee for hop in found.down] == ["c"]
    found = witness(project, "wait")
    assert found is not None
    assert (found.root, [hop.callee for hop in found.below]) == ("short_way", ["wait"])
    assert found.launch is not None
    assert found.launch.kernel == "k"


def test_calls_across_files_go_by_declarations() -> None:
    files = {
        "util.h": "void finish();\nnamespace n { void done(); }\n",
        "util.cpp": '#include "util.h"\nvoid finish() {}\nnamespace n { void done() {} }\n',
        "other.cpp": "static void finish() {}\nvoid done() {}\nvoid unseen() {}\n",
        "a.cu": KERNEL
        + '#include "util.h"\n'
        + "void f(float* o) { k<<<1, 1>>>(o); finish(); n::done(); unseen(); }\n",
    }
    project = project_of(files)
    found = {
        (node.path, node.function.name)
        for node in project.graph.nodes
        if project.launch_paths.witness(node) is not None
    }
    assert found == {("a.cu", "f"), ("util.cpp", "finish"), ("util.cpp", "done")}


def test_a_macro_of_a_header_launches_where_it_is_used() -> None:
    files = {
        "run.h": "#define RUN(o) k<<<1, 1>>>(o)\n",
        "a.cu": KERNEL + '#include "run.h"\nvoid f(float* o) { RUN(o); }\nvoid g() {}\n',
        "b.cu": KERNEL + "void h(float* o) { RUN(o); }\n",
    }
    project = project_of(files)
    assert witness(project, "f") is not None
    assert witness(project, "g") is None
    assert witness(project, "h") is None


@st.composite
def graphs(draw: st.DrawFn) -> tuple[list[set[int]], set[int], set[int]]:
    """Who calls whom, who launches, who is cold."""
    count = draw(st.integers(1, 7))
    ids = st.integers(0, count - 1)
    calls = [draw(st.sets(ids, max_size=3)) for _ in range(count)]
    return calls, draw(st.sets(ids, max_size=2)), draw(st.sets(ids, max_size=2))


@settings(max_examples=60, deadline=None)
@given(graphs())
def test_membership_and_length_are_those_of_an_exhaustive_search(
    graph: tuple[list[set[int]], set[int], set[int]],
) -> None:
    calls, launchers, cold = graph
    source = "".join(
        ("// cudalint: cold\n" if n in cold else "")
        + f"void f{n}(float* o) {{ "
        + "".join(f"f{callee}(o); " for callee in sorted(called))
        + ("k<<<1, 1>>>(o); " if n in launchers else "")
        + "}\n"
        for n, called in enumerate(calls)
    )
    hot = [n for n in range(len(calls)) if n not in cold]
    far = len(calls) + 1
    down = {n: 0 if n in launchers else far for n in hot}
    for _ in calls:
        for n in hot:
            down[n] = min([down[n], *(down[c] + 1 for c in calls[n] if c not in cold)])
    below = {n: down[n] for n in hot if down[n] < far}
    for _ in calls:
        for n in list(below):
            for callee in calls[n] - cold:
                if callee not in below or (down[callee] >= far and below[n] + 1 < below[callee]):
                    below[callee] = below[n] + 1
    project = project_of({"a.cu": KERNEL + source})
    for n in range(len(calls)):
        found = witness(project, f"f{n}")
        assert (found is not None) == (n in below)
        if found is not None:
            assert len(found.down) + len(found.below) == below[n]
            assert found.launch is not None
