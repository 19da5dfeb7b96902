"""A file's code as text: comments, directives, dead branches, literals, attributes are spaces.

One character for each byte, so that offsets are those of the file.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from cudalint.regex import regex

if TYPE_CHECKING:
    from cudalint.source import SourceFile

_CALLED = rb"\s*\([^;{}()]*(?:\([^;{}()]*\)[^;{}()]*)*\)"
# Each begins with a literal, which is found many times faster than an alternation.
_ATTRIBUTES = tuple(
    (word, regex(pattern))
    for word, pattern in (
        (b"__restrict", rb"__restrict(?<!\w__restrict)(?:__)?\b"),
        (b"__launch_bounds__", rb"__launch_bounds__(?<!\w__launch_bounds__)" + _CALLED),
        (b"__align__", rb"__align__(?<!\w__align__)" + _CALLED),
        (b"__attribute__", rb"__attribute__(?<!\w__attribute__)" + _CALLED),
        (b"alignas", rb"alignas(?<!\walignas)" + _CALLED),
        (b"[[", rb"\[\[[^\[\];{}]*\]\]"),
    )
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

            bare = prepare(self._sources[path].data).bare
            for word, pattern in _ATTRIBUTES:
                if word in bare:
                    bare = pattern.sub(_blank, bare)
            text = self._texts[path] = bare.decode("latin-1")
        return text

    def let_go(self) -> None:
        """Forget the texts that were made: what is asked for again is made again."""
        self._texts.clear()


def _blank(attribute: re.Match[bytes]) -> bytes:
    return b" " * len(attribute.group())
