"""The variables of one function, in their scopes, with the values they are given.

Read from text by patterns: declarations (several declarators, heads of loops,
structured bindings), assignments, operands that `asm` and calls write through
`&`. What can't be read is left out: a name without a declaration here is a
member, a global, or made by a macro.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec

from cudalint.devicecode.flow.brackets import Brackets
from cudalint.regex import regex
from cudalint.syntax.brackets import split_arguments

if TYPE_CHECKING:
    from cudalint.devicecode.flow.text import CodeTexts
    from cudalint.syntax.model import FileModel, Function

_TEMPLATE = r"(?:\s*<[^;{}()&|]*>(?:\s*::\s*\w+)*)?"
_DECLARATION = regex(
    r"(?:^|[;{}]|\b(?:for|if|while|switch)\s*\()\s*"
    rf"(?P<type>(?:[A-Za-z_][\w:]*{_TEMPLATE}[\s*&]+)+?)"
    r"(?P<name>[A-Za-z_]\w*)\s*(?=[=;\[{(,:])(?!::)"
)
_STRUCTURED = regex(r"\bauto\s*&*\s*\[(?P<names>[\w\s,]*)\]\s*=(?!=)")
_ASSIGNMENT = regex(
    r"(?<![\w.>])(?P<name>[A-Za-z_]\w*)\s*(?P<path>(?:\[[^\[\];]*(?:\[[^\[\];]*\][^\[\];]*)*\]\s*"
    r"|(?:\.|->)\s*\w+\s*)*)(?P<operator>(?:[-+*/%&|^]|<<|>>)?)=(?!=)"
)
_WRITTEN = regex(r"(?:[(,]|\))\s*&\s*(?P<name>[A-Za-z_]\w*)\s*(?=[,)])")
_DECLARATOR = regex(r"\s*(?P<stars>[*&\s]*)(?:const\s+)?(?P<name>[A-Za-z_]\w*)\s*")
_NO_TYPE = frozenset(
    (
        *("return", "else", "delete", "goto", "new", "case", "throw", "using", "typedef", "do"),
        *("namespace", "struct", "class", "enum", "union", "template", "friend", "public", "break"),
        *("continue", "sizeof", "default", "operator", "co_return", "co_yield"),
    )
)


class Value(msgspec.Struct, frozen=True):
    """The text range `[start, end)` that a variable is made from.

    `adds`: what the variable was before stays part of it (`+=`, a write through `&`).
    """

    start: int
    end: int
    adds: bool = False


class Local(msgspec.Struct):
    """A variable or parameter: known from `start` to `scope_end`.

    `type` is what its declaration says before the name, with `*`, `&` and `[]`.
    `element_values` are what is stored in parts of it.
    """

    name: str
    type: str
    start: int
    scope_end: int
    parameter: bool = False
    values: list[Value] = []
    element_values: list[Value] = []


class Bindings:
    """The variables of the function (no lambda) with the index `function` in `model`.

    `code` is the file's text, see `cudalint.devicecode.flow.text`. The lambdas inside belong
    to it.
    """

    def __init__(self, model: FileModel, function: Function, code: str) -> None:
        self.function = function
        self.code = code
        body = function.body
        self.start, self.end = (body.start, body.end) if body else (0, 0)
        self.brackets = Brackets(code, self.start, self.end)
        self._by_name: dict[str, list[Local]] = {}
        functions = [f for f in model.functions if self._is_own(f, model, function)]
        for own in functions:
            scope = own.body or function.span
            for parameter in own.parameters:
                if parameter.name:
                    self._add(Local(parameter.name, parameter.type, scope.start, scope.end, True))
        self._declarations()
        self._assignments()
        for asm in model.assembly:
            if not asm.via_macro and self.start <= asm.span.start < self.end:
                self._outputs(asm.operands, asm.span.start, asm.span.end)

    def find(self, name: str, at: int) -> Local | None:
        """The variable that `name` means at the offset `at`."""
        best = None
        for local in self._by_name.get(name, ()):
            if local.start <= at < local.scope_end and (best is None or local.start >= best.start):
                best = local
        return best

    def locals(self) -> Iterator[Local]:
        """All variables and parameters."""
        for found in self._by_name.values():
            yield from found

    def _is_own(self, other: Function, model: FileModel, function: Function) -> bool:
        if other is function:
            return True
        return (
            other.lambda_
            and not other.via_macro
            and self.start <= other.span.start < self.end
            and other.body is not None
        )

    def _add(self, local: Local) -> None:
        self._by_name.setdefault(local.name, []).append(local)

    def _declarations(self) -> None:
        at = self.start
        while match := _DECLARATION.search(self.code, at, self.end):
            at = match.end()
            words = re.findall(r"[A-Za-z_]\w*", match["type"])
            if words[0] in _NO_TYPE:
                at = match.start() + 1
                continue
            self._declarators(match)
        for match in _STRUCTURED.finditer(self.code, self.start, self.end):
            value = Value(match.end(), self.brackets.statement_end(match.end()))
            for name in re.findall(r"\w+", match["names"]):
                scope = self.brackets.scope_end(match.start())
                self._add(Local(name, "auto", value.end, scope, values=[value]))

    def _declarators(self, match: re.Match[str]) -> None:
        base = " ".join(match["type"].split())
        start = match.start("name")
        scope = self.brackets.scope_end(start)
        end = self.brackets.statement_end(start)
        text = self.code[start:end].encode("latin-1")
        for number, (low, high) in enumerate(split_arguments(text)):
            declarator = _DECLARATOR.match(self.code, start + low, start + high)
            if declarator is None:
                return
            type_ = base if number == 0 else base.rstrip("*& ")
            type_ += declarator["stars"].replace(" ", "")
            rest = self.code[declarator.end() : start + high]
            if rest.startswith("["):
                type_ += "[]"
            value = Value(declarator.end(), start + high)
            # A variable is not known in its own initialiser, save by mistake.
            known = start + high if rest.strip() else declarator.end()
            local = Local(declarator["name"], type_, known, scope)
            if rest.strip():
                local.values = [value]
            self._add(local)

    def _assignments(self) -> None:
        for match in _ASSIGNMENT.finditer(self.code, self.start, self.end):
            if self._is_store(match.start()):
                continue
            local = self.find(match["name"], match.start())
            if local is None:
                continue
            adds = match["operator"] != ""
            value = Value(match.end(), self.brackets.expression_end(match.end()), adds)
            if match["path"].strip():
                local.element_values = [*local.element_values, value]
            else:
                local.values = [*local.values, value]
        for match in _WRITTEN.finditer(self.code, self.start, self.end):
            local = self.find(match["name"], match.start("name"))
            around = self.brackets.around(match.start("name"))
            if local is not None and around is not None:
                local.values = [*local.values, Value(around[0] + 1, around[1], True)]

    def _outputs(self, operands: str, start: int, end: int) -> None:
        outputs = operands.split(":")[0]
        for name in re.findall(r"\(\s*([A-Za-z_]\w*)", outputs):
            local = self.find(name, start)
            if local is not None:
                local.values = [*local.values, Value(start, end, True)]

    def _is_store(self, at: int) -> bool:
        """Whether what stands at `at` is behind a unary `*`: what it points to changes."""
        before = self.code[max(self.start, at - 20) : at].rstrip()
        return before.endswith("*") and before[:-1].rstrip()[-1:] in tuple(";{}(,)*=")


class BindingsOf:
    """The bindings of the functions of one run, each read at the first question."""

    def __init__(self, codes: CodeTexts) -> None:
        self._codes = codes
        self._known: dict[tuple[str, int], Bindings] = {}

    def get(self, model: FileModel, function: Function) -> Bindings:
        """The bindings of a function of `model` that is no lambda and has a body."""
        key = (model.path, function.index)
        if key not in self._known:
            self._known[key] = Bindings(model, function, self._codes.of(model.path))
        return self._known[key]
