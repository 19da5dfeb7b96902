"""Names for the null stream: macros and constants that stand for one.

How a null stream is spelt is `cudalint.hostcode.streams`; which calls may not have one,
the rules say. Variables that may change are not looked at here.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from cudalint.hostcode.streams import NullKind, is_stream_type, null_stream
from cudalint.project.headermacros import home
from cudalint.regex import regex

if TYPE_CHECKING:
    from cudalint.context import Context
    from cudalint.syntax.model import Call, Launch, Variable

_NAME = regex(r"(?:::)?(?:\w+::)*([A-Za-z_]\w*)")
_CONSTANT = regex(r"\bconst(?:expr)?\b[^;{}]*$")
_VALUE = regex(r"\s*(?:=\s*([^,;]*)|(\{[^{};]*\}|\([^;]*?\))\s*[,;])")
_FAR = 200


class NullNames:
    """Answers for the arguments of the records of one run."""

    def __init__(self, context: Context) -> None:
        self._context = context

    def kind(self, text: str, record: Call | Launch) -> NullKind | None:
        """How `text`, an argument of `record`, means the null stream; None if it does not."""
        kind = null_stream(text)
        name = _NAME.fullmatch(text) if kind is None else None
        if name is None:
            return kind
        path = record.span.path
        files = (path, *self._context.project.includes.closure(path))
        bodies = {body for file in files for body in self._macros(file).get(text, ())}
        kinds = {null_stream(body) for body in bodies}
        if kinds:
            return kinds.pop() if len(kinds) == 1 else None
        return self._constant(name[1], record, files)

    def _constant(
        self, name: str, record: Call | Launch, files: tuple[str, ...]
    ) -> NullKind | None:
        """The same for the name of a constant, where no variable or parameter may be meant."""
        around = self._around(record)
        functions = self._context.models[home(record)].functions
        if any(p.name == name for index in around for p in functions[index].parameters):
            return None
        values = {
            self._value(variable)
            for file in files
            for variable in self._variables(file).get(name, ())
            if variable.function < 0 or (file == home(record) and variable.function in around)
        }
        if not values or None in values:
            return None
        return "legacy" if values == {"legacy"} else "nullptr"

    def _around(self, record: Call | Launch) -> list[int]:
        """The function that the record is in, and those around a lambda."""
        functions = self._context.models[home(record)].functions
        found, index = [], record.function
        while index >= 0:
            found.append(index)
            index = functions[index].parent
        return found

    def _value(self, variable: Variable) -> NullKind | None:
        """Which null stream a constant is, None for another one and for what is no constant."""
        code = self._context.code(variable.span.path)
        start, end = variable.span.start, variable.span.end
        if not is_stream_type(variable.type) or not _CONSTANT.search(
            code[max(start - _FAR, 0) : start]
        ):
            return None
        value = _VALUE.match(code, end, end + _FAR)
        if value is None:
            return None
        text = value[1] if value[1] is not None else value[2][1:-1]
        return null_stream(text.strip() or "{}")

    def _macros(self, path: str) -> dict[str, list[str]]:
        if path not in self._known_macros:
            table: dict[str, list[str]] = {}
            for macro in self._context.models[path].macros:
                if macro.parameters is None:
                    table.setdefault(macro.name, []).append(macro.body)
            self._known_macros[path] = table
        return self._known_macros[path]

    def _variables(self, path: str) -> dict[str, list[Variable]]:
        if path not in self._known_variables:
            table: dict[str, list[Variable]] = {}
            for variable in self._context.models[path].variables:
                table.setdefault(variable.name, []).append(variable)
            self._known_variables[path] = table
        return self._known_variables[path]

    @cached_property
    def _known_macros(self) -> dict[str, dict[str, list[str]]]:
        return {}

    @cached_property
    def _known_variables(self) -> dict[str, dict[str, list[Variable]]]:
        return {}
