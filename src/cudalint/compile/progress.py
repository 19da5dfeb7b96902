"""What the compile stage tells of its progress while it runs. Showing it is others' business."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Is told from several threads what is being compiled."""

    def begin(self, total: int) -> None:
        """There are `total` compiles to do."""

    def started(self, path: str) -> None:
        """A compile of the file at `path` (relative to its root) has started."""

    def ended(self, path: str) -> None:
        """It has ended, well or not."""


class Untold:
    """The progress that nobody looks at."""

    def begin(self, total: int) -> None:
        """Nothing."""

    def started(self, path: str) -> None:
        """Nothing."""

    def ended(self, path: str) -> None:
        """Nothing."""
