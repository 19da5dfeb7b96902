"""How large the cache is, and that it does not grow without bound.

What is kept in it is `cudalint.cache` and `cudalint.compile.store`; entries that
nobody used for a long time are deleted there.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from cudalint.cache import is_of_today

VARIABLE = "CUDALINT_CACHE_MAX_SIZE"
"""The environment variable with the bound in bytes.

It is the user's, as the cache is: settings come with a tree, and what is kept for
others is not theirs to delete.
"""
DEFAULT = 500_000_000

PARTS = ("models", "compile")
"""The folders of the cache that are ours alone."""

_MARKER = "bounded"
_IN_USE = 600
"""Seconds for which an entry stays in any case: another process may just write it."""
_LEFT = 0.8
"""How much of the bound is left when it is exceeded, so that it is not at once again."""


def size_of(folder: Path) -> int:
    """How many bytes are kept in `folder`. Raises OSError."""
    return sum(size for _, size, _ in _entries(folder))


def bound() -> int:
    """The most bytes that are kept. Raises ValueError for a variable that is no number."""
    text = os.environ.get(VARIABLE, "").strip()
    if not text:
        return DEFAULT
    if not (text.isascii() and text.isdecimal() and len(text) < 19):
        raise ValueError(f"{VARIABLE} is '{text}', no number of bytes")
    return int(text)


def keep_within_bound(folder: Path) -> str | None:
    """Delete the entries that were not used for longest where there are too many bytes.

    It looks once a day, and anew when the bound is another; why it could not, if so.
    Processes that do this at once, or use the cache, are in nobody's way: an entry
    that is gone is made again.
    """
    marker = folder / _MARKER
    now = time.time()
    try:
        most = bound()
        if not folder.is_dir():
            return None
        with suppress(FileNotFoundError):
            if is_of_today(marker.stat().st_mtime, now) and marker.read_bytes() == b"%d" % most:
                return None
        _delete_down_to(folder, most, now)
        marker.write_bytes(b"%d" % most)
    except ValueError as error:
        return str(error)
    except OSError as error:
        return f"cannot tidy {folder}: {error.strerror}"
    return None


def _delete_down_to(folder: Path, most: int, now: float) -> None:
    entries = sorted(_entries(folder))
    total = sum(size for _, size, _ in entries)
    if total <= most:
        return
    for used, size, path in entries:
        if total <= most * _LEFT or 0 <= now - used < _IN_USE:
            return
        with suppress(FileNotFoundError):
            os.unlink(path)  # noqa: PTH108 - a Path for each of many entries costs more than this
        total -= size


def _entries(folder: Path) -> Iterator[tuple[float, int, str]]:
    """When each file was used last, its size, and where it is. Links are none of ours."""
    todo = [str(folder / part) for part in PARTS]
    while todo:
        try:
            listing = os.scandir(todo.pop())
        except (FileNotFoundError, NotADirectoryError):
            continue
        with listing:
            for entry in listing:
                if entry.is_dir(follow_symlinks=False):
                    todo.append(entry.path)
                    continue
                with suppress(FileNotFoundError):
                    state = entry.stat(follow_symlinks=False)
                    if stat.S_ISREG(state.st_mode):
                        yield state.st_mtime, state.st_size, entry.path
