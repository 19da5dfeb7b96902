"""Reads conditions: does a branch run only when someone debugs, traces or profiles?

Plain text in, a yes or no out. Which branches there are is the FileModel's to
say; what follows from them is `cudalint.hostcode.coldregions`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from cudalint.regex import regex

_DEBUG = regex(r"debug|trace|dump|verbose|profil|validate|launch_blocking", re.IGNORECASE)
_NAME = regex(r"[A-Za-z_]\w*")
_NEVER = regex(r"(?:==\s*(?:0|false)|!=\s*(?:1|true))$")


def debug_only(
    condition: str, flags: Mapping[str, str] | None = None, *, when: bool = True
) -> bool:
    """Whether the condition being `when` (true or false) means that something is debugged.

    `flags` are local variables with their initialisers: a plain name stands for
    what it was made from, and for what it is called where that says neither.
    `NDEBUG` says the opposite of what it seems to.
    """
    if not flags or not _uses(condition, flags):
        return _plainly_debug_only(condition, when)
    return _debug_only(condition, flags, when)


@lru_cache(maxsize=4096)
def _plainly_debug_only(condition: str, when: bool) -> bool:
    return _debug_only(condition, {}, when)


def _debug_only(condition: str, flags: Mapping[str, str], when: bool) -> bool:
    if not _DEBUG.search(condition) and not _uses(condition, flags):
        return False
    text = peeled(condition.rpartition(";")[2].strip())
    for operator, every in (("||", when), ("&&", not when)):
        operands = split(text, operator)
        if len(operands) > 1:
            test = all if every else any
            return test(_debug_only(operand, flags, when) for operand in operands)
    if text.startswith("!") and not text.startswith("!="):
        return _debug_only(text[1:], flags, not when)
    if _NEVER.search(text):
        return _debug_only(_NEVER.sub("", text), flags, not when)
    return _is_debug_name(text, flags) is when


def _is_debug_name(text: str, flags: Mapping[str, str]) -> bool | None:
    """True for a debug predicate, False for the negation of one, None for neither."""
    if text in flags:
        value = flags[text]
        rest = {name: other for name, other in flags.items() if name != text}
        if _debug_only(value, rest, True):
            return True
        if _debug_only(value, rest, False):
            return False
    for name in _NAME.findall(text):
        if _DEBUG.search(name):
            return "NDEBUG" not in name.upper()
    return None


def _uses(text: str, flags: Mapping[str, str]) -> bool:
    return not flags.keys().isdisjoint(_NAME.findall(text))


def peeled(text: str) -> str:
    """`text` without the parentheses around all of it."""
    while text.startswith("(") and text.endswith(")"):
        depth = 0
        for place, char in enumerate(text):
            depth += (char == "(") - (char == ")")
            if depth == 0 and place < len(text) - 1:
                return text
        text = text[1:-1].strip()
    return text


def split(text: str, operator: str) -> list[str]:
    """The operands of `operator` in `text`, cut where no bracket holds it."""
    parts, depth, start = [], 0, 0
    for place, char in enumerate(text):
        depth += (char in "([{") - (char in ")]}")
        if depth == 0 and text.startswith(operator, place) and place >= start:
            parts.append(text[start:place].strip())
            start = place + len(operator)
    parts.append(text[start:].strip())
    return parts
