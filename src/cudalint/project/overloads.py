"""Which of several overloads a call can mean, by what the text tells of its arguments.

Only what can't be is taken out: a number given for a pointer, a pointer for a
number, an object of one class of the run for one of another. What libclang alone
could tell apart stays.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from cudalint.project.classes import class_name
from cudalint.project.scalar_types import INTEGERS
from cudalint.regex import regex
from cudalint.syntax.brackets import split_arguments

if TYPE_CHECKING:
    from cudalint.project.classes import Classes
    from cudalint.syntax.model import Call, Function

_NUMBERS = frozenset((*INTEGERS, "float", "double", "long double"))
_LITERAL = regex(r"-?\d[\w.]*|true|false")
_WORD = regex(r"\w+")
_ADDRESS = regex(r"&\s*[\w.>-]+")
_NAME = regex(r"[A-Za-z_]\w*")
_POINTER = "*"
_NUMBER = "number"


def fitting(
    functions: Sequence[Function],
    call: Call,
    classes: Classes,
    type_of: Callable[[str], str | None],
) -> list[bool]:
    """Of each function whether the arguments of `call` can be given to it.

    `type_of` gives the type of an expression, None where it is not known.
    """
    given = [(a.text, _kind_of_argument(a.text, classes, type_of)) for a in call.arguments]
    if not any(kind for _, kind in given):
        return [True] * len(functions)
    return [_takes(function, given, classes) for function in functions]


def _takes(function: Function, given: list[tuple[str, str]], classes: Classes) -> bool:
    template = set(_WORD.findall(function.template)) if function.template else set()
    for (text, kind), parameter in zip(given, function.parameters, strict=False):
        if not kind or class_name(parameter.type) in template:
            continue
        wanted = _kind(parameter.type, classes)
        if wanted and kind != wanted and not _converts(kind, wanted, text, classes):
            return False
    return True


def _kind_of_argument(text: str, classes: Classes, type_of: Callable[[str], str | None]) -> str:
    if _LITERAL.fullmatch(text):
        return _NUMBER
    if text == "nullptr" or _ADDRESS.fullmatch(text):
        return _POINTER
    if not _NAME.fullmatch(text):
        return ""
    found = type_of(text)
    return "" if found is None else _kind(found, classes)


def _kind(type_text: str, classes: Classes) -> str:
    """A class's name, `*` for a pointer, "number"; "" for what can't be told."""
    text = type_text.rstrip("& ")
    if text.endswith("*"):
        return _POINTER
    name = " ".join(word for word in text.split() if word not in ("const", "volatile"))
    if name.removeprefix("std::") in _NUMBERS:
        return _NUMBER
    found = classes.of_type(text) if "<" not in text else None
    return found if found is not None and classes.is_known(found) else ""


def _converts(given: str, wanted: str, text: str, classes: Classes) -> bool:
    """Whether what is `given` may become what is `wanted`."""
    if given == _NUMBER and wanted == _POINTER:
        return text == "0"
    if {given, wanted} == {_NUMBER, _POINTER}:
        return False
    if given in (_NUMBER, _POINTER) or wanted in (_NUMBER, _POINTER):
        return True  # by a constructor or a conversion
    return wanted in classes.with_bases(given)


def given_count(call: Call) -> int | None:
    """How many arguments a call has; None where a pack may stand for any number."""
    written = call.argument_text
    if b"..." in written or b"__VA_ARGS__" in written:
        return None
    if b"," in written:
        return len(split_arguments(written))
    return int(bool(written) and not written.isspace())


def arity(function: Function, *, defaults: bool) -> tuple[int, int]:
    """The least and the most arguments; `defaults`: a declaration may have default arguments."""
    parameters = function.parameters
    if any("..." in p.type or "..." in p.name for p in parameters):
        return 0, sys.maxsize
    if len(parameters) == 1 and parameters[0].type == "void" and not parameters[0].name:
        return 0, 0
    needed = 0 if defaults else sum(p.default is None for p in parameters)
    return needed, len(parameters)
