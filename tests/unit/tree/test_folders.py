"""Looking at folders and files of a tree: what is listed, what is read, what lies inside."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from conftest import write_files
from cudalint.tree.folders import MANIFEST_LIMIT, Folders, Listing, inside, join


def test_what_is_listed(tmp_path: Path) -> None:
    """Hidden entries are passed over, wherever among the others they come."""
    names = [f"{letter}{number}" for letter in "ab" for number in range(8)]
    write_files(tmp_path, dict.fromkeys(names, ""))
    write_files(tmp_path, dict.fromkeys([f".{name}" for name in names], ""))
    write_files(tmp_path, {"folder/x": "", ".git/x": ""})
    (tmp_path / "link").symlink_to("folder")
    os.mkfifo(tmp_path / "pipe")
    assert Folders(tmp_path).list("") == Listing(tuple(names), ("folder",), ("link",))
    assert Folders(tmp_path).list("a0") == Folders(tmp_path).list("none") == Listing()


@pytest.mark.parametrize("held", [False, True])
def test_what_is_read(tmp_path: Path, held: bool) -> None:
    """Text up to a size, of the disk or as an editor holds it."""
    assert MANIFEST_LIMIT == 1_000_000

    def read(data: bytes) -> bytes | None:
        (tmp_path / "a.toml").write_bytes(b"" if held else data)
        contents = {str(tmp_path / "a.toml"): data} if held else {}
        return Folders(tmp_path, contents).read("a.toml")

    assert read(b"a = 1") == b"a = 1"
    assert read(b"a" * 1_000_000) == b"a" * 1_000_000
    assert read(b"a" * 1_000_001) is None
    assert read(b"a\0b") is None
    assert read(b"\xff\xfea") is None


def test_what_is_no_file_is_not_read(tmp_path: Path) -> None:
    write_files(tmp_path, {"a.toml": "a = 1"})
    (tmp_path / "link.toml").symlink_to("a.toml")
    os.mkfifo(tmp_path / "pipe.toml")
    read = Folders(tmp_path).read
    assert [read(name) for name in ("link.toml", "pipe.toml", ".", "none.toml")] == [None] * 4


@pytest.mark.parametrize(
    ("path", "folder", "lies"),
    [
        ("/a", "", False),
        ("/a", "/", False),
        ("a", "", True),
        ("..", "", False),
        ("../a", "", False),
        ("..a", "", True),
        ("a", "a", True),
        ("a/b", "a", True),
        ("ab", "a", False),
    ],
)
def test_what_lies_inside(path: str, folder: str, lies: bool) -> None:
    assert inside(path, folder) is lies


def test_paths_are_joined_from_the_root(tmp_path: Path) -> None:
    assert [join("a", path) for path in ("b", "../b", "..", "/b", ".")] == [
        "a/b",
        "b",
        "",
        "/b",
        "a",
    ]
