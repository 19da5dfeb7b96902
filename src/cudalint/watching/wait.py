"""Waits until something changes that a run depends on, by the `watchfiles` package."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cudalint.watching.scope import Scope

_LOOK_AGAIN = 500
"""Milliseconds after which a wait without changes looks whether it is to end."""


class WatchError(Exception):
    """The system does not tell of changes; the text says why."""


class Watch:
    """One watch after another over the same folders misses nothing in between."""

    def __init__(self) -> None:
        self._folders: tuple[str, ...] = ()
        self._changes: Iterator[set[tuple[Any, str]]] = iter(())

    def wait(self, scope: Scope) -> None:
        """Come back when something has changed that matters to `scope`. Raises WatchError."""
        try:
            if scope.folders() != self._folders:
                self._begin(scope.folders())
                # Between the run and now nobody was looking.
                if scope.has_changed():
                    return
            for changes in self._changes:
                if any(scope.matters(path) for _, path in changes):
                    return
        except (OSError, RuntimeError) as error:
            raise WatchError(f"cannot watch the files: {error}") from None
        raise WatchError("cannot watch the files: no folder of theirs is there")

    def _begin(self, folders: tuple[str, ...]) -> None:
        from watchfiles import watch

        self._folders = folders
        self._changes = iter(())
        if folders:
            self._changes = watch(
                *folders,
                watch_filter=None,
                rust_timeout=_LOOK_AGAIN,
                yield_on_timeout=True,
                ignore_permission_denied=True,
            )
            # It looks from the first turn on.
            next(self._changes)
