"""What integer constants and macros are worth in a file.

A name is looked up in the file itself, then in the includes known to the run, then
in what compile commands define; those beat a definition that the sources have only
for its absence. The reading of expressions is `cudalint.project.expression`; flags
of manifests (`-D`) are not looked at.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from cudalint.project.defaults import default_names
from cudalint.project.expression import evaluate
from cudalint.project.scalar_types import SIZES

if TYPE_CHECKING:
    from cudalint.project.commands import Commands
    from cudalint.project.includes import Includes
    from cudalint.syntax.model import FileModel, Macro

_NESTED = 24


class Constants:
    """Evaluates expressions over the constants and macros of each file.

    A name that has several definitions of different value (branches of
    `#ifdef`, constants local to different functions, commands) is worth None.
    """

    def __init__(
        self, models: Mapping[str, FileModel], includes: Includes, commands: Commands
    ) -> None:
        self._models = models
        self._commands = commands
        self._includes = includes
        self._tables: dict[str, _Table] = {}
        self._seen: dict[str, list[_Table]] = {}
        self._values: dict[tuple[str, str], int | None] = {}
        self._nested = 0

    def evaluate(
        self, path: str, text: str, bindings: Mapping[str, int] | None = None
    ) -> int | None:
        """The value of `text` as written in the file at `path`, or None.

        `bindings` are values of names that no file defines: template parameters.
        """
        if text.isascii() and text.isdecimal() and text[0] != "0" and len(text) < 19:
            return int(text)
        if self._nested > _NESTED:
            return None
        bound = bindings or {}

        def lookup(name: str) -> int | None:
            return bound[name] if name in bound else self._value(path, name)

        self._nested += 1
        try:
            return evaluate(
                text,
                lookup,
                apply=lambda name, arguments: self._apply(path, name, arguments, bound),
                size=lambda name: self._size(path, name),
            )
        finally:
            self._nested -= 1

    def _value(self, path: str, name: str) -> int | None:
        key = (path, name)
        if key not in self._values:
            self._values[key] = None  # what a name that needs itself is worth
            found = {self.evaluate(path, text) for text in dict.fromkeys(self._texts(path, name))}
            self._values[key] = found.pop() if len(found) == 1 else None
        return self._values[key]

    def _texts(self, path: str, name: str) -> list[str]:
        """What the name stands for: each of its definitions that may be in force."""
        texts, by_all = self._commands.texts(path, name)
        for table in self._visible(path):
            own = table.values.get(name) or table.values.get(name.rpartition("::")[2])
            if own:
                return texts if by_all and name in table.defaults else texts + own
        return texts if by_all else []

    def _apply(
        self, path: str, name: str, arguments: list[str], bound: Mapping[str, int]
    ) -> int | None:
        for table in self._visible(path):
            macros = table.functions.get(name, ())
            if macros:
                found = {self._expand(path, macro, arguments, bound) for macro in macros}
                return found.pop() if len(found) == 1 else None
        return None

    def _expand(
        self, path: str, macro: Macro, arguments: list[str], bound: Mapping[str, int]
    ) -> int | None:
        parameters = macro.parameters or ()
        if len(parameters) != len(arguments) or "#" in macro.body:
            return None
        given = dict(zip(parameters, arguments, strict=True))
        body = re.sub(r"\w+", lambda word: given.get(word.group(), word.group()), macro.body)
        return self.evaluate(path, body, bound)

    def _size(self, path: str, name: str) -> int | None:
        for table in self._visible(path):
            targets = table.aliases.get(name, ())
            if targets:
                target = targets[0].removeprefix("std::")
                if len(set(targets)) > 1 or target == name:
                    return None
                if target.endswith("*"):
                    return 8
                if target in SIZES:
                    return SIZES[target]
                return self.evaluate(path, f"sizeof({target})")
        return None

    def _visible(self, path: str) -> list[_Table]:
        """The definitions that the file at `path` sees: its own, then those of its includes."""
        if path not in self._seen:
            closure = self._includes.closure(path)
            self._seen[path] = [self._table(path), *(self._table(other) for other in closure)]
        return self._seen[path]

    def _table(self, path: str) -> _Table:
        if path not in self._tables:
            model = self._models.get(path)
            self._tables[path] = _Table(model)
        return self._tables[path]


class _Table:
    """The definitions of one file: name to texts, in file order."""

    def __init__(self, model: FileModel | None) -> None:
        self.values: dict[str, list[str]] = {}
        self.functions: dict[str, list[Macro]] = {}
        self.aliases: dict[str, list[str]] = {}
        self.defaults: frozenset[str] = frozenset()
        if model is None:
            return
        self.defaults = default_names(model)
        for macro in model.macros:
            if macro.parameters is None:
                self.values.setdefault(macro.name, []).append(macro.body)
            else:
                self.functions.setdefault(macro.name, []).append(macro)
        for constant in model.constants:
            self.values.setdefault(constant.name, []).append(constant.value)
        for alias in model.aliases:
            self.aliases.setdefault(alias.name, []).append(alias.target)
