"""The progress bar of the compiles: on a terminal, and not in CI.

It stands on stderr, says how many are done and which file is in work, and is
gone when the compiles are. NO_COLOR is rich's own business.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

from cudalint.compile.progress import Untold

if TYPE_CHECKING:
    import rich.progress

    from cudalint.compile.progress import Progress

_SOON = 0.5
"""Seconds that compiles may take before a bar is shown, and rich imported."""


@contextmanager
def progress_bar(
    stream: TextIO | None = None, environment: Mapping[str, str] | None = None
) -> Iterator[Progress]:
    """A bar on `stream`, stderr if it is None; none at all where nobody would see it."""
    stream = sys.stderr if stream is None else stream
    environment = os.environ if environment is None else environment
    if not stream.isatty() or environment.get("CI") or environment.get("TERM") == "dumb":
        yield Untold()
        return
    bar = _Bar(stream)
    try:
        yield bar
    finally:
        bar.close()


class _Bar:
    """Counts from the start, and shows itself when the work turns out to take a while."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._lock = threading.Lock()
        self._begun = time.monotonic()
        self._total = 0
        self._done = 0
        self._at_work: list[str] = []
        self._shown: tuple[rich.progress.Progress, rich.progress.TaskID] | None = None

    def begin(self, total: int) -> None:
        with self._lock:
            self._begun = time.monotonic()
            self._total += total

    def started(self, path: str) -> None:
        with self._lock:
            self._at_work.append(path)
            self._show()

    def ended(self, path: str) -> None:
        with self._lock:
            self._at_work.remove(path)
            self._done += 1
            self._show()

    def close(self) -> None:
        """Take the bar off the screen."""
        with self._lock:
            if self._shown is not None:
                self._shown[0].stop()

    def _show(self) -> None:
        if self._shown is None:
            if time.monotonic() - self._begun < _SOON:
                return
            self._shown = _opened(self._stream, self._total)
        shown, task = self._shown
        from cudalint.reporters.visible import visible

        files = ", ".join(visible(path) for path in dict.fromkeys(self._at_work))
        shown.update(task, completed=self._done, total=self._total, files=files)


def _opened(stream: TextIO, total: int) -> tuple[rich.progress.Progress, rich.progress.TaskID]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
    from rich.table import Column

    shown = Progress(
        TextColumn("compiling"),
        BarColumn(bar_width=20),
        MofNCompleteColumn(),
        TextColumn(
            "{task.fields[files]}",
            markup=False,
            table_column=Column(no_wrap=True, overflow="ellipsis", ratio=1),
        ),
        console=Console(file=stream, highlight=False),
        transient=True,
        expand=True,
    )
    task = shown.add_task("", total=total, files="")
    shown.start()
    return shown, task
