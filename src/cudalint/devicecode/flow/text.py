"""A file's code as text: comments, directives, dead branches, literals, attributes are spaces.

One character for each byte, so that offsets are those of the file.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cudalint.source import SourceFile

_ATTRIBUTE = re.compile(
    r"\b(?:__(?:align|attribute|launch_bounds)__|alignas)\s*\([^;{}()]*(?:\([^;{}()]*\)[^;{}()]*)*\)"
    r"|\[\[[^\[\];{}]*\]\]|\b__restrict(?:__)?\b"
)


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

            bare = prepare(self._sources[path].data).bare.decode("latin-1")
            text = self._texts[path] = _ATTRIBUTE.sub(lambda m: " " * len(m.group()), bare)
        return text
