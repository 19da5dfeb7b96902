"""Uses of macros that a header defines: what their bodies do in the files that include it.

A FileModel expands the macros of its own file only. Here the records of a
header's macro bodies are given once more for each use in an including file, as
they stand: arguments are not put in.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import msgspec

from cudalint.syntax.model import Call, Launch

if TYPE_CHECKING:
    from cudalint.project.includes import Includes
    from cudalint.syntax.model import FileModel


class HeaderMacros:
    """The macros with calls or launches in their bodies, of all files of a run."""

    def __init__(self, models: Mapping[str, FileModel], includes: Includes) -> None:
        self._includes = includes
        self._own: dict[str, frozenset[str]] = {}
        self._bodies: dict[str, dict[str, list[Call | Launch]]] = {}
        for path in sorted(models):
            model = models[path]
            if model.macros:
                self._own[path] = frozenset(macro.name for macro in model.macros)
            records: tuple[Call | Launch, ...] = (*model.calls, *model.launches)
            for record in records:
                if record.via_macro and record.use is None:
                    by_path = self._bodies.setdefault(record.via_macro, {})
                    by_path.setdefault(path, []).append(record)

    def calls(self, model: FileModel) -> Iterator[Call]:
        """The calls that the file makes through macros of the files it includes."""
        for record in self._records(model):
            if isinstance(record, Call):
                yield record

    def launches(self, model: FileModel) -> Iterator[Launch]:
        """The launches that the file makes through macros of the files it includes."""
        for record in self._records(model):
            if isinstance(record, Launch):
                yield record

    def _records(self, model: FileModel) -> Iterator[Call | Launch]:
        if not self._bodies or not model.includes:
            return
        own = self._own.get(model.path, frozenset())
        for call in model.calls:
            if call.name in self._bodies and call.name not in own and not call.via_macro:
                closure = self._includes.closure(model.path)
                for path, records in self._bodies[call.name].items():
                    if path in closure:
                        for record in records:
                            yield msgspec.structs.replace(
                                record, use=call.name_span, function=call.function
                            )


def home(record: Call | Launch) -> str:
    """The path of the file whose function the record belongs to."""
    return (record.use or record.span).path
