"""Finds conditions that are known before a kernel is launched: made of its parameters alone.

Where such a condition does harm is rule CU204's business.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from cudalint.devicecode.flow.branches import condition_range
from cudalint.finding import Span
from cudalint.project.scalar_types import INTEGERS
from cudalint.regex import regex

if TYPE_CHECKING:
    from cudalint.context import Context
    from cudalint.devicecode.flow.bindings import Bindings
    from cudalint.syntax.model import Branch, Function

_WORD = regex(r"(?<!\w)[A-Za-z_]\w*")
_OTHER = regex(r"[;\[?]|\w\s*(?:\.\s*[A-Za-z_]|->|\()|(?<![=!<>])=(?!=)")
_CAST = regex(r"\b(?:static_cast|const_cast)\s*<[\w\s:]*>|\b(?:bool|int|unsigned)\s*(?=\()")
_ENUMERATOR = regex(r"[A-Za-z_]\w*(?:\s*::\s*\w+)+")
_STEPS = (
    regex(r"(?:\+\+|--)\s*([A-Za-z_]\w*)"),
    regex(r"(?<!\w)([A-Za-z_]\w*)\s*(?:\+\+|--)"),
)
_CONSTEXPR = regex(r"if\s+constexpr\b")
_LITERALS = frozenset({"true", "false", "not", "and", "or"})
_SCALAR_WORDS = frozenset(word for name in INTEGERS for word in name.split()) | {"signed"}


def flag_condition(branch: Branch, kernel: Function, context: Context) -> Span | None:
    """Where the condition stands, if it is made of scalar parameters and constants alone."""
    text = branch.condition
    if "<" in text or "(" in text:
        text = _CAST.sub(" ", text)
    if _OTHER.search(text):
        return None
    enumerators: set[str] = set()
    if "::" in text:
        enumerators = {match[0] for match in _ENUMERATOR.finditer(text)}
        text = _ENUMERATOR.sub(" ", text)
    words = set(_WORD.findall(text)) - _LITERALS
    used = {
        parameter.name
        for parameter in kernel.parameters
        if parameter.name in words and _is_scalar(parameter.type, branch, enumerators, context)
    }
    path = kernel.span.path
    evaluate = context.project.constants.evaluate
    if not used or any(evaluate(path, word) is None for word in words - used):
        return None
    bindings = context.bindings(path, kernel.index)
    if bindings is None or _CONSTEXPR.match(bindings.code, *_range(branch.head)):
        return None
    if not all(_is_kept(word, branch, bindings) for word in used):
        return None
    return Span(path, *condition_range(branch, bindings.code))


def _is_kept(name: str, branch: Branch, bindings: Bindings) -> bool:
    """Whether `name` is the parameter, and the kernel never changes it."""
    local = bindings.find(name, branch.span.start)
    if local is None or not local.parameter or local.values:
        return False
    return name not in _stepped(bindings)


@lru_cache(maxsize=1)
def _stepped(bindings: Bindings) -> frozenset[str]:
    """What is counted up or down anywhere in the kernel."""
    return frozenset(
        match[1]
        for pattern in _STEPS
        for match in pattern.finditer(bindings.code, bindings.start, bindings.end)
    )


def _is_scalar(type_: str, branch: Branch, enumerators: set[str], context: Context) -> bool:
    """Whether it is a bool, an integer or an enumeration, passed by value."""
    if any(char in type_ for char in "*&<(."):
        return False
    words = [word.removeprefix("std::") for word in type_.split() if word != "const"]
    if words and all(word in _SCALAR_WORDS for word in words):
        return True
    if len(words) != 1:
        return False
    model = context.models[branch.span.path]
    targets = {alias.target for alias in model.aliases if alias.name == words[0]}
    if targets:
        return targets != {type_} and all(
            _is_scalar(target, branch, enumerators, context) for target in targets
        )
    if any(record.name == words[0] for record in model.structs):
        return False
    return branch.keyword == "switch" or any(e.startswith(words[0] + "::") for e in enumerators)


def _range(span: Span) -> tuple[int, int]:
    return span.start, span.end
