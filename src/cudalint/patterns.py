"""Gitignore patterns relative to one folder, with a quick way for plain names.

Most runs exclude by plain names alone ("build"), and then pathspec, which takes
as long to import as the command line itself, is not needed.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

_SPECIAL = frozenset("*?[]!/\\# ")


class Patterns:
    """Gitignore patterns; paths are POSIX and relative to the folder of the patterns."""

    def __init__(self, lines: Iterable[str]) -> None:
        lines = tuple(lines)
        self._names = frozenset(line for line in lines if line and _SPECIAL.isdisjoint(line))
        self._spec: GitIgnoreSpec | None = None
        if len(self._names) < len(set(lines)):
            from pathspec import GitIgnoreSpec

            self._spec = GitIgnoreSpec.from_lines(lines)

    def decide(self, path: str, *, folder: bool = False) -> bool | None:
        """True when `path` is matched, False when a `!` pattern takes it out, else None.

        Folders above the path count: "build" matches "build/a.cu".
        """
        if self._spec is not None:
            return self._spec.check_file(f"{path}/" if folder else path).include
        return True if not self._names.isdisjoint(path.split("/")) else None

    def match(self, path: str, *, folder: bool = False) -> bool:
        """Whether `path` is matched and not taken out again."""
        return self.decide(path, folder=folder) is True
