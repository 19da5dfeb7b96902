"""Tells a comment that says a memory layout from one that does not.

Where the comment stands is `cudalint.wording.nearby`.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from cudalint.regex import regex

_LAYOUT = regex(
    r"\b(?:rows?|cols?|columns?|major|strides?|strided|pitch|(?<!in )order|ordered|unpadded"
    r"|pad(?:s|ded|ding)?|swizzl\w*|dims?|dimensions?|layouts?|laid out|interleav\w*"
    r"|contiguous(?:ly)?|transposed)\b"
    r"|\[[^\[\]\n]+\]\s*\[[^\[\]\n]*\]"
    r"|\w\s?×\s?\w|\b\d+\s?x\s?(?:\d+|[a-z]\w+)\b|\b\w+\s?x\s?\d+\b"
    r"|(?-i:\b(?:[A-Z][A-Z0-9_]*|k[A-Z]\w*) ?x ?(?:[A-Z][A-Z0-9_]*|k[A-Z]\w*)\b)",
    re.IGNORECASE,
)
_ONE_DIMENSION = regex(
    r"\[[^\[\]\n]+\]|\b(?:one|1) (?:\w+ )?(?:per|for each) \w+|\bindexed by\b", re.IGNORECASE
)
_WORD = regex(r"[A-Za-z_]\w*")


def says_layout(text: str, *, one_dimension: bool = False) -> bool:
    """Whether a comment says how something lies in memory.

    Words for rows, columns, strides, order, padding and swizzles do, and
    dimensions (`[warp][lane]`, `8 x 32`); for an array of one dimension its
    single index (`[warp]`, "one per warp") too.
    """
    if not text:
        return False
    return bool(_LAYOUT.search(text) or (one_dimension and _ONE_DIMENSION.search(text)))


class LayoutNotes:
    """What a longer comment says about the layouts of the things that it names.

    A name and its layout belong together on one line, or when the layout is on
    one of the two lines after the name.
    """

    def __init__(self, text: str) -> None:
        self._lines: list[frozenset[str]] = []
        if not _LAYOUT.search(text):
            return
        lines = text.split("\n")
        said = [says_layout(line) for line in lines]
        self._lines = [
            frozenset(_WORD.findall(line))
            for place, line in enumerate(lines)
            if any(said[place : place + 3])
        ]

    def speak_of(self, names: Collection[str]) -> bool:
        """Whether the layout of one of `names` is said."""
        return any(not line.isdisjoint(names) for line in self._lines)
