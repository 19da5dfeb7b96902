"""Host programs shaped like an inference engine: who is on a launch path, function by function.

Each folder of fixtures/engine_shapes is a program; the first two lines of its
main.cu say which functions are on a launch path, and which are on none.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from cudalint.hostcode.chain import qualified
from projects import project_of

SHAPES = Path(__file__).parents[2] / "fixtures" / "engine_shapes"


def said(line: str, beginning: str) -> set[str]:
    """The names in a line of the program's head."""
    assert line.startswith(beginning)
    names = line.removeprefix(beginning).split(", ")
    return set() if names == ["nothing"] else set(names)


@pytest.mark.parametrize("shape", sorted(folder.name for folder in SHAPES.iterdir()))
def test_who_is_on_a_launch_path(shape: str) -> None:
    folder = SHAPES / shape
    files = {file.name: file.read_text(encoding="utf-8") for file in folder.iterdir()}
    on_path, on_none = files["main.cu"].splitlines()[:2]
    project = project_of(files)
    paths = project.launch_paths
    found = {qualified(n.function) for n in project.graph.nodes if paths.witness(n) is not None}
    others = {qualified(n.function) for n in project.graph.nodes if paths.witness(n) is None}
    assert found == said(on_path, "// On a launch path: ")
    assert others - found == said(on_none, "// On none: ")


def test_there_are_many() -> None:
    assert len(list(SHAPES.iterdir())) >= 30
