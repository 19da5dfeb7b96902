"""Which database stands for a file, and what becomes of one that can't be used."""

from __future__ import annotations

import json
import os
import posixpath
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import write_files
from cudalint.compiledb import find
from cudalint.compiledb.find import nearest
from cudalint.compiledb.stage import CompileCommands, compile_commands, incomplete
from cudalint.finding import Level
from cudalint.settings.origin import SettingsError
from cudalint.tree.read import read_trees

NAME = "compile_commands.json"


def entries(root: Path, *files: str, words: tuple[str, ...] = ()) -> str:
    found = [
        {"directory": str(root), "file": file, "arguments": ["g++", *words, f"-DFOR={file[0]}"]}
        for file in files
    ]
    return json.dumps(found)


def commands(
    root: Path, *paths: str, setting: str = "auto", option: str | None = None, cwd: str = "."
) -> CompileCommands:
    return compile_commands(paths, root, (), setting, option, root / cwd)


def test_the_nearest_folder_counts_and_its_own_file_before_that_of_build(tmp_path: Path) -> None:
    empty = "[]"
    write_files(
        tmp_path,
        {
            f"build/{NAME}": empty,
            f"a/{NAME}": empty,
            f"a/build/{NAME}": empty,
            f"a/b/build/{NAME}": empty,
        },
    )
    paths = ["x.cu", "c/x.cu", "a/x.cu", "a/b/x.cu", "a/b/c/x.cu", "a/build/x.cu", "../x.cu"]
    assert nearest(paths, str(tmp_path)) == {
        "x.cu": f"build/{NAME}",
        "c/x.cu": f"build/{NAME}",
        "a/x.cu": f"a/{NAME}",
        "a/b/x.cu": f"a/b/build/{NAME}",
        "a/b/c/x.cu": f"a/b/build/{NAME}",
        "a/build/x.cu": f"a/build/{NAME}",
    }


@given(st.sets(st.sampled_from(["", "a", "a/b", "build", "a/build", "a/b/build"])))
def test_each_file_has_the_database_of_the_first_folder_upward_that_has_one(
    tmp_path_factory: pytest.TempPathFactory, folders: set[str]
) -> None:
    root = tmp_path_factory.mktemp("root")
    write_files(root, {posixpath.join(folder, NAME): "[]" for folder in folders})
    found = nearest(["a/b/x.cu"], str(root)).get("a/b/x.cu")
    upward = ["a/b", "a/b/build", "a", "a/build", "", "build"]
    expected = next((folder for folder in upward if folder in folders), None)
    assert found == (None if expected is None else posixpath.join(expected, NAME))


def test_a_named_database_serves_all_files_and_may_be_a_folder(tmp_path: Path) -> None:
    files = {f"out/{NAME}": entries(tmp_path, "a.cu", "s/b.cu"), f"s/{NAME}": "[]"}
    write_files(tmp_path, files)
    expected = {"a.cu", "s/b.cu"}
    assert commands(tmp_path, "a.cu", "s/b.cu", "c.cu", setting="out").by_path.keys() == expected
    named = commands(tmp_path, "a.cu", "s/b.cu", setting=f"./out/{NAME}")
    assert named.by_path.keys() == expected
    given = commands(tmp_path, "a.cu", "s/b.cu", setting="never", option=f"../out/{NAME}", cwd="s")
    assert given.by_path.keys() == expected
    assert commands(tmp_path, "a.cu", setting="out", option="never").by_path == {}
    assert commands(tmp_path, "s/b.cu", setting="out", option="auto").by_path == {}


def test_the_command_line_may_name_one_outside_and_settings_may_not(tmp_path: Path) -> None:
    root = tmp_path / "root"
    write_files(tmp_path, {"root/a.cu": "", f"out/{NAME}": entries(root, "a.cu")})
    assert commands(root, "a.cu", option="../out").by_path.keys() == {"a.cu"}
    with pytest.raises(SettingsError) as raised:
        commands(root, "a.cu", setting="../out")
    assert str(raised.value) == (
        f"compile-commands: ../out/{NAME}: it is outside the project root; "
        "name it with --compile-commands"
    )


def test_no_link_is_followed_out_of_the_root(tmp_path: Path) -> None:
    root = tmp_path / "root"
    write_files(tmp_path, {"root/a.cu": "", f"out/{NAME}": entries(root, "a.cu")})
    (root / NAME).symlink_to(tmp_path / "out" / NAME)
    found = commands(root, "a.cu")
    assert found.by_path == {}
    assert [(note.id, note.level) for note in found.notifications] == [
        ("compile-commands-unusable", Level.WARNING)
    ]
    assert found.notifications[0].message == (
        f"{NAME}: it is outside the project root; it is left out: mend it, or say "
        "--compile-commands never"
    )
    (root / NAME).unlink()
    (root / "build").mkdir()
    (root / "build" / NAME).write_text(entries(root, "a.cu"))
    (root / NAME).symlink_to(f"build/{NAME}")
    assert commands(root, "a.cu").by_path.keys() == {"a.cu"}


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("[", ":1:2: the JSON ends too early"),
        (b"[\xff]", ": not UTF-8 (byte 0xff at offset 1)"),
        (None, ": a folder, not a regular file"),
    ],
)
def test_one_that_is_found_and_can_not_be_used_costs_one_warning(
    tmp_path: Path, content: str | bytes | None, problem: str
) -> None:
    if content is None:
        (tmp_path / NAME).mkdir()
    else:
        write_files(tmp_path, {NAME: content})
    write_files(tmp_path, {f"s/{NAME}": entries(tmp_path, "s/b.cu")})
    found = commands(tmp_path, "a.cu", "s/b.cu")
    assert found.by_path.keys() == {"s/b.cu"}
    (note,) = found.notifications
    assert note.message.startswith(f"{NAME}{problem}; it is left out")


@pytest.mark.parametrize(
    ("setting", "problem"),
    [
        ("gone.json", "gone.json: No such file or directory"),
        ("bad.json", "bad.json:1:1: the JSON ends too early"),
        ("a\0b", "a NUL byte is in no file's name"),
    ],
)
def test_one_that_is_named_and_can_not_be_used_is_an_error(
    tmp_path: Path, setting: str, problem: str
) -> None:
    write_files(tmp_path, {"bad.json": ""})
    with pytest.raises(SettingsError) as raised:
        commands(tmp_path, "a.cu", setting=setting)
    assert str(raised.value) == f"compile-commands: {problem}"


def test_a_pipe_is_not_waited_for_and_a_huge_file_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(tmp_path / "pipe.json")
    with pytest.raises(SettingsError, match="a named pipe, not a regular file"):
        commands(tmp_path, "a.cu", setting="pipe.json")
    monkeypatch.setattr(find, "MOST_BYTES", 10)
    write_files(tmp_path, {"big.json": "[]" + " " * 9})
    with pytest.raises(SettingsError, match=r"big\.json: 11 bytes, more than 10"):
        commands(tmp_path, "a.cu", setting="big.json")


def test_sources_of_a_tree_are_as_their_manifests_say(tmp_path: Path) -> None:
    files = {
        "k/hw/HARDWARE.toml": '[hardware]\narch = "sm_121"\n',
        "k/hw/common/a.cu": "",
        "host.cpp": "",
    }
    write_files(tmp_path, {**files, NAME: entries(tmp_path, "k/hw/common/a.cu", "host.cpp")})
    trees = read_trees(tmp_path, ["k/hw/common"])
    found = compile_commands(
        ["k/hw/common/a.cu", "host.cpp"], tmp_path, trees, "auto", None, tmp_path
    )
    assert found.by_path.keys() == {"host.cpp"}


def test_the_root_may_have_two_names(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    write_files(tmp_path / "real", {NAME: entries(tmp_path / "real", "a.cu", words=("-Ii",))})
    assert commands(tmp_path / "link", "a.cu").commands["a.cu"][0].folders == ("i",)


def test_what_is_not_followed_is_told_once_and_only_where_it_matters(tmp_path: Path) -> None:
    words = ("-I/opt/x", "-I/opt/y", "@r.rsp", "-DX=$(y)")
    write_files(tmp_path, {NAME: entries(tmp_path, "a.cu", "b.cpp", words=words)})
    found = commands(tmp_path, "a.cu", "b.cpp").by_path

    def told(unresolved: list[str], *, compiling: bool) -> list[Any]:
        return [note.message for note in incomplete(found, unresolved, compiling=compiling)]

    outside = (
        "compile commands: include folders outside the project root are not searched: "
        "/opt/x and 1 more"
    )
    responses = (
        "compile commands: files of arguments are not opened (with CMake, generate for Ninja, or "
        "set CMAKE_CUDA_USE_RESPONSE_FILE_FOR_INCLUDES to OFF after project()): r.rsp"
    )
    refused = "compile commands: flags that are not harmless in every case are not given to nvcc"
    refused += ": -DX=$(y)"
    assert told([], compiling=False) == [responses]
    assert told(["b.cpp"], compiling=False) == [outside, responses]
    assert told(["c.cpp"], compiling=True) == [responses, refused]
