"""The form of a rule: what a class must say of itself to be taken for one.

What its page, messages and examples should be like beyond that, tests ask
(`cudalint.testing`).
"""

from __future__ import annotations

import inspect
from types import ModuleType

import msgspec

from cudalint.finding import Level
from cudalint.regex import regex
from cudalint.rule import (
    CompileRule,
    FileRule,
    FixSafety,
    ProjectRule,
    Rule,
    SuppressionRule,
    TreeRule,
)

KINDS = (FileRule, ProjectRule, TreeRule, CompileRule, SuppressionRule)

CODE = regex(r"[A-Z]{2,10}[0-9]{1,6}")
NAME = regex(r"[a-z][a-z0-9]*(-[a-z0-9]+)+")
OUR_PREFIX = "CU"
"""No code of a plugin begins so."""


def rules_in(module: ModuleType) -> list[type[Rule]]:
    """The rule classes that a module defines itself; what is only a base of others is none."""
    return [
        value
        for value in vars(module).values()
        if inspect.isclass(value)
        and issubclass(value, Rule)
        and value.__module__ == module.__name__
        and (hasattr(value, "code") or not inspect.isabstract(value))
    ]


def fault_of(value: object) -> str | None:
    """Why a plugin's `value` is no rule that can be run, as the end of a sentence; None if it is.

    A class without a `code` has what its base says; one that says something else
    than the base's types allow would fail in the midst of a run.
    """
    if not inspect.isclass(value):
        return "is no class"
    if not issubclass(value, KINDS):
        return f"is derived from none of {', '.join(kind.__name__ for kind in KINDS)}"
    if inspect.isabstract(value):
        return "has no 'check'"
    for attribute, kind in _TYPES.items():
        if not isinstance(getattr(value, attribute, None), kind):
            return f"has no '{attribute}' that is a {kind.__name__}"
    if not CODE.fullmatch(value.code) or value.code.startswith(OUR_PREFIX):
        return f"has the code '{value.code}', not capital letters of its own and then digits"
    if not NAME.fullmatch(value.name):
        return f"has the name '{value.name}', not lower-case words with hyphens between them"
    if not all(isinstance(text, str) for pair in value.messages.items() for text in pair):
        return "has 'messages' that are no texts"
    return _fault_of_options(value.options)


_TYPES: dict[str, type] = {
    "code": str,
    "name": str,
    "level": Level,
    "messages": dict,
    "fix": FixSafety,
    "preview": bool,
    "default": bool,
    "since": str,
    "url": str,
}


def _fault_of_options(options: object) -> str | None:
    if not inspect.isclass(options) or not issubclass(options, msgspec.Struct):
        return "has 'options' that are no msgspec Struct"
    required = [field.name for field in msgspec.structs.fields(options) if field.required]
    return f"has an option '{required[0]}' without a default" if required else None
