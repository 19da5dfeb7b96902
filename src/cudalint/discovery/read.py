"""Reads one file, and says why when it can't be analysed.

Nothing but regular files is opened for longer than it takes to see what they
are, and never more than the size limit is read.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from cudalint.namedfile import irregular
from cudalint.source import SourceFile

_CHUNK = 1 << 20


def read_source(
    file: str,
    path: str,
    *,
    limit: int,
    requested: bool = True,
    contents: Mapping[str, bytes] | None = None,
) -> SourceFile:
    """Read the file at `file` as `path`; what is wrong with it goes into `problem`.

    `limit` is the most bytes a file may have. What `contents` has under `file`
    is taken for what the file holds.
    """
    try:
        held = None if contents is None else contents.get(file)
        data = _read(file, limit) if held is None else _limited(held, limit)
    except OSError as error:
        problem = "it vanished" if isinstance(error, FileNotFoundError) else str(error.strerror)
        return SourceFile(path, b"", problem, requested)
    if isinstance(data, str):
        return SourceFile(path, b"", data, requested)
    no_text = undecodable(data)
    return SourceFile(path, b"" if no_text else data, no_text, requested)


def _read(file: str, limit: int) -> bytes | str:
    """The file's bytes, or why it is none that can be read. Raises OSError."""
    # Without O_NONBLOCK, opening a named pipe waits for a writer.
    descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    try:
        status = os.fstat(descriptor)
        problem = irregular(status.st_mode)
        if problem is not None:
            return problem
        if status.st_size > limit:
            return f"{status.st_size} bytes, more than max-file-size ({limit})"
        # One read takes nearly every file; the one that finds nothing more ends it.
        data = os.read(descriptor, status.st_size + 1)
        while len(data) <= limit and (more := os.read(descriptor, _CHUNK)):
            data += more
    finally:
        os.close(descriptor)
    return _limited(data, limit)


def _limited(data: bytes, limit: int) -> bytes | str:
    return data if len(data) <= limit else f"more than max-file-size ({limit} bytes)"


def undecodable(data: bytes) -> str | None:
    """Why `data` is no UTF-8 text, None when it is."""
    if data.isascii() and b"\0" not in data:
        return None
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "UTF-16, not UTF-8"
    nul = data.find(b"\0")
    if nul >= 0:
        return f"binary data (a NUL byte at offset {nul})"
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        return f"not UTF-8 (byte 0x{data[error.start]:02x} at offset {error.start})"
    return None
