"""Lambdas that are functions of their own, and those that belong to the function around."""

from __future__ import annotations

import pytest

from projects import project_of

CODE = "__global__ void k() {}\nvoid heavy() { k<<<1, 1>>>(); }\nvoid light() { wait(); }\n"


def launchers(body: str) -> set[str]:
    """The functions on a launch path, of a module whose body this is."""
    project = project_of({"a.cu": f"{CODE}void module(M& m) {{ {body} }}\n"})
    nodes = project.graph.nodes
    return {n.function.name for n in nodes if project.launch_paths.witness(n) is not None}


@pytest.mark.parametrize(
    "body",
    [
        'm.def("a", [](int x) { heavy(); });\nm.def("b", [] { light(); });',
        'C(m, "C").def("a", [] { heavy(); }, 1)\n.def("b", [](C& c) { light(); });',
        'C(m, "C").def(py::init([] { heavy(); return 1; }))\n.def("b", [](C& c) { light(); });',
        'C(m, "C").def_property("a", [] { heavy(); }, [] { light(); });',
        'm.impl("a", [] { heavy(); });\nm.impl("b", [] { light(); });',
    ],
)
def test_what_is_bound_to_a_module_is_not_called_by_it(body: str) -> None:
    assert launchers(body) == {"heavy", "lambda in module"}


@pytest.mark.parametrize(
    "body",
    [
        'm.each("a", [] { heavy(); });\nm.each("b", [] { light(); });',
        "def([] { heavy(); });\ndef([] { light(); });",
        "init([] { heavy(); light(); });",
    ],
)
def test_what_is_passed_on_is_called(body: str) -> None:
    assert launchers(body) == {"heavy", "light", "module"}


LIGHT = "[&] { light(); }"


@pytest.mark.parametrize(
    "body",
    [
        f"auto never = {LIGHT};",
        f"auto never = {LIGHT}; // never()\n(void)never;",
        f"const std::function<void()> never = {LIGHT};",
        f"std::function<void()> never{{{LIGHT}}};",
        f"std::function<void()> never({LIGHT});",
        f"m.on_shutdown({LIGHT});",
        f"m.onShutdown(1, {LIGHT});",
        f"auto last = {LIGHT}; m.on_shutdown(last);",
        f"auto last = {LIGHT}; m.on_shutdown(std::move(last));",
        f"set_done_callback({LIGHT});",
        f"m.setCallback({LIGHT});",
        f"m.add_exit_hook({LIGHT});",
        f"registerThing(1, {LIGHT});",
        f"m.defer({LIGHT});",
        f"std::atexit({LIGHT});",
        "cudaLaunchHostFunc(s, [](void*) { light(); }, nullptr);",
        "CHECK(cudaLaunchHostFunc(s, (cudaHostFn_t)[](void*) { light(); }, nullptr));",
        "cudaStreamAddCallback(s, +[](void*) { light(); }, nullptr, 0);",
        f"m.push_back({LIGHT});",
    ],
)
def test_what_is_handed_away_or_never_called_is_not_called_here(body: str) -> None:
    assert launchers(f"heavy(); {body}") == {"heavy", "module"}


@pytest.mark.parametrize(
    "body",
    [
        f"auto now = {LIGHT}; now();",
        f"auto now = {LIGHT}; each(now);",
        f"auto now = {LIGHT}; m.on_shutdown(now); now();",
        f"auto now = {LIGHT}; for (;;) {{ auto then = [&] {{ now(); }}; then(); }}",
        f"auto now = {LIGHT}; CALL_NOW();",
        "int done = [&] { light(); return 1; }();",
        f"std::function<void()> now({LIGHT}); now();",
        f"std::function<void()> now; now = {LIGHT}; now();",
        f"m.push_back({LIGHT}); for (auto& now : m) now();",
        f"std::vector<F> all; all.push_back({LIGHT}); for (auto& now : all) now();",
        f"on_device(0, {LIGHT});",
        f"m.onEach({LIGHT});",
        f"auto guard = defer({LIGHT});",
        f"for_each(a, b, {LIGHT});",
        f"m.parallel_for(1, {LIGHT});",
        f"with_stream(s, {LIGHT});",
        f"m.run({LIGHT});",
    ],
)
def test_what_is_called_here_or_passed_on_counts_here(body: str) -> None:
    macro = "#define CALL_NOW() now()\n"
    project = project_of({"a.cu": f"{macro}{CODE}void module(M& m) {{ heavy(); {body} }}\n"})
    nodes = project.graph.nodes
    found = {n.function.name for n in nodes if project.launch_paths.witness(n) is not None}
    assert found == {"heavy", "light", "module"}
