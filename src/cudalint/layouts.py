"""Tells a comment that says a memory layout from one that does not.

Where the comment stands is `cudalint.nearby`.
"""

from __future__ import annotations

import re
from collections.abc import Collection

_LAYOUT = re.compile(
    r"\b(?:rows?|cols?|columns?|major|strides?|strided|pitch|(?<!in )order|ordered|unpadded"
    r"|pad(?:s|ded|ding)?|swizzl\w*|dims?|dimensions?|layouts?|laid out|interleav\w*"
    r"|contiguous(?:ly)?|transposed)\b"
    r"|\[[^\[\]\n]+\]\s*\[[^\[\]\n]*\]"
    r"|\w\s?×\s?\w|\b\d+\s?x\s?(?:\d+|[a-z]\w+)\b|\b\w+\s?x\s?\d+\b"
    r"|(?-i:\b(?:[A-Z][A-Z0-9_]*|k[A-Z]\w*) ?x ?(?:[A-Z][A-Z0-9_]*|k[A-Z]\w*)\b)",
    re.IGNORECASE,
)
_ONE_DIMENSION = re.compile(
    r"\[[^\[\]\n]+\]|\b(?:one|1) (?:\w+ )?(?:per|for each) \w+|\bindexed by\b", re.IGNORECASE
)
_WORD = re.compile(r"[A-Za-z_]\w*")


def says_layout(text: str, *, one_dimension: bool = False) -> bool:
    """Whether a comment says how something lies in memory.

    Words for rows, columns, strides, order, padding and swizzles do, and
    dimensions (`[warp][lane]`, `8 x 32`); for an array of one dimension its
    single index (`[warp]`, "one per warp") too.
    """
    if not text:
        return False
    return bool(_LAYOUT.search(text) or (one_dimension and _ONE_DIMENSION.search(text)))


def says_layout_of(names: Collection[str], text: str) -> bool:
    """Whether a longer comment names one of `names`, and says its layout in the same breath.

    That is: on the line that names it, or on one of the two after it.
    """
    if not names or not text or not _LAYOUT.search(text):
        return False
    lines = text.split("\n")
    return any(
        not set(names).isdisjoint(_WORD.findall(line))
        and says_layout("\n".join(lines[place : place + 3]))
        for place, line in enumerate(lines)
    )
