"""Declarations of variables in the text: their types as written, and what they are made from.

Patterns, not a parse: the last declaration of the name before a place counts,
whichever block it stands in.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import msgspec

from cudalint.regex import regex

if TYPE_CHECKING:
    from cudalint.source import SourceFile
    from cudalint.syntax.model import FileModel, Function

_TYPE = regex(
    r"(?:^|(?<=[^\w.>:\s])|(?<=\s))(?P<type>(?:(?:const|static|constexpr|typename|struct|class|extern)\s+)*"
    r"(?:::\s*)?[A-Za-z_]\w*(?:\s*::\s*[A-Za-z_]\w*)*"
    r"(?:\s*<[^;{}]*>(?:\s*::\s*\w+)*)?(?:\s+const\b)?[\s*&]+)$"
)
_NO_TYPE = regex(
    r"\b(?:return|else|delete|goto|new|case|throw|using|namespace|co_return|co_yield|and|or|not)\b"
)
_BINDING = regex(rb"\bauto\s*&{0,2}\s*\[((?:\s*\w+\s*,)*)\s*$")
_BEFORE = 160
_VALUE = 640


class Declared(msgspec.Struct, frozen=True):
    """The declaration of a variable: its type as written, where its name ends, its value's text.

    `loops`: the value is what a range-based `for` goes through.
    """

    type: str
    at: int
    value: str = ""
    loops: bool = False


class Place(msgspec.Struct, frozen=True):
    """Where an expression stands: file, innermost function (−1: none), class around it, offset."""

    path: str
    function: int
    owner: str
    at: int


class Declarations:
    """Answers for the files of a run that `sources` has."""

    def __init__(self, models: Mapping[str, FileModel], sources: Mapping[str, SourceFile]) -> None:
        self._models = models
        self._sources = sources
        self._parameters: dict[tuple[str, str], bool] = {}
        self._in_bodies: dict[tuple[str, int, str], list[Declared]] = {}

    def in_body(self, name: str, function: Function, place: Place) -> Declared | None:
        """The declaration of a local in a function's body, before `place`."""
        source = self._sources.get(place.path)
        body = function.body
        if source is None or body is None or body.path != place.path:
            return None
        key = (place.path, body.start, name)
        if key not in self._in_bodies:
            found = list(self._all(name, source.data, body.start, body.end, place))
            self._in_bodies[key] = found
        before = (declared for declared in self._in_bodies[key] if declared.at < place.at)
        return next(before, None)

    def is_template_parameter(self, name: str, path: str) -> bool:
        """Whether a template of the file has a type parameter of this name."""
        if not name.isidentifier() or path not in self._sources:
            return False
        key = (path, name)
        if key not in self._parameters:
            written = rf"\b(?:typename|class)\s+(?:\.\.\.\s*)?{name}\s*[,>=]".encode()
            found = re.search(written, self._sources[path].data)
            self._parameters[key] = found is not None
        return self._parameters[key]

    def at_file_scope(self, name: str, path: str) -> Declared | None:
        """The declaration of a variable outside functions and classes."""
        source = self._sources.get(path)
        if source is None:
            return None
        end = len(source.data)
        return next(self._all(name, source.data, 0, end, Place(path, -1, "", end)), None)

    def _all(
        self, name: str, data: bytes, start: int, end: int, place: Place
    ) -> Iterator[Declared]:
        """The declarations of a name in a part of a file, the last one first."""
        if not name.isascii() or not name:
            return
        spelt = name.encode()
        at = end
        while (at := data.rfind(spelt, start, at)) >= 0:
            if data[at - 1 : at] not in (b" ", b"*", b"&", b"\n", b"\t"):
                continue
            after = data[at + len(spelt) : at + len(spelt) + 2].lstrip()[:1]
            bound = _bound(data, start, at, len(spelt)) if after in (b",", b"]") else None
            if bound is not None:
                yield bound
                continue
            if after and after in b";={([:,)" and not self._is_inside(place, at):
                before = data[max(start, at - _BEFORE) : at].decode("latin-1")
                before = before[max(before.rfind(char) for char in ";{}") :]
                written = _TYPE.search(before)
                if written is not None and _declares(before[: written.start()], after, written):
                    value, loops = _value(data, at + len(spelt))
                    type_text = written["type"] + "*" * (after == b"[")
                    yield Declared(type_text, at + len(spelt), value, loops)

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


def _bound(data: bytes, start: int, at: int, length: int) -> Declared | None:
    """A structured binding; of those to what a map holds the second is made from the map."""
    before = _BINDING.search(data, max(start, at - _BEFORE), at)
    end = data.find(b"]", at, at + _BEFORE)
    if before is None or end < 0:
        return None
    value, loops = _value(data, end + 1)
    if not loops or before[1].count(b",") != 1:
        return Declared("auto", at + length)
    return Declared("auto", at + length, value, loops)


def _value(data: bytes, at: int) -> tuple[str, bool]:
    """What follows a declared name, and whether a range-based `for` goes through it."""
    text = data[at : at + _VALUE].decode("latin-1").lstrip()
    if text.startswith(":") and not text.startswith("::"):
        return text[1 : 1 + stop(text[1:], ")")].strip(), True
    if text.startswith(("=", "(", "{")):
        return text[1 : 1 + stop(text[1:], ";,)}")].strip(), False
    return "", False


def stop(text: str, ends: str) -> int:
    """Where one of `ends` stands outside brackets, else the end."""
    depth = 0
    for place, char in enumerate(text):
        if depth == 0 and char in ends:
            return place
        depth += (char in "([{") - (char in ")]}")
    return len(text)
