"""Replaces a file whole: whoever reads it sees the old content or the new, never a half.

What is written, and which files may be, is decided by the callers.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path

_SPECIAL = ("/dev/", "/proc/")


def replace_file(path: Path, data: bytes) -> None:
    """Make `data` the content of the file at `path`. Raises OSError, and leaves the old one then.

    A link is followed to what it names, an old file's mode and owner are kept. What is no
    regular file (a pipe, a terminal, /dev/stdout) is written to as it is.
    """
    target = Path(os.path.realpath(path))
    mode = _mode(target)
    special = str(path.absolute()).startswith(_SPECIAL)
    if special or (mode is not None and not stat.S_ISREG(mode)):
        with path.open("wb") as stream:
            stream.write(data)
        return
    draft = target.with_name(f".{target.name[:100]}.{os.getpid()}.tmp")
    # The umask applies to a new file as it does to any other.
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(descriptor)
            if mode is not None:
                _keep_owner(descriptor, target)
                os.fchmod(descriptor, stat.S_IMODE(mode))
        draft.replace(target)
    except BaseException:
        with suppress(OSError):
            draft.unlink()
        raise


def _keep_owner(descriptor: int, target: Path) -> None:
    """Give a new file to the owner of the old one, if we may: root may, others mostly not."""
    old, new = target.stat(), os.fstat(descriptor)
    if (old.st_uid, old.st_gid) != (new.st_uid, new.st_gid):
        with suppress(PermissionError):
            os.fchown(descriptor, old.st_uid, old.st_gid)


def _mode(path: Path) -> int | None:
    """The mode of what is at `path`, None where nothing is. Raises OSError."""
    try:
        return path.stat().st_mode
    except FileNotFoundError:
        return None
