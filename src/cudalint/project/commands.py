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


class Commands:
    """The commands by file; a file without one is compiled by those of its includers."""

    def __init__(self, own: Mapping[str, Sequence[CompileCommand]], includes: Includes) -> None:
        self._own = own
        self._includes = includes
        self._known: dict[str, tuple[CompileCommand, ...]] = {}
        self._texts: dict[str, dict[str, dict[str | None, None]]] = {}

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

    def texts(self, path: str, name: str) -> tuple[list[str], bool]:
        """What the commands of the file at `path` define a macro to be, and whether all define it.

        Each text is there once, in order.
        """
        if not self._own:
            return [], False
        if path not in self._texts:
            self._texts[path] = self._table(path)
        found = self._texts[path].get(name, {})
        return [text for text in found if text is not None], bool(found) and None not in found

    def _table(self, path: str) -> dict[str, dict[str | None, None]]:
        """By macro, the texts that it has in some command; None where one does not define it."""
        every = list(dict.fromkeys(command.defines for command in self.of(path)))
        table: dict[str, dict[str | None, None]] = {}
        counts: dict[str, int] = {}
        for defines in every:
            for name, text in defines:
                table.setdefault(name, {})[text] = None
                counts[name] = counts.get(name, 0) + 1
        for name, texts in table.items():
            if counts[name] < len(every):
                texts[None] = None
        return table
