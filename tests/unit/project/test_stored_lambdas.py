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
