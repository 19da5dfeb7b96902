"""Which whole functions are cold: never part of a launch path.

Regions inside a hot function are `cudalint.hostcode.coldregions`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from cudalint.patterns import Patterns

if TYPE_CHECKING:
    from cudalint.project.includes import Includes
    from cudalint.settings.model import Settings
    from cudalint.syntax.model import FileModel, Function

COLD_PATHS = (
    "**/tests/**",
    "**/test/**",
    "**/*_test.*",
    "**/test_*",
    "**/bench*/**",
    "**/*bench*",
    "**/*perf*",
    "**/examples/**",
)
"""The default of the `cold-paths` setting."""

COLD_FUNCTIONS = (
    "main",
    *("init", "setup", "create", "destroy", "teardown", "shutdown", "load", "upload"),
    *("warmup", "benchmark", "profile", "test", "initialize", "initialise"),
)
"""The default of the `cold-functions` setting."""

_WHOLE = frozenset({"main"})
_MARK = re.compile(r"\bcudalint:\s*(cold|hot)\b")
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_JOINED = 3


class Coldness:
    """Judges functions by file, by name, by what they are and by `cudalint: cold` or `hot`."""

    def __init__(
        self, models: Mapping[str, FileModel], includes: Includes, settings: Settings
    ) -> None:
        self._models = models
        self._includes = includes
        paths = COLD_PATHS if settings.cold_paths is None else settings.cold_paths
        names = COLD_FUNCTIONS if settings.cold_functions is None else settings.cold_functions
        self._patterns = Patterns(paths)
        self._names = frozenset("".join(words(name)) for name in names if name not in _WHOLE)
        self._whole = frozenset(names)
        self._files: dict[str, bool] = {}
        self._marks: dict[str, dict[tuple[str, str], str]] = {}

    def is_cold(self, path: str, function: Function) -> bool:
        """Whether `function` of the file at `path` is a cold boundary."""
        mark = self._mark(path, function)
        if mark:
            return mark == "cold"
        if function.owner and function.name.lstrip("~") == function.owner:
            return True
        return self._named_cold(function.name) or self._cold_file(path)

    def is_forced(self, path: str, function: Function) -> bool:
        """Whether a comment says `cudalint: hot`."""
        return self._mark(path, function) == "hot"

    def _mark(self, path: str, function: Function) -> str:
        """The mark before the definition, else before a declaration that this file sees."""
        own = _MARK.search(function.comment)
        if own:
            return own[1]
        key = (function.owner, function.name)
        for seen in (path, *self._includes.closure(path)):
            mark = self._marks_of(seen).get(key)
            if mark:
                return mark
        return ""

    def _marks_of(self, path: str) -> dict[tuple[str, str], str]:
        """The marks of a file's declarations, by class and name."""
        if path not in self._marks:
            self._marks[path] = {
                (function.owner, function.name): mark[1]
                for function in self._models[path].functions
                if function.kind == "declaration" and (mark := _MARK.search(function.comment))
            }
        return self._marks[path]

    def _named_cold(self, name: str) -> bool:
        if name in self._whole:
            return True
        parts = words(name)
        ends = range(1, min(_JOINED, len(parts)) + 1)
        return any(
            "".join(parts[:count]) in self._names or "".join(parts[-count:]) in self._names
            for count in ends
        )

    def _cold_file(self, path: str) -> bool:
        if path not in self._files:
            self._files[path] = self._patterns.match(path)
        return self._files[path]


def words(name: str) -> list[str]:
    """Cut a name at `_` and at camelCase boundaries, in lower case: `runTest_2` → run, test, 2."""
    return [word.lower() for word in _WORDS.findall(name)]
