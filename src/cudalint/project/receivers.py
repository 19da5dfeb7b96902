"""The type of what stands before `.` or `->`, as far as the text around it tells.

`this`, parameters, locals with their initialisers, loops over containers, members,
globals, calls whose return type is known, casts, `new` and `make_unique`. None where
the text tells nothing. Classes are `cudalint.project.classes`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import msgspec

from cudalint.project.classes import class_name
from cudalint.project.declarations import Declarations, Declared, Place, stop
from cudalint.regex import regex

if TYPE_CHECKING:
    from cudalint.project.classes import Classes
    from cudalint.project.includes import Includes
    from cudalint.source import SourceFile
    from cudalint.syntax.model import FileModel

_WORDS = regex(r"\s*((?:::\s*)?[A-Za-z_]\w*(?:\s*::\s*[A-Za-z_]\w*)*)\s*")
_CASTS = frozenset(("static_cast", "reinterpret_cast", "dynamic_cast", "const_cast"))
_MAKERS = frozenset(("make_unique", "make_shared", "allocate_shared"))
_SAME = frozenset(("move", "ref", "cref", "forward", "as_const", "get", "value", "lock", "load"))
_ELEMENTS = frozenset(
    ("at", "front", "back", "top", "emplace_back", "find", "begin", "rbegin", "cbegin")
)
_DEPTH = 6


class Part(msgspec.Struct, frozen=True):
    """One part of `a::f<T>(x).b[i]->c`; `called` has the text of its arguments."""

    name: str
    template: str = ""
    called: str | None = None
    subscripts: int = 0


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
        self._declarations = Declarations(models, sources)
        self._includes = includes
        self._classes = classes
        self._returned = returned
        self._globals: dict[tuple[str, str], str | None] = {}

    def class_of(self, expression: str, place: Place) -> str | None:
        """The class that an expression leads to; see `Classes.of_type`."""
        type_text = self.type_of(expression, place)
        if type_text is None:
            return None
        found = self._classes.of_type(type_text)
        if found and self._classes.is_known(found):
            return found
        name = class_name(type_text)
        return None if self._declarations.is_template_parameter(name, place.path) else found

    def is_wrapper(self, callee: str, place: Place) -> bool:
        """Whether a method is of a smart pointer, as in `owned.reset`, not of what it holds."""
        method = re.search(r"(->|\.)\s*\w+$", callee)
        if method is None:
            return False
        receiver = callee[: method.start()].rstrip()
        bare = receiver.lstrip("*( ")
        followed = receiver.count("*", 0, len(receiver) - len(bare)) + (method[1] == "->")
        followed += receiver.endswith((".get()", ".value()"))
        return self._classes.is_wrapper(self.type_of(receiver, place) or "", followed)

    def kept_in(self, expression: str, place: Place) -> str:
        """The name of the variable that an expression, or what it is an element of, stands for.

        A local is looked through to what it is made from; "" where there is no name.
        """
        for _ in range(_DEPTH):
            parts = _parts(expression.strip().lstrip("*&( "))
            name = next((part.name for part in reversed(parts) if part.name), "")
            declared = self._local(name, place) if len(parts) == 1 else None
            if declared is None or not declared.value:
                return name
            expression = declared.value
            place = msgspec.structs.replace(place, at=declared.at)
        return ""

    def _local(self, name: str, place: Place) -> Declared | None:
        """The declaration of a local of the function or of those around a lambda."""
        functions = self._models[place.path].functions
        function = place.function
        while function >= 0:
            declared = self._declarations.in_body(name, functions[function], place)
            if declared is not None:
                return declared
            function = functions[function].parent if functions[function].lambda_ else -1
        return None

    def type_of(self, expression: str, place: Place, depth: int = _DEPTH) -> str | None:
        """The type of an expression, as it is written where it is declared."""
        if depth == 0:
            return None
        test = stop(expression, "?") if "?" in expression else len(expression)
        if test < len(expression):
            first, second = _alternatives(expression[test + 1 :])
            found = self.type_of(first, place, depth - 1)
            return found if found is not None else self.type_of(second, place, depth - 1)
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

    def _through(self, found: str | None, parts: Sequence[Part], place: Place) -> str | None:
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
            # What is found in a map has the type of its values here: it leads to them.
            member = self._classes.member(owner, part.name)
            return type_text if member is None and part.name == "second" else member
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
            local = self._declarations.in_body(name, current, place)
            if local is not None:
                return self._meant(local, place, depth)
            for parameter in current.parameters:
                if parameter.name == name:
                    return parameter.type
            function = current.parent if current.lambda_ else -1
        member = self._classes.member(place.owner, name) if place.owner else None
        return self._global(name, place, depth) if member is None else member

    def _global(self, name: str, place: Place, depth: int) -> str | None:
        """The type of a variable at file scope, of this file or of one that it includes."""
        for path in (place.path, *self._includes.closure(place.path)):
            key = (path, name)
            if key not in self._globals:
                self._globals[key] = None  # what is made from itself is of no type
                declared = self._declarations.at_file_scope(name, path)
                if declared is not None:
                    here = Place(path, -1, "", declared.at)
                    self._globals[key] = self._meant(declared, here, depth)
            found = self._globals[key]
            if found is not None:
                return found
        return None

    def _meant(self, declared: Declared, place: Place, depth: int) -> str | None:
        """A declaration's type; for `auto` that of what it is made from."""
        if class_name(declared.type) != "auto":
            return declared.type
        here = msgspec.structs.replace(place, at=declared.at)
        found = self.type_of(declared.value, here, depth - 1) if declared.value else None
        return self._classes.element(found) if found is not None and declared.loops else found


def _alternatives(text: str) -> tuple[str, str]:
    """What stands on both sides of the `:` of a `?:`."""
    flat = text.replace("::", "  ")
    colon = stop(flat, ":")
    return text[:colon], text[colon + 1 :]


@lru_cache(maxsize=4096)
def _parts(text: str) -> tuple[Part, ...]:
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
                return ()
            name, at = re.sub(r"\s", "", words[1]), words.end()
            template = ""
            if text.startswith("<", at):
                close = _close(text, at, "<", ">")
                if close < 0:
                    return ()
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
                return ()
            if text[at] == "[":
                subscripts += 1
            elif called is None:
                called = text[at + 1 : close]
            at = close + 1
        parts.append(Part(name, template, called, subscripts))
        if at < len(text) and text[at] not in ".-":
            return ()
    return tuple(parts)


def _close(text: str, at: int, opening: str = "([{", closing: str = ")]}") -> int:
    """Where the bracket at `at` is closed, −1 for nowhere."""
    depth = 0
    for place in range(at, len(text)):
        depth += (text[place] in opening) - (text[place] in closing)
        if depth == 0:
            return place
    return -1
