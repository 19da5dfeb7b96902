"""Which compile commands a file is part of, and what they define.

Where commands come from is `cudalint.compiledb.stage`; what they mean for includes
is `cudalint.project.includes`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cudalint.compiledb.model import CompileCommand
    from cudalint.project.includes import Includes

Defined = Mapping[str, "str | None"]
"""What a command leaves of each macro that it names: its text, None for an undefined one."""


class Commands:
    """The commands by file; a file without one is compiled by those of its includers."""

    def __init__(self, own: Mapping[str, Sequence[CompileCommand]], includes: Includes) -> None:
        self._own = own
        self._includes = includes
        self._known: dict[str, tuple[CompileCommand, ...]] = {}
        self._defined: dict[str, tuple[Defined, ...]] = {}

    def own(self, path: str) -> Sequence[CompileCommand]:
        """The commands that compile the file at `path` itself, in the database's order."""
        return self._own.get(path, ())

    def of(self, path: str) -> tuple[CompileCommand, ...]:
        """The distinct commands in which the file at `path` is read, by path of their files."""
        if not self._own:
            return ()
        if path not in self._known:
            units = (path,) if path in self._own else self._includes.includers(path)
            found = (command for unit in units for command in self.own(unit))
            self._known[path] = tuple(dict.fromkeys(found))
        return self._known[path]

    def defined(self, path: str) -> tuple[Defined, ...]:
        """What the commands of the file at `path` define: one mapping for each distinct set."""
        if not self._own:
            return ()
        if path not in self._defined:
            distinct = dict.fromkeys(command.defines for command in self.of(path))
            self._defined[path] = tuple(dict(defines) for defines in distinct)
        return self._defined[path]
