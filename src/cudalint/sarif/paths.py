"""A run's paths as code review knows them: relative to the root of the repository.

The other machine formats use them too, so the object model of SARIF is not
imported here.
"""

from __future__ import annotations

import os
from pathlib import Path, PurePosixPath

from cudalint.sarif.repository import Repository


class RepositoryPaths:
    """The paths of one run. `root` is the run's; without a `repository` it is their base."""

    def __init__(self, root: str, repository: Repository | None) -> None:
        self._root = Path(root)
        self._real = Path(os.path.realpath(root))
        self._base = self._real if repository is None else repository.root

    def relative(self, path: str) -> str | None:
        """A run's path relative to the base, POSIX; None outside it.

        Links are followed where that does not lead out of the base.
        """
        real = Path(os.path.realpath(self._root / path))
        for candidate in (real, Path(self.absolute(path))):
            if candidate.is_relative_to(self._base):
                return PurePosixPath(candidate.relative_to(self._base)).as_posix()
        return None

    def absolute(self, path: str) -> str:
        """A run's path as it is written, from the file system's root."""
        return os.path.normpath(self._real / path)
