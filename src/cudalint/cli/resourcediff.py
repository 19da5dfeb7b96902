"""`cudalint resources --diff REV`: what changed since a commit."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from cudalint.cli.main import complain

if TYPE_CHECKING:
    from cudalint.resources.difference import Difference
    from cudalint.resources.measure import Measured
    from cudalint.resources.model import FailedCompile, ResourceRow, ResourceTable
    from cudalint.runner import Request

_LARGEST = 10_000_000
"""Bytes of the largest file that is taken out of a commit: no source is larger."""
_ABSENT = ("missing-path", "nothing-to-lint", "all-excluded")
"""What is said of paths that a commit does not have; there all of it is new."""


class DiffError(Exception):
    """The commit can't be measured; the text is one line that says why."""


def check_revision(revision: str, request: Request) -> None:
    """Raise DiffError for what is no commit, before anything is compiled to hold against it."""
    from cudalint.git import GitError, commit_of, top_of

    try:
        top_of(request.cwd)
        commit_of(request.cwd, revision)
    except GitError as error:
        raise DiffError(f"--diff: {error}") from None


def since(revision: str, request: Request, measured: Measured) -> Difference:
    """What changed from the commit `revision` to what was `measured` for `request`.

    The commit's files go to a temporary folder, and are read with the settings
    that they had. Raises DiffError.
    """
    from cudalint.git import GitError, commit_of, top_of
    from cudalint.resources.difference import difference
    from cudalint.resources.revision import export_commit

    try:
        top = top_of(request.cwd)
        commit = commit_of(request.cwd, revision)
        with tempfile.TemporaryDirectory(prefix="cudalint-", ignore_cleanup_errors=True) as name:
            folder = Path(os.path.realpath(name))
            export_commit(top, commit, folder, largest=_LARGEST)
            before = _before(request, top, folder, revision)
    except GitError as error:
        raise DiffError(f"--diff: {error}") from None
    except OSError as error:
        raise DiffError(f"--diff: the files of '{revision}' can't be written: {error}") from None
    return difference(before, _from_top(measured.table, measured.root, top))


def _before(request: Request, top: Path, folder: Path, revision: str) -> ResourceTable:
    from cudalint.resources.measure import measure
    from cudalint.resources.model import ResourceTable
    from cudalint.settings.origin import SettingsError

    asked = (_moved(request.cwd / path, top, folder) for path in request.paths)
    paths = tuple(str(path) for path in asked if path.exists())
    cwd = _moved(request.cwd, top, folder)
    if not paths or not cwd.is_dir():
        return ResourceTable(())
    try:
        measured = measure(msgspec.structs.replace(request, paths=paths, cwd=cwd))
    except SettingsError as error:
        raise DiffError(f"--diff: in '{revision}': {error}") from None
    for notification in measured.notifications:
        if notification.level.value == "error" and notification.id not in _ABSENT:
            raise DiffError(f"--diff: in '{revision}': {notification.message}")
    return _from_top(measured.table, measured.root, folder)


def _moved(path: Path, top: Path, folder: Path) -> Path:
    """Where a path of the work tree is in the folder. Raises DiffError for one outside."""
    real = Path(os.path.realpath(path))
    if not real.is_relative_to(top):
        raise DiffError(f"--diff: '{path}' is not in the repository")
    return folder / real.relative_to(top)


def _from_top(table: ResourceTable, root: Path, top: Path) -> ResourceTable:
    """The table with paths relative to the repository: the settings may lie elsewhere now."""
    prefix = os.path.relpath(os.path.realpath(root), top)

    def placed(path: str) -> str:
        return os.path.normpath(f"{prefix}/{path}")

    def row(one: ResourceRow) -> ResourceRow:
        return msgspec.structs.replace(one, path=placed(one.path))

    def failure(one: FailedCompile) -> FailedCompile:
        return msgspec.structs.replace(one, path=placed(one.path))

    return msgspec.structs.replace(
        table, rows=tuple(map(row, table.rows)), failures=tuple(map(failure, table.failures))
    )


def tell_failures(found: Difference, revision: str) -> None:
    """Say on stderr which files of the commit did not compile: nothing is compared with them."""
    for failure in found.failed_before:
        complain(
            f"{failure.path} of '{revision}' does not compile for {failure.on}: {failure.why}",
            "warning",
        )
