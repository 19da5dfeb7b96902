"""The standard streams: none is missing, and stdout's failures are known for what they are.

What is written to them, and what becomes of a failure, is `cudalint.cli.main`.
"""

from __future__ import annotations

import io
import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class OutputError(Exception):
    """Stdout takes nothing more; the text says why. A reader that went away is none."""


def prepare() -> None:
    """Put streams in place of those that were closed, and one that raises OutputError at stdout.

    Without, the next file that is opened would get a closed stream's number, and
    what is written to the stream. Writing to a stdout that was closed still
    fails, since the report would be lost; such a stderr swallows.
    """
    missing = [
        number
        for number, stream in enumerate((sys.stdin, sys.stdout, sys.stderr))
        if stream is None
    ]
    for number in missing:
        null = os.open(os.devnull, os.O_WRONLY if number == 2 else os.O_RDONLY)
        if null != number:
            os.dup2(null, number)
            os.close(null)
    if 0 in missing:
        sys.stdin = io.TextIOWrapper(io.BufferedReader(io.FileIO(0, "r", closefd=False)))
    if 2 in missing:
        sys.stderr = io.TextIOWrapper(io.BufferedWriter(io.FileIO(2, "w", closefd=False)))
    sys.stdout = io.TextIOWrapper(
        io.BufferedWriter(_Stdout(1, "w", closefd=False)),
        encoding="utf-8" if 1 in missing else sys.stdout.encoding,
        errors="strict" if 1 in missing else sys.stdout.errors,
        line_buffering=1 not in missing and sys.stdout.isatty(),
    )


class _Stdout(io.FileIO):
    def write(self, data: ReadableBuffer, /) -> int:
        try:
            return super().write(data)
        except BrokenPipeError:
            raise
        except OSError as error:
            raise OutputError(error.strerror) from error
