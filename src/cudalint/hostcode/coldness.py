"""Which whole functions are cold: never part of a launch path.

Regions inside a hot function are `cudalint.hostcode.coldregions`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from cudalint.devicecode.devicecode import enclosing
from cudalint.patterns import Patterns
from cudalint.regex import regex
from cudalint.settings.model import DEFAULT_COLD_FUNCTIONS, DEFAULT_COLD_PATHS

if TYPE_CHECKING:
    from cudalint.project.includes import Includes
    from cudalint.settings.model import Settings
    from cudalint.syntax.model import FileModel, Function

_WHOLE = frozenset({"main"})
_MARK = regex(r"\bcudalint:\s*(cold|hot)\b")
_WORDS = regex(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_JOINED = 3


class Coldness:
    """Judges functions by file, by name, by what they are and by `cudalint: cold` or `hot`."""

    def __init__(
        self, models: Mapping[str, FileModel], includes: Includes, settings: Settings
    ) -> None:
        self._models = models
        self._includes = includes
        paths, names = settings.cold_paths, settings.cold_functions
        self._paths = paths
        self._patterns = Patterns(paths)
        self._default = paths == DEFAULT_COLD_PATHS, names == DEFAULT_COLD_FUNCTIONS
        self._names = frozenset("".join(words(name)) for name in names if name not in _WHOLE)
        self._whole = frozenset(names)
        self._files: dict[str, bool] = {}
        self._marks = {path: marks for path in models if (marks := _marks_of(models[path]))}

    def is_cold(self, path: str, function: Function) -> bool:
        """Whether `function` of the file at `path` is a cold boundary."""
        mark = self._mark(path, function)
        if mark:
            return mark == "cold"
        outer = self._outer(path, function)
        if outer is not None and self.is_cold(path, outer):
            return True
        return _is_structor(function) or bool(self._name_of(function)) or self._cold_file(path)

    def why(self, path: str, function: Function) -> str:
        """Why `function` is cold, as part of a sentence; "" when it isn't."""
        if not self.is_cold(path, function):
            return ""
        if self._mark(path, function):
            return "a comment says 'cudalint: cold'"
        outer = self._outer(path, function)
        if outer is not None and self.is_cold(path, outer):
            return f"'{outer.name}', around it, is: {self.why(path, outer)}"
        if _is_structor(function):
            return "it is a destructor" if function.name.startswith("~") else "it is a constructor"
        by_default = [" by default" if default else "" for default in self._default]
        name = self._name_of(function)
        if name:
            return f"'cold-functions' holds '{name}'{by_default[1]}"
        matching = (pattern for pattern in self._paths if Patterns((pattern,)).match(path))
        return f"'cold-paths' holds '{next(matching)}'{by_default[0]}"

    def is_forced(self, path: str, function: Function) -> bool:
        """Whether a comment says `cudalint: hot`."""
        return self._mark(path, function) == "hot"

    def _outer(self, path: str, function: Function) -> Function | None:
        """The function around a kept lambda that shares its lot; None for any other.

        A thread's lambda, which is kept under no name, is as cold as the function that
        starts it; another one only if a comment says that this one is cold.
        """
        if not function.lambda_:
            return None
        model = self._models[path]
        around = enclosing(model, function.index)
        outer = model.functions[around] if around >= 0 else None
        if outer is None or not function.name.isidentifier():
            return outer
        return outer if self._mark(path, outer) == "cold" else None

    def _mark(self, path: str, function: Function) -> str:
        """The mark before the definition, else before a declaration that this file sees."""
        own = _MARK.search(function.comment)
        if own:
            return own[1]
        key = (function.owner, function.name)
        for seen in (path, *self._includes.closure(path)) if self._marks else ():
            mark = self._marks.get(seen, {}).get(key)
            if mark:
                return mark
        return ""

    def _name_of(self, function: Function) -> str:
        """What of `cold-functions` the name is, begins or ends with; "" if nothing."""
        if function.name in self._whole:
            return function.name
        parts = words(function.name)
        for count in range(1, min(_JOINED, len(parts)) + 1):
            for end in ("".join(parts[:count]), "".join(parts[-count:])):
                if end in self._names:
                    return end
        return ""

    def _cold_file(self, path: str) -> bool:
        if path not in self._files:
            self._files[path] = self._patterns.match(path)
        return self._files[path]


def _marks_of(model: FileModel) -> dict[tuple[str, str], str]:
    """The marks of a file's declarations, by class and name."""
    return {
        (function.owner, function.name): mark[1]
        for function in model.functions
        if function.kind == "declaration" and "cudalint" in function.comment
        if (mark := _MARK.search(function.comment))
    }


def _is_structor(function: Function) -> bool:
    """Whether it is a constructor or a destructor."""
    owner = function.owner.split("<")[0].rpartition("::")[2].strip()
    return bool(owner) and function.name.lstrip("~") == owner


def words(name: str) -> list[str]:
    """Cut a name at `_` and at camelCase boundaries, in lower case: `runTest_2` → run, test, 2."""
    return [word.lower() for word in _WORDS.findall(name)]
