"""A file's code as text: comments, directives, dead branches and literals are spaces.

One character for each byte, so that offsets are those of the file.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cudalint.source import SourceFile


class CodeTexts:
    """The code of the files of one run, each made at the first question."""

    def __init__(self, sources: Mapping[str, SourceFile]) -> None:
        self._sources = sources
        self._texts: dict[str, str] = {}

    def of(self, path: str) -> str:
        """The code of the file at `path`."""
        text = self._texts.get(path)
        if text is None:
            from cudalint.syntax.prepare import prepare

            text = self._texts[path] = prepare(self._sources[path].data).bare.decode("latin-1")
        return text
