"""Quoted includes, resolved to the files of a run."""

from __future__ import annotations

import pytest

from cudalint.project.includes import Includes
from cudalint.project.project import Project
from cudalint.tree.model import Hardware, KernelTree, Layer, Target
from projects import project_of


def includes_of(files: dict[str, str]) -> Includes:
    return project_of(files).includes


@pytest.mark.parametrize(
    ("path", "name", "expected"),
    [
        ("src/a.cu", "b.cuh", "src/b.cuh"),
        ("src/a.cu", "../include/c.cuh", "include/c.cuh"),
        ("src/deep/d.cu", "c.cuh", "include/c.cuh"),
        ("src/deep/d.cu", "include/c.cuh", "include/c.cuh"),
        ("src/a.cu", "twice.cuh", None),
        ("src/a.cu", "../../outside.cuh", None),
        ("src/a.cu", "/include/c.cuh", None),
        ("src/a.cu", "absent.cuh", None),
    ],
)
def test_a_name_is_beside_the_file_or_the_only_one(
    path: str, name: str, expected: str | None
) -> None:
    files = {
        "src/a.cu": "",
        "src/b.cuh": "",
        "src/deep/d.cu": "",
        "include/c.cuh": "",
        "x/twice.cuh": "",
        "y/twice.cuh": "",
        path: f'#include "{name}"\n',
    }
    project = project_of(files)
    assert project.includes.resolve(path, project.models[path].includes[0]) == expected


def test_angle_brackets_with_a_folder_name_the_projects_own_headers() -> None:
    files = {
        "a.cu": "#include <engine/queue.h>\n#include <cuda/std/queue.h>\n"
        "#include <other/queue.h>\n",
        "include/engine/queue.h": "#include <engine/base.h>\n",
        "include/engine/base.h": "",
        "x/other/queue.h": "",
        "y/other/queue.h": "",
    }
    closure = project_of(files).includes.closure("a.cu")
    assert closure == ("include/engine/queue.h", "include/engine/base.h")


def test_angle_brackets_name_no_file_of_the_run() -> None:
    project = project_of({"a.cu": "#include <b.cuh>\n", "b.cuh": ""})
    assert project.includes.closure("a.cu") == ()


def test_the_layers_of_a_target_are_searched_the_leaf_first() -> None:
    files = {
        "t/hw/common/x.cu": '#include "tile.cuh"\n',
        "t/hw/m/q/y.cu": '#include "base.cuh"\n#include "tile.cuh"\n',
        "t/hw/m/q/tile.cuh": "",
        "t/hw/common/base.cuh": "",
        "other/base.cuh": "",
        "other/tile.cuh": "",
    }
    leaf = Layer("t/hw/m/q", "leaf", {"y": "t/hw/m/q/y.cu"}, {"tile.cuh": "t/hw/m/q/tile.cuh"})
    common = Layer("t/hw/common", "common", {"x": "t/hw/common/x.cu"}, {})
    target = Target(
        name="hw/m/q",
        hardware=Hardware("t/hw", "hw", None, None, ()),
        leaf="m/q",
        layers=(leaf, common),
        sources={**leaf.sources, **common.sources},
        headers=leaf.headers,
        modules={},
        flags=(),
    )
    tree = KernelTree("t", (target.hardware,), (target,))
    project = Project(project_of(files).models, (tree,))
    assert project.includes.closure("t/hw/m/q/y.cu") == (
        "t/hw/common/base.cuh",
        "t/hw/m/q/tile.cuh",
    )
    assert project.includes.closure("t/hw/common/x.cu") == ("t/hw/m/q/tile.cuh",)


def test_closures_follow_circles_once_and_leave_the_file_itself_out() -> None:
    includes = includes_of(
        {
            "a.cu": '#include "b.cuh"\n',
            "b.cuh": '#include "c.cuh"\n#include "a.cu"\n',
            "c.cuh": '#include "b.cuh"\n',
        }
    )
    assert includes.closure("a.cu") == ("b.cuh", "c.cuh")
    assert includes.closure("c.cuh") == ("b.cuh", "a.cu")


def test_includers_are_all_that_reach_a_file() -> None:
    includes = includes_of(
        {
            "a.cu": '#include "b.cuh"\n',
            "b.cuh": '#include "c.cuh"\n',
            "c.cuh": "",
            "d.cu": "",
        }
    )
    assert includes.includers("c.cuh") == ("a.cu", "b.cuh")
    assert includes.includers("d.cu") == ()
