"""What a change on the disk matters to a run that was, and what does not."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import lint, write_files
from cudalint.runner import Request
from cudalint.watching.scope import Scope, scope_of
from cudalint.watching.wait import Watch, WatchError

FILES = {
    "cudalint.toml": 'extend-exclude = ["out"]\n',
    ".gitignore": "made/\n",
    "src/a.cu": "int a;\n",
    "src/tile.cuh": "#pragma once\n",
    "other/b.cu": "int b;\n",
    "gb10/common/c.cu": "int c;\n",
    "gb10/HARDWARE.toml": '[hardware]\narch = "sm_121"\n',
    "out/x.cu": "int x;\n",
    "made/y.cu": "int y;\n",
    "notes.txt": "",
    "base.json": '{"version": 1, "findings": []}',
    "list.txt": "src/a.cu\n",
}


def scope(root: Path, *paths: str, **more: object) -> Scope:
    """The scope of a run over `paths`, the whole of `root` without."""
    request = Request(paths or (".",), root, **more)
    return scope_of(request, ("list.txt",)).after(lint(root, *request.paths, **more))


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    write_files(tmp_path, {**FILES})
    return tmp_path


def edit(path: str, text: str) -> Callable[[Path], str]:
    def do(root: Path) -> str:
        write_files(root, {path: text})
        return path

    return do


def again(path: str) -> Callable[[Path], str]:
    return edit(path, FILES[path])


def gone(path: str) -> Callable[[Path], str]:
    def do(root: Path) -> str:
        (root / path).unlink()
        return path

    return do


def moved(old: str, new: str) -> Callable[[Path], str]:
    def do(root: Path) -> str:
        (root / old).rename(root / new)
        return new

    return do


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (edit("src/a.cu", "int other;\n"), True),
        (edit("src/tile.cuh", "\n"), True),
        (gone("src/a.cu"), True),
        (edit("src/new.cu", "int n;\n"), True),
        (edit("gb10/HARDWARE.toml", ""), True),
        (edit("gb10/qwen/fp8/KERNEL.toml", ""), True),
        (edit("cudalint.toml", ""), True),
        (gone("cudalint.toml"), True),
        (edit("list.txt", "other/b.cu\n"), True),
        (moved("made", "found"), True),
        (again("src/a.cu"), False),
        (edit("notes.txt", "changed"), False),
        (edit("out/x.cu", "int other;\n"), False),
        (edit("out/new.cu", "int n;\n"), False),
        (edit("made/new.cu", "int n;\n"), False),
        (edit("src/cudalint.toml", ""), False),
        (edit("src/a.cu.swp", "int n;\n"), False),
        (moved("notes.txt", "notes"), False),
    ],
)
def test_what_matters(change: Callable[[Path], str], expected: bool, tree: Path) -> None:
    before = scope(tree)
    path = change(tree)
    assert before.matters(str(tree / path)) is expected


def test_a_folder_whose_files_changed_with_it(tree: Path) -> None:
    before = scope(tree)
    (tree / "src").rename(tree / "out" / "src")
    assert before.matters(str(tree / "src"))
    assert not before.matters(str(tree / "out"))


def test_only_what_was_asked_for_and_read(tree: Path) -> None:
    """With settings the rest of the project was read too, and matters; new files there do not."""
    before = scope(tree, "src", "other/gone.cu", baseline="base.json")
    write_files(tree, {"other/b.cu": "int other;\n", "other/new.cu": "int n;\n"})
    assert before.matters(str(tree / "other/b.cu"))
    assert not before.matters(str(tree / "other/new.cu"))
    write_files(tree, {"other/gone.cu": "int g;\n", "base.json": "{}"})
    assert before.matters(str(tree / "other/gone.cu"))
    assert before.matters(str(tree / "base.json"))


def test_settings_nearer_than_those_of_the_run(tree: Path) -> None:
    before = scope(tree, "src")
    write_files(tree, {"src/cudalint.toml": "", "other/cudalint.toml": ""})
    assert before.matters(str(tree / "src/cudalint.toml"))
    assert not before.matters(str(tree / "other/cudalint.toml"))
    for more in ({"isolated": True}, {"config": "cudalint.toml"}):
        assert not scope(tree, "src", **more).matters(str(tree / "src/pyproject.toml"))


def test_after_a_run_that_came_to_nothing_any_source_matters(tree: Path) -> None:
    before = scope_of(Request((".",), tree))
    assert before.matters(str(tree / "src/a.cu"))
    assert not before.matters(str(tree / "notes.txt"))


def test_files_behind_links(tree: Path) -> None:
    (tree / "src" / "linked.cu").symlink_to("../made/y.cu")
    before = scope(tree)
    write_files(tree, {"made/y.cu": "int other;\n"})
    assert before.matters(str(tree / "made/y.cu"))


def test_what_changed_while_nobody_looked(tree: Path) -> None:
    before = scope(tree)
    assert not before.has_changed()
    write_files(tree, {"gb10/common/c.cu": "int other;\n"})
    assert before.has_changed()


def test_the_folders_to_watch(tree: Path) -> None:
    assert scope(tree).folders() == (str(tree),)
    request = Request(("src/a.cu", "other"), tree, isolated=True)
    before = scope_of(request).after(lint(tree, *request.paths, isolated=True))
    assert before.folders() == (str(tree / "other"), str(tree / "src"))
    linked = tree / "link"
    linked.symlink_to("other")
    asked = scope_of(Request(("link", "no/such/folder"), tree, isolated=True))
    assert asked.folders() == (os.path.realpath(linked),)


def test_nothing_to_watch_is_an_error(tmp_path: Path) -> None:
    nothing = scope_of(Request(("no/such/folder",), tmp_path, isolated=True))
    with pytest.raises(WatchError, match="no folder of theirs is there"):
        Watch().wait(nothing)
