"""Writes changed files, each whole or not at all, and never over what somebody else wrote.

Which files, and with what content, `cudalint.fixes.passes` says.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from cudalint.writing import is_read_only, replace_file


def write_changed(root: Path, changed: Mapping[str, tuple[bytes, bytes]]) -> dict[str, str]:
    """Write the second content of each file where the first still stands.

    `changed` maps paths relative to `root` to the content as it was read and
    the new one. Returns why a file was not written, by its path.
    """
    failures: dict[str, str] = {}
    for path, (old, new) in changed.items():
        problem = _write(root / path, old, new)
        if problem is not None:
            failures[path] = problem
    return failures


def _write(file: Path, old: bytes, new: bytes) -> str | None:
    """Write one file; why that could not be done, None when it was."""
    try:
        if file.exists() and not file.is_file():
            return "it is no longer a regular file"
        now = file.read_bytes()
        if now == new:
            return None
        if now != old:
            return "it changed since it was read"
        if is_read_only(file):
            return "it is read-only"
        replace_file(file, new)
    except OSError as error:
        return "it vanished" if isinstance(error, FileNotFoundError) else str(error.strerror)
    return None
