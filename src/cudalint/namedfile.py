"""Reads a file of cudalint's own: settings, a baseline, a list, a log. It always comes to an end.

Regular files, and pipes where a person names them; never a device, and never
more than a bound. Sources are read by `cudalint.discovery.read`.
"""

from __future__ import annotations

import errno
import os
import select
import stat
import sys
import time
from pathlib import Path

from cudalint.regex import regex

MOST_BYTES = 100_000_000
"""The most bytes that a file may have if nothing else is said."""

_KINDS = {
    stat.S_IFIFO: "a named pipe",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
    stat.S_IFDIR: "a folder",
}
_INHERITED = regex(r"/dev/(?:fd/(\d{1,9})|stdin)")
_WRITER_SECONDS = 10.0
_CHUNK = 1 << 16


def irregular(mode: int) -> str | None:
    """Why a file with this mode is not read, None for a regular one."""
    if stat.S_ISREG(mode):
        return None
    return f"{_KINDS.get(stat.S_IFMT(mode), 'something else')}, not a regular file"


def read_named(file: str | Path, *, limit: int = MOST_BYTES, pipes: bool = False) -> bytes:
    """The bytes of `file`, at most `limit`; `pipes` allows a pipe, to its end.

    Raises OSError, whose `strerror` says why: also for what is no such file and
    for one that is too large. A named pipe that nobody opens for writing is
    given up after 10 seconds.
    """
    name = str(file)
    inherited = _INHERITED.fullmatch(name)
    if inherited is not None and pipes:
        # Opened anew, a pipe whose writer is done would look like one that has yet to come.
        descriptor = os.dup(int(inherited[1] or 0))
    else:
        # Without O_NONBLOCK, opening a named pipe waits for a writer.
        flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
        descriptor = os.open(name, flags)
    try:
        status = os.fstat(descriptor)
        if stat.S_ISFIFO(status.st_mode) and pipes:
            return _piped(descriptor, name, limit, opened=inherited is not None)
        problem = irregular(status.st_mode)
        if problem is not None:
            folder = stat.S_ISDIR(status.st_mode)
            raise OSError(errno.EISDIR if folder else errno.EINVAL, problem, name)
        if status.st_size > limit:
            raise OSError(errno.EFBIG, f"{status.st_size} bytes, more than {limit}", name)
        with open(descriptor, "rb", closefd=False) as stream:
            return _within(stream.read(limit + 1), name, limit)
    finally:
        os.close(descriptor)


def read_stdin(limit: int = MOST_BYTES) -> bytes:
    """What comes on stdin, to its end. Raises OSError for more than `limit` bytes."""
    return _within(sys.stdin.buffer.read(limit + 1), "stdin", limit)


def _within(data: bytes, name: str, limit: int) -> bytes:
    if len(data) > limit:
        raise OSError(errno.EFBIG, f"more than {limit} bytes", name)
    return data


def _piped(descriptor: int, name: str, limit: int, *, opened: bool) -> bytes:
    """What comes through a pipe; `opened` when it has, or had, a writer."""
    data = bytearray()
    deadline = time.monotonic() + _WRITER_SECONDS
    while len(data) <= limit:
        # macOS' poll() knows FIFOs too; select() fails on descriptors past 1023.
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        ended = any(events & select.POLLHUP for _, events in poll.poll(50))
        try:
            chunk = os.read(descriptor, _CHUNK)
        except BlockingIOError:
            opened = True  # a writer is there and thinks
            continue
        data += chunk
        if chunk:
            opened = True
        elif opened or ended:
            return bytes(data)
        elif time.monotonic() > deadline:
            raise OSError(errno.ETIMEDOUT, "a named pipe that nobody writes to", name)
    return _within(bytes(data), name, limit)
