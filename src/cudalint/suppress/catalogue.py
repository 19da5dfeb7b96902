"""From a name in a suppression's list to the rules that it covers.

Codes, names and `cudalint-` names are exact and case-sensitive; `*` is a
wildcard, as clang-tidy has it. Every other name belongs to another tool.
"""

from __future__ import annotations

import re
from collections.abc import Mapping


class Catalogue:
    """All rules that exist, selected or not. `rules` maps a code to its name."""

    def __init__(self, rules: Mapping[str, str]) -> None:
        self._codes = {
            **{f"cudalint-{code}": code for code in rules},
            **{f"cudalint-{name}": code for code, name in rules.items()},
            **{name: code for code, name in rules.items()},
            **{code: code for code in rules},
        }

    def resolve(self, text: str) -> tuple[bool, frozenset[str]]:
        """Whether `text` has the form of our names, and the codes that it covers."""
        if text in self._codes:
            return True, frozenset({self._codes[text]})
        ours = re.fullmatch(r"CU[\d*]+|cudalint-.*", text) is not None
        if "*" not in text:
            return ours, frozenset()
        pieces = text.split("*")
        return ours, frozenset(
            code
            for name, code in self._codes.items()
            if (name == code or name.startswith("cudalint-")) and _is_made_of(name, pieces)
        )

    def nearest(self, text: str) -> str | None:
        """The name that `text` was probably meant to be; no code, for any is near any other."""
        import difflib

        names = sorted(
            name for name, code in self._codes.items() if name.removeprefix("cudalint-") != code
        )
        found = difflib.get_close_matches(text, names, n=1, cutoff=0.8)
        return found[0] if found else None


def _is_made_of(name: str, pieces: list[str]) -> bool:
    """Whether a name has the pieces between the `*` of a pattern in it, in turn.

    Each is looked for once, so that no pattern takes long.
    """
    first, *middle, last = pieces
    if len(name) < len(first) + len(last):
        return False
    if not name.startswith(first) or not name.endswith(last):
        return False
    at, end = len(first), len(name) - len(last)
    for piece in middle:
        at = name.find(piece, at, end)
        if at < 0:
            return False
        at += len(piece)
    return True
