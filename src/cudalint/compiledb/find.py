"""Which compilation database stands for which file, and its text.

As clangd does it: the nearest `compile_commands.json` in the file's folder or one
above, or in the `build` folder of one of these; here no further up than the
project root. What is in it is read by `cudalint.compiledb.read`.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterable

from cudalint.compiledb.error import DatabaseError
from cudalint.discovery.read import undecodable
from cudalint.discovery.walk import inside
from cudalint.namedfile import MOST_BYTES, read_named

NAME = "compile_commands.json"
_PLACES = (NAME, f"build/{NAME}")


class OutsideError(DatabaseError):
    """The database is not below the project root."""


def nearest(paths: Iterable[str], root: str) -> dict[str, str]:
    """The database of each of `paths` that has one; all are relative to the absolute `root`."""
    known: dict[str, str | None] = {}
    found: dict[str, str] = {}
    for path in paths:
        if path.startswith(("../", "/")):
            continue
        database = _of_folder(posixpath.dirname(path), root, known)
        if database is not None:
            found[path] = database
    return found


def _of_folder(folder: str, root: str, known: dict[str, str | None]) -> str | None:
    if folder not in known:
        places = (posixpath.join(folder, place) for place in _PLACES)
        own = next((p for p in places if os.path.lexists(posixpath.join(root, p))), None)
        if own is None and folder:
            own = _of_folder(posixpath.dirname(folder), root, known)
        known[folder] = own
    return known[folder]


def load_inside(path: str, root: str) -> bytes:
    """The text of the database at `path`, relative to `root`.

    Raises OutsideError where that leads out of the root, else DatabaseError.
    """
    if "\0" in path:
        raise DatabaseError("a NUL byte is in no file's name")
    absolute = posixpath.join(root, path)
    if not inside(os.path.realpath(absolute), os.path.realpath(root)):
        raise OutsideError(f"{path}: it is outside the project root")
    return load(absolute, path)


def load(file: str, label: str) -> bytes:
    """The text of the file that messages call `label`. Raises DatabaseError."""
    try:
        data = read_named(file, limit=MOST_BYTES)
    except OSError as error:
        raise DatabaseError(f"{label}: {error.strerror}") from None
    problem = undecodable(data)
    if problem is not None:
        raise DatabaseError(f"{label}: {problem}")
    return data
