"""Overrides that take the place of the one that launches."""

from __future__ import annotations

import pytest

from projects import project_of

CODE = """\
__global__ void k() {}
void rest() {}
struct Thread { void entry() { ENTRY } virtual void work() {} };
struct Solver : Thread { void work() override { k<<<1, 1>>>(); } };
struct Loader : Thread { void work() override { rest(); } };
"""


def on_path(entry: str, besides: str = "") -> bool:
    """Whether what the sibling of the launching override calls is on a launch path."""
    project = project_of({"a.cu": f"{CODE.replace('ENTRY', entry)}{besides}\n"})
    node = next(n for n in project.graph.nodes if n.function.name == "rest")
    return project.launch_paths.witness(node) is not None


@pytest.mark.parametrize("entry", ["work();", "this->work();", "int n = 1; work();"])
def test_one_object_runs_one_override(entry: str) -> None:
    assert not on_path(entry)


@pytest.mark.parametrize(
    ("entry", "besides"),
    [
        ("work(); k<<<1, 1>>>();", ""),
        ("work(); other->work();", ""),
        ("work();", "void all(Thread** t, int n) { for (int i = 0; i < n; ++i) t[i]->entry(); }"),
    ],
)
def test_several_may_run(entry: str, besides: str) -> None:
    code = "Thread* other; " if "other" in entry else ""
    text = CODE.replace("void entry()", f"{code}void entry()")
    project = project_of({"a.cu": f"{text.replace('ENTRY', entry)}{besides}\n"})
    node = next(n for n in project.graph.nodes if n.function.name == "rest")
    assert project.launch_paths.witness(node) is not None
