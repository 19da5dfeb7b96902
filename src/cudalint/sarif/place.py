"""Artifact locations: where a file is, as code review wants to hear it.

URIs are relative to the repository's root (without a repository, to the run's),
since that is what they are matched with.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

import sarif_om as om

from cudalint.sarif.paths import RepositoryPaths
from cudalint.sarif.repository import Repository
from cudalint.source import SourceFile

BASE = "SRCROOT"
_SAFE = "/!$&'()*+,;=@~-._"


class Places:
    """The locations of one run's files. `root` is the run's, `repository` the one around it.

    `indexed` numbers them, for a log that embeds the files.
    """

    def __init__(self, root: str, repository: Repository | None, *, indexed: bool = False) -> None:
        self._indexed = indexed
        self._paths = RepositoryPaths(root, repository)
        self._locations: dict[str, Any] = {}

    def relative(self, path: str) -> str | None:
        """A run's path relative to the base, POSIX; None outside it."""
        return self._paths.relative(path)

    def location(self, path: str) -> Any:
        """The `artifactLocation` of a run's path, one object for each path."""
        if path not in self._locations:
            relative = self.relative(path)
            if relative is None:
                found = om.ArtifactLocation(uri="file://" + _encoded(self._paths.absolute(path)))
            else:
                found = om.ArtifactLocation(uri=_encoded(relative), uri_base_id=BASE)
            if self._indexed:
                found.index = len(self._locations)
            self._locations[path] = found
        return self._locations[path]

    def artifacts(self, sources: Mapping[str, SourceFile]) -> list[Any]:
        """The files that were located so far, in the order of their indexes, with their text."""
        return [
            om.Artifact(
                location=location,
                contents=om.ArtifactContent(text=sources[path].data.decode("utf-8", "replace")),
                length=len(sources[path].data),
                encoding="UTF-8",
                roles=["analysisTarget"],
            )
            for path, location in self._locations.items()
        ]


def _encoded(path: str) -> str:
    """A path as part of a URI (RFC 3986): its bytes on disk, percent-encoded.

    `:` is encoded as well, so that no first segment looks like a scheme.
    """
    return quote(os.fsencode(path), safe=_SAFE)
