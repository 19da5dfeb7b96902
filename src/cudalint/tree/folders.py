"""Looking at folders and files of a tree, safely: no symbolic link is ever followed.

Paths are POSIX and relative to the project root, whose own path is "". What the
folders mean is `cudalint.tree.hardware` and `cudalint.tree.layers`.
"""

from __future__ import annotations

import os
import posixpath
import stat
from collections.abc import Mapping
from pathlib import Path

import msgspec

from cudalint.discovery.read import undecodable

MANIFEST_LIMIT = 1_000_000
"""The largest manifest that is read, in bytes."""


class Listing(msgspec.Struct, frozen=True):
    """What is in one folder, by name and sorted: regular files, folders, symbolic links."""

    files: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    links: tuple[str, ...] = ()


class Folders:
    """The folders below a project root, each listed once.

    Hidden entries are left out. A folder that is absent or unreadable is empty.
    `contents` are what files, by absolute path, are to be taken to hold.
    """

    def __init__(self, root: Path, contents: Mapping[str, bytes] | None = None) -> None:
        self.root = root
        self._contents = contents or {}
        self._listings: dict[str, Listing] = {}

    def list(self, path: str) -> Listing:
        """What is in the folder at `path`."""
        found = self._listings.get(path)
        if found is None:
            found = self._listings[path] = _scan(self.root / path)
        return found

    def read(self, path: str) -> bytes | None:
        """The bytes of the file at `path`; None if it can't be read, is too large or no text.

        All of that is CU004's to say.
        """
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        try:
            descriptor = os.open(self.root / path, flags)
        except OSError:
            return None
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            return None
        with os.fdopen(descriptor, "rb") as file:
            held = self._contents.get(str(self.root / path))
            try:
                data = file.read(MANIFEST_LIMIT + 1) if held is None else held
            except OSError:
                return None
        return data if len(data) <= MANIFEST_LIMIT and undecodable(data) is None else None

    def kind(self, path: str, within: str) -> str:
        """What `path` is, going down from the folder `within`, which contains it.

        "file", "folder", "link" when any step on the way is a symbolic link,
        "outside" when it does not lie in `within`, and "absent".
        """
        if not inside(path, within):
            return "outside"
        at = within
        steps = posixpath.relpath(path, within or ".").split("/")
        for number, step in enumerate(steps):
            if step == ".":
                return "folder"
            listing = self.list(at)
            at = posixpath.join(at, step)
            if step in listing.links:
                return "link"
            if step in listing.files and number == len(steps) - 1:
                return "file"
            if step not in listing.folders:
                return "absent"
        return "folder"


def inside(path: str, folder: str) -> bool:
    """Whether the normalised `path` is `folder` or lies below it (by its words alone)."""
    if posixpath.isabs(path):
        return False
    if not folder:
        return path != ".." and not path.startswith("../")
    return path == folder or path.startswith(folder + "/")


def join(folder: str, path: str) -> str:
    """`path`, relative to `folder`, as a normalised path relative to the project root."""
    joined = posixpath.normpath(posixpath.join(folder, path))
    return "" if joined == "." else joined


def _scan(folder: Path) -> Listing:
    files: list[str] = []
    folders: list[str] = []
    links: list[str] = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.startswith("."):
                    continue
                if entry.is_symlink():
                    links.append(entry.name)
                elif entry.is_dir(follow_symlinks=False):
                    folders.append(entry.name)
                elif entry.is_file(follow_symlinks=False):
                    files.append(entry.name)
    except OSError:
        return Listing()
    return Listing(tuple(sorted(files)), tuple(sorted(folders)), tuple(sorted(links)))
