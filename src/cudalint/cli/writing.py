"""Writing into linted files for commands that were told to, and saying what could not be done."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from cudalint.finding import Level
from cudalint.fixes.write import write_changed
from cudalint.run import Notification, Run


def write_files(
    root: str, changed: Mapping[str, tuple[bytes, bytes]]
) -> tuple[set[str], tuple[Notification, ...]]:
    """Write the changed files (path to old and new content) below `root`.

    Gives the paths that were written, and a notification for each that was not.
    """
    failures = write_changed(Path(root), changed)
    notes = tuple(
        Notification("fix-failed", Level.ERROR, f"cannot change '{shown(path, root)}': {why}")
        for path, why in failures.items()
    )
    return changed.keys() - failures.keys(), notes


def with_notes(run: Run, notes: Iterable[Notification]) -> Run:
    """The run with more to say of itself, and the exit code that goes with it."""
    said = tuple(notes)
    failed = any(note.level is Level.ERROR for note in said)
    return msgspec.structs.replace(
        run,
        notifications=(*run.notifications, *said),
        exit_code=2 if failed else run.exit_code,
    )


def shown(path: str, root: str) -> str:
    """A path of a run as one types it where one is."""
    return os.path.relpath(Path(root, path))
