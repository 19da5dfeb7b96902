"""Uses of macros that a header defines: what their bodies do in the files that include it.

A FileModel expands the macros of its own file only. Here the records of a
header's macro bodies are given once more for each use in an including file, with
the arguments put in; macros that those bodies use are followed too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from cudalint.regex import regex
from cudalint.syntax.macros import MAX_DEPTH, Definition, argument_values
from cudalint.syntax.model import Call, Launch
from cudalint.syntax.substitution import call_at, launch_at

if TYPE_CHECKING:
    from cudalint.finding import Span
    from cudalint.project.includes import Includes
    from cudalint.syntax.model import FileModel

_WORD = regex(rb"[A-Za-z_]\w*")


class _Template:
    """A record of a macro's body, with the definition that holds it."""

    def __init__(self, definition: Definition, record: Call | Launch) -> None:
        self._definition = definition
        self._record = record
        self._alike: Call | None = None

    def at(self, call: Call, use: Span, function: int) -> Call | Launch:
        """The record as `call`, a use of the macro, makes it in a function."""
        # Most records of checking macros say the same wherever the macro is used.
        if self._alike is not None:
            return msgspec.structs.replace(self._alike, use=use, function=function)
        values = argument_values(self._definition, call.argument_text)
        record = self._record
        if isinstance(record, Launch):
            return msgspec.structs.replace(launch_at(record, values, use, 0), function=function)
        made = msgspec.structs.replace(call_at(record, values, use, 0), function=function)
        words = _WORD.findall(record.callee.encode() + b" " + record.argument_text)
        if not set(self._definition.parameters or ()).intersection(words):
            self._alike = made
        return made


class HeaderMacros:
    """The macros with calls or launches in their bodies, of all files of a run."""

    def __init__(self, models: Mapping[str, FileModel], includes: Includes) -> None:
        self._includes = includes
        self._own: dict[str, frozenset[str]] = {}
        self._found: dict[str, tuple[Call | Launch, ...]] = {}
        self._bodies: dict[str, dict[str, list[_Template]]] = {}
        for path in sorted(models):
            model = models[path]
            if model.macros:
                self._own[path] = frozenset(macro.name for macro in model.macros)
            records: tuple[Call | Launch, ...] = (*model.calls, *model.launches)
            templates = [r for r in records if r.via_macro and r.use is None]
            definitions = _definitions(model) if templates else {}
            for record in templates:
                for span, definition in definitions.get(record.via_macro, ()):
                    if span.covers(record.name_span.start):
                        by_path = self._bodies.setdefault(record.via_macro, {})
                        by_path.setdefault(path, []).append(_Template(definition, record))

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

    def _records(self, model: FileModel) -> Sequence[Call | Launch]:
        if not self._bodies or not model.includes:
            return ()
        if model.path not in self._found:
            self._found[model.path] = tuple(self._made(model))
        return self._found[model.path]

    def _made(self, model: FileModel) -> Iterator[Call | Launch]:
        own = self._own.get(model.path, frozenset())
        uses = [call for call in model.calls if call.name in self._bodies]
        closure = frozenset(self._includes.closure(model.path)) if uses else frozenset()
        for call in uses:
            if call.name not in own and (not call.via_macro or call.use is not None):
                use = call.use or call.name_span
                yield from self._expanded(call, use, call.function, closure, MAX_DEPTH)

    def _expanded(
        self, call: Call, use: Span, function: int, closure: frozenset[str], depth: int
    ) -> Iterator[Call | Launch]:
        """What a use of a header's macro does, and what the macros in its body do."""
        for path, body in self._bodies[call.name].items() if depth else ():
            if path not in closure:
                continue
            for template in body:
                made = template.at(call, use, function)
                yield made
                if isinstance(made, Launch):
                    continue
                if made.name in self._bodies and made.name != call.name:
                    yield from self._expanded(made, use, function, closure, depth - 1)


def _definitions(model: FileModel) -> dict[str, list[tuple[Span, Definition]]]:
    """The function-like macros of a file by name, each with its place."""
    found: dict[str, list[tuple[Span, Definition]]] = {}
    for macro in model.macros:
        parameters = tuple(name.encode() for name in macro.parameters or ())
        definition = Definition(macro.name.encode(), parameters, b"", 0, 0, 0, 0)
        found.setdefault(macro.name, []).append((macro.span, definition))
    return found


def home(record: Call | Launch) -> str:
    """The path of the file whose function the record belongs to."""
    return (record.use or record.span).path
