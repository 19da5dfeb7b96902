"""Artifact locations: where a file is, as code review wants to hear it.

URIs are relative to the repository's root (without a repository, to the run's),
since that is what they are matched with.
"""

from __future__ import annotations

import os
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote

import sarif_om as om

from cudalint.sarif.repository import Repository

BASE = "SRCROOT"
_SAFE = "/!$&'()*+,;=@~-._"


class Places:
    """The locations of one run's files. `root` is the run's, `repository` the one around it."""

    def __init__(self, root: str, repository: Repository | None) -> None:
        self._root = Path(root)
        real = Path(os.path.realpath(root))
        self._base = real if repository is None else repository.root
        self._prefix = real
        self._locations: dict[str, Any] = {}

    def relative(self, path: str) -> str | None:
        """A run's path relative to the base, POSIX; None outside it.

        Links are followed where that does not lead out of the base.
        """
        real = Path(os.path.realpath(self._root / path))
        written = Path(os.path.normpath(self._prefix / path))
        for candidate in (real, written):
            if candidate.is_relative_to(self._base):
                return PurePosixPath(candidate.relative_to(self._base)).as_posix()
        return None

    def location(self, path: str) -> Any:
        """The `artifactLocation` of a run's path, one object for each path."""
        if path not in self._locations:
            relative = self.relative(path)
            if relative is None:
                absolute = os.path.normpath(self._prefix / path)
                found = om.ArtifactLocation(uri="file://" + _encoded(absolute))
            else:
                found = om.ArtifactLocation(uri=_encoded(relative), uri_base_id=BASE)
            self._locations[path] = found
        return self._locations[path]


def _encoded(path: str) -> str:
    """A path as part of a URI (RFC 3986): its bytes on disk, percent-encoded.

    `:` is encoded as well, so that no first segment looks like a scheme.
    """
    return quote(os.fsencode(path), safe=_SAFE)
