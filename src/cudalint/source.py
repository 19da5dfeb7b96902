"""A file as it was read: bytes, and what kept it from being read.

Decoding, lines and columns are `cudalint.lines`; the syntax is
`cudalint.syntax`.
"""

from __future__ import annotations

import msgspec


class SourceFile(msgspec.Struct, frozen=True):
    """One analysed file.

    `path` is POSIX and relative to the project root (it is what findings carry);
    `data` is the file's bytes, empty when `problem` says why it could not be
    read. `requested` is false for files that are read only as context (the rest
    of a tree when a hook names one file): their findings are not shown.
    """

    path: str
    data: bytes
    problem: str | None = None
    requested: bool = True


def is_utf8(path: str) -> bool:
    """Whether a path can be written as UTF-8: other bytes in file names come as surrogates."""
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
