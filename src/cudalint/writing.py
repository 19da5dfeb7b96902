"""Replaces a file whole: whoever reads it sees the old content or the new, never a half.

What is written is decided by the callers; which files a report or baseline may
replace is decided here, which sources may be is `cudalint.fixes`.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress
from pathlib import Path

_SPECIAL = ("/dev/", "/proc/")
_WRITABLE = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH


def write_named(path: Path, data: bytes) -> None:
    """Make `data` the content of the report or baseline at `path`. Raises OSError.

    A name may come with the tree that is linted, so that a link there which leads
    out of its folder is not followed, nor one on the way there that leads out of
    the working folder. A file that is read-only stays what it is, and so does what
    cudalint itself reads.
    """
    if not str(path.absolute()).startswith(_SPECIAL):
        meant = what_is_read(path)
        if meant is not None:
            raise OSError(errno.EEXIST, f"that is the name of {meant}", str(path))
        outside = link_out(path) or _way_out(path)
        mode = _mode(path)
        if outside is not None and not (mode is not None and stat.S_ISCHR(mode)):
            raise OSError(errno.ELOOP, _led_astray(path, outside), str(path))
        if mode is not None and stat.S_ISREG(mode) and is_read_only(path):
            raise OSError(errno.EACCES, "it is read-only", str(path))
    replace_file(path, data)


def link_out(path: Path) -> str | None:
    """Where `path` leads when it is a link out of the folder that it lies in; else None."""
    if not os.path.islink(path):  # noqa: PTH114 - is_symlink() raises in a locked folder
        return None
    real = os.path.realpath(path)
    return None if Path(real).is_relative_to(os.path.realpath(path.parent)) else real


def what_is_read(path: Path) -> str | None:
    """What cudalint reads a file of this name as, so that nothing else may go there; else None."""
    from cudalint.discovery.kinds import is_manifest, is_source
    from cudalint.settings.load import NAMES

    for name in (path.name, os.path.basename(os.path.realpath(path))):  # noqa: PTH119
        if is_source(name):
            return "a source"
        if is_manifest(name):
            return "a manifest"
        if name in NAMES:
            return "a settings file"
    return None


def _way_out(path: Path) -> str | None:
    """Where the folder of `path` is, if it is named as one below the working folder and is not."""
    here = os.path.realpath(Path.cwd())
    folder = os.path.realpath(path.parent)
    named = Path(os.path.normpath(path.absolute()))
    below = any(os.path.realpath(parent) == here for parent in named.parents)
    return folder if below and not Path(folder).is_relative_to(here) else None


def _led_astray(path: Path, outside: str) -> str:
    if os.path.islink(path):  # noqa: PTH114
        return f"a symbolic link that leads to {outside}, outside its folder"
    return f"its folder is behind a symbolic link, in {outside}, outside the working folder"


def is_read_only(path: Path) -> bool:
    """Whether the file is meant to stay: its owner may replace it nevertheless, as root may.

    Raises OSError.
    """
    return not path.stat().st_mode & _WRITABLE or not os.access(path, os.W_OK)


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
    # Not by the process's number: in containers that is the same every time, and one that
    # was killed left its draft.
    draft = target.with_name(f".{target.name[:100]}.{os.urandom(6).hex()}.tmp")
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
