"""The type of what stands before `.` or `->`, as far as the text around it tells.

`this`, parameters, locals with their initialisers, loops over containers, members,
globals, calls whose return type is known, casts, `new` and `make_unique`. None where
the text tells nothing. Classes are `cudalint.project.classes`.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import msgspec

from cudalint.project.classes import class_name

if TYPE_CHECKING:
    from cudalint.project.classes import Classes
    from cudalint.project.includes import Includes
    from cudalint.source import SourceFile
    from cudalint.syntax.model import FileModel

_WORDS = re.compile(r"\s*((?:::\s*)?[A-Za-z_]\w*(?:\s*::\s*[A-Za-z_]\w*)*)\s*")
_TYPE = re.compile(
    r"(?:^|(?<=[^\w.>:\s])|(?<=\s))(?P<type>(?:(?:const|static|constexpr|typename|struct|class|extern)\s+)*"
    r"(?:::\s*)?[A-Za-z_]\w*(?:\s*::\s*[A-Za-z_]\w*)*"
    r"(?:\s*<[^;{}]*>(?:\s*::\s*\w+)*)?(?:\s+const\b)?[\s*&]+)$"
)
_NO_TYPE = re.compile(
    r"\b(?:return|else|delete|goto|new|case|throw|using|namespace|co_return|co_yield|and|or|not)\b"
)
_CASTS = frozenset(("static_cast", "reinterpret_cast", "dynamic_cast", "const_cast"))
_MAKERS = frozenset(("make_unique", "make_shared", "allocate_shared"))
_SAME = frozenset(("move", "ref", "cref", "forward", "as_const", "get", "value", "lock", "load"))
_ELEMENTS = frozenset(("at", "front", "back", "top", "emplace_back"))
_BEFORE = 160
_DEPTH = 6


class Part(msgspec.Struct, frozen=True):
    """One part of `a::f<T>(x).b[i]->c`; `called` has the text of its arguments."""

    name: str
    template: str = ""
    called: str | None = None
    subscripts: int = 0


class Place(msgspec.Struct, frozen=True):
    """Where an expression stands: file, innermost function (−1: none), class around it, offset."""

    path: str
    function: int
    owner: str
    at: int


class Receivers:
    """Answers for the files of a run.

    `returned` gives the return type of the function of a class ("" for free ones)
    and a name, None where there is none or several.
    """

    def __init__(
        self,
        models: Mapping[str, FileModel],
        sources: Mapping[str, SourceFile],
        includes: Includes,
        classes: Classes,
        returned: Callable[[str, str], str | None],
    ) -> None:
        self._models = models
        self._sources = sources
        self._includes = includes
        self._classes = classes
        self._returned = returned
        self._globals: dict[tuple[str, str], str | None] = {}

    def class_of(self, expression: str, place: Place) -> str | None:
        """The class that an expression leads to; see `Classes.of_type`."""
        type_text = self.type_of(expression, place)
        if type_text is None or type_text in self._template_parameters(place):
            return None
        return self._classes.of_type(type_text)

    def type_of(self, expression: str, place: Place, depth: int = _DEPTH) -> str | None:
        """The type of an expression, as it is written where it is declared."""
        if depth == 0:
            return None
        expression = expression.strip().lstrip("*&! ")
        if expression.startswith("("):
            close = _close(expression, 0)
            inside, after = expression[1:close], expression[close + 1 :].lstrip()
            if not after:
                return self.type_of(inside, place, depth - 1)
            if after[0] not in ".-[(":  # a cast
                return inside
            found = self.type_of(inside, place, depth - 1)
            return self._through(found, _parts(after), place)
        if expression.startswith("new "):
            return expression[4:].partition("(")[0].partition("{")[0].partition("[")[0]
        parts = _parts(expression)
        if not parts:
            return None
        return self._through(self._first(parts[0], place, depth), parts[1:], place)

    def _through(self, found: str | None, parts: list[Part], place: Place) -> str | None:
        """The type of the last of `parts`, each a member of what is before it."""
        for part in parts:
            if found is None:
                return None
            found = self._member(found, part) if part.name else found
            for _ in range(part.subscripts):
                found = self._classes.element(found) if found is not None else None
        return found

    def _member(self, type_text: str, part: Part) -> str | None:
        owner = self._classes.of_type(type_text)
        if owner is None:
            return None
        if part.called is None:
            return self._classes.member(owner, part.name)
        for class_ in self._classes.with_bases(owner):
            returned = self._returned(class_, part.name)
            if returned is not None:
                return returned
        if part.name in _SAME and class_name(type_text) == owner:
            return type_text
        return self._classes.element(type_text) if part.name in _ELEMENTS else None

    def _first(self, part: Part, place: Place, depth: int) -> str | None:
        found = self._called(part, place, depth) if part.called is not None else None
        if part.name == "this":
            found = place.owner
        elif part.called is None:
            found = self._variable(part.name, place, depth)
        for _ in range(part.subscripts):
            found = self._classes.element(found) if found is not None else None
        return found

    def _called(self, part: Part, place: Place, depth: int) -> str | None:
        scope, _, name = part.name.rpartition("::")
        if name in _CASTS or name in _MAKERS:
            return part.template or None
        if name in _SAME and scope == "std":
            return self.type_of(part.called or "", place, depth - 1)
        owner = scope.rpartition("::")[2] or place.owner
        for class_ in self._classes.with_bases(owner) if owner else ():
            returned = self._returned(class_, name)
            if returned is not None:
                return returned
        returned = self._returned("", name)
        return returned if returned is not None else part.name

    def _variable(self, name: str, place: Place, depth: int) -> str | None:
        """The type of a parameter, local, member or global; a lambda sees those around it."""
        model = self._models[place.path]
        scope, _, plain = name.rpartition("::")
        if scope:
            return self._classes.member(scope.rpartition("::")[2], plain)
        function = place.function
        while function >= 0:
            current = model.functions[function]
            local = self._local(name, current.body, place, depth)
            if local is not None:
                return local
            for parameter in current.parameters:
                if parameter.name == name:
                    return parameter.type
            function = current.parent if current.lambda_ else -1
        member = self._classes.member(place.owner, name) if place.owner else None
        return self._global(name, place, depth) if member is None else member

    def _local(self, name: str, body: object, place: Place, depth: int) -> str | None:
        from cudalint.finding import Span

        source = self._sources.get(place.path)
        if source is None or not isinstance(body, Span):
            return None
        end = min(place.at, body.end)
        return self._declared(name, source.data, body.start, end, place, depth)

    def _global(self, name: str, place: Place, depth: int) -> str | None:
        """The type of a variable at file scope, of this file or of one that it includes."""
        for path in (place.path, *self._includes.closure(place.path)):
            key = (path, name)
            if key not in self._globals:
                self._globals[key] = None  # what is made from itself is of no type
                source = self._sources.get(path)
                if source is not None:
                    here = Place(path, -1, "", len(source.data))
                    end = len(source.data)
                    self._globals[key] = self._declared(name, source.data, 0, end, here, depth)
            found = self._globals[key]
            if found is not None:
                return found
        return None

    def _declared(
        self, name: str, data: bytes, start: int, end: int, place: Place, depth: int
    ) -> str | None:
        """The type in the last declaration of `name` in a part of a file."""
        if not name.isascii():
            return None
        spelt = name.encode()
        at = end
        while (at := data.rfind(spelt, start, at)) >= 0:
            after = data[at + len(spelt) : at + len(spelt) + 2].lstrip()[:1]
            if data[at - 1 : at] not in (b" ", b"*", b"&", b"\n", b"\t"):
                continue
            if after and after in b";={([:,)" and not self._is_inside(place, at):
                before = data[max(start, at - _BEFORE) : at].decode("latin-1")
                written = _TYPE.search(before)
                if written is not None and _declares(before[: written.start()], after, written):
                    return self._meant(written["type"], data, at + len(spelt), end, place, depth)
        return None

    def _meant(
        self, type_text: str, data: bytes, at: int, end: int, place: Place, depth: int
    ) -> str | None:
        """A declaration's type; for `auto` that of what follows the name."""
        if class_name(type_text) != "auto":
            return type_text
        value = data[at : at + 4 * _BEFORE].decode("latin-1").lstrip()
        here = msgspec.structs.replace(place, at=at)
        if value.startswith(":") and not value.startswith("::"):
            value = value[1:]
            looped = self.type_of(value[: _stop(value, ")")], here, depth - 1)
            return None if looped is None else self._classes.element(looped)
        if value.startswith(("=", "(", "{")):
            value = value[1:]
            return self.type_of(value[: _stop(value, ";,)}")], here, depth - 1)
        return None

    def _is_inside(self, place: Place, at: int) -> bool:
        """Whether `at` is in a comment, or, for a global, in a function."""
        model = self._models[place.path]
        number = bisect_right(model.comments, at, key=lambda comment: comment.span.start) - 1
        if number >= 0 and model.comments[number].span.covers(at):
            return True
        if place.function >= 0:
            return False
        return any(f.span.covers(at) for f in model.functions) or any(
            record.span.covers(at) for record in model.structs
        )

    def _template_parameters(self, place: Place) -> set[str]:
        model = self._models[place.path]
        text = ""
        function = place.function
        while function >= 0:
            text += f" {model.functions[function].template or ''}"
            function = model.functions[function].parent
        return set(re.findall(r"\b(?:typename|class|auto)\s+(?:\.\.\.\s*)?(\w+)", text))


def _declares(before: str, after: bytes, written: re.Match[str]) -> bool:
    """Whether what looks like a type and a name stands where a declaration can, and is none less.

    `a * b` may be a product; the name's next character is `after`.
    """
    if _NO_TYPE.search(written["type"]):
        return False
    lines = before.rstrip().rpartition("\n")[2]
    last = lines[-1:]
    if last in ("(", ","):
        return after in (b"=", b":")
    return last in ("", ";", "{", "}", ":", ")") or "//" in lines or lines.endswith("*/")


def _parts(text: str) -> list[Part]:
    """The parts of a chain of members and calls; none where it is anything else."""
    parts: list[Part] = []
    at = 0
    while at < len(text):
        if text.startswith("->", at):
            at += 2
        elif text[at] == ".":
            at += 1
        if text[at : at + 1] in ("[", "("):
            name, template = "", ""
        else:
            words = _WORDS.match(text, at)
            if words is None:
                return []
            name, at = re.sub(r"\s", "", words[1]), words.end()
            template = ""
            if text.startswith("<", at):
                close = _close(text, at, "<", ">")
                if close < 0:
                    return []
                template, at = text[at + 1 : close], close + 1
                inner = _WORDS.match(text, at) if text.startswith("::", at) else None
                if inner is not None:
                    name, at = name + re.sub(r"\s", "", inner[1]), inner.end()
        called, subscripts = None, 0
        while at < len(text) and text[at] in "([{ ":
            if text[at] == " ":
                at += 1
                continue
            close = _close(text, at)
            if close < 0:
                return []
            if text[at] == "[":
                subscripts += 1
            elif called is None:
                called = text[at + 1 : close]
            at = close + 1
        parts.append(Part(name, template, called, subscripts))
        if at < len(text) and text[at] not in ".-":
            return []
    return parts


def _close(text: str, at: int, opening: str = "([{", closing: str = ")]}") -> int:
    """Where the bracket at `at` is closed, −1 for nowhere."""
    depth = 0
    for place in range(at, len(text)):
        depth += (text[place] in opening) - (text[place] in closing)
        if depth == 0:
            return place
    return -1


def _stop(text: str, ends: str) -> int:
    """Where one of `ends` stands outside brackets, else the end."""
    depth = 0
    for place, char in enumerate(text):
        if depth == 0 and char in ends:
            return place
        depth += (char in "([{") - (char in ")]}")
    return len(text)
