"""Functions that are defined with their namespace's name before their own."""

from __future__ import annotations

from projects import project_of


def test_a_function_of_a_namespace_is_no_method() -> None:
    files = {
        "a.h": "namespace gpu::deep { void wait(); struct Queue { void drain(); }; }\n",
        "a.cpp": '#include "a.h"\nvoid gpu::deep::wait() {}\nvoid gpu::deep::Queue::drain() {}\n'
        "void Foreign::go() {}\n",
    }
    functions = project_of(files).models["a.cpp"].functions
    assert [(f.name, f.owner, f.scope) for f in functions] == [
        ("wait", "", ("gpu", "deep")),
        ("drain", "Queue", ("gpu", "deep", "Queue")),
        ("go", "Foreign", ("Foreign",)),
    ]


def test_a_name_of_a_namespace_and_of_a_class_stays_a_class() -> None:
    files = {
        "a.cpp": "namespace Op { void f(); }\nnamespace x { struct Op { void go(); }; }\n"
        "void x::Op::go() {}\n"
    }
    assert project_of(files).models["a.cpp"].functions[-1].owner == "Op"
