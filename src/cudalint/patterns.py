"""Gitignore patterns relative to one folder, with a quick way for the plain ones.

Names, `*` and `**` are most of what settings and .gitignore files hold. pathspec,
which takes as long to import as the command line itself, is asked for the rest:
`!`, `?`, `[…]`, escapes and comments. What it makes of a name with many `*` can be
made to try without end, and patterns may come with a tree that nobody trusts: those
with more than three in one name, or three `**`, are passed over.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import count
from typing import TYPE_CHECKING

from cudalint.regex import regex

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

_STARS = regex(r"\*+")
_MOST_STARS = 3
_NOT_PLAIN = frozenset("?[]!\\# \t")


class Patterns:
    """Gitignore patterns; paths are POSIX and relative to the folder of the patterns."""

    def __init__(self, lines: Iterable[str]) -> None:
        lines = [line for line in lines if line and line.count("**") <= _MOST_STARS]
        plain = all(_NOT_PLAIN.isdisjoint(line) and "**/" not in line[-3:] for line in lines)
        self._names = frozenset(line for line in lines if plain and not set("*/") & set(line))
        self._regex: re.Pattern[str] | None = None
        self._spec: GitIgnoreSpec | None = None
        others = [line for line in lines if line not in self._names]
        if not plain:
            from pathspec import GitIgnoreSpec

            self._spec = GitIgnoreSpec.from_lines(filter(_is_quick, lines))
        elif others:
            numbers = count()
            self._regex = regex("|".join(_translate(line, numbers) for line in others))

    def decide(self, path: str, *, folder: bool = False) -> bool | None:
        """True when `path` is matched, False when a `!` pattern takes it out, else None.

        Folders above the path count: "build" matches "build/a.cu".
        """
        if folder:
            path += "/"
        if self._spec is not None:
            return self._spec.check_file(path).include
        if not self._names.isdisjoint(path.split("/")):
            return True
        return True if self._regex is not None and self._regex.fullmatch(path) else None

    def match(self, path: str, *, folder: bool = False) -> bool:
        """Whether `path` is matched and not taken out again."""
        return self.decide(path, folder=folder) is True


def _is_quick(pattern: str) -> bool:
    """Whether no name in the pattern has more `*` than a search can try out."""
    return all(len(_STARS.findall(part)) <= _MOST_STARS for part in pattern.split("/"))


def _wildcards(part: str, numbers: Iterator[int]) -> str:
    """A name with `*` as a regular expression, which takes each first match and no other.

    That finds whatever there is to be found, in a time that does not multiply.
    """
    first, *middle, last = (re.escape(piece) for piece in _STARS.split(part))
    steps = "".join(
        f"(?=(?P<s{number}>[^/]*?{piece}))(?P=s{number})"
        for piece, number in zip(middle, numbers, strict=False)
    )
    return f"{first}{steps}[^/]*{last}"


def _translate(pattern: str, numbers: Iterator[int]) -> str:
    """A plain pattern as a regular expression over a whole path (a folder ends in "/")."""
    only_folders = pattern.endswith("/")
    parts = pattern.strip("/").split("/")
    anchored = "/" in pattern.rstrip("/")
    regex = "" if anchored else "(?:.*/)?"
    for index, part in enumerate(parts):
        last = index == len(parts) - 1
        if part == "**" and not last:
            regex += "(?:.*/)?"
        elif part == "**":
            regex += ".*"
        else:
            # No part of a path is empty.
            name = "[^/]+" if part == "*" else re.escape(part)
            if "*" in part and part != "*":
                name = _wildcards(part, numbers)
            regex += name + ("" if last else "/")
    return regex + ("/.*" if only_folders else "(?:/.*)?")
