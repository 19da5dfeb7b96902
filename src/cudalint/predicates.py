"""Reads conditions: does a branch run only when someone debugs, traces or profiles?

Plain text in, a yes or no out. Which branches there are is the FileModel's to
say; what follows from them is `cudalint.coldregions`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

_DEBUG = re.compile(r"debug|trace|dump|verbose|profil|validate", re.IGNORECASE)
_NAME = re.compile(r"[A-Za-z_]\w*")
_NEVER = re.compile(r"(?:==\s*(?:0|false)|!=\s*(?:1|true))$")


def debug_only(
    condition: str, flags: Mapping[str, str] | None = None, *, when: bool = True
) -> bool:
    """Whether the condition being `when` (true or false) means that something is debugged.

    `flags` are local variables with their initialisers: a plain name stands for
    what it was made from. `NDEBUG` says the opposite of what it seems to.
    """
    text = _peeled(condition.rpartition(";")[2].strip())
    if not _DEBUG.search(text) and not _uses(text, flags):
        return False
    for operator, every in (("||", when), ("&&", not when)):
        operands = _split(text, operator)
        if len(operands) > 1:
            test = all if every else any
            return test(debug_only(operand, flags, when=when) for operand in operands)
    if text.startswith("!") and not text.startswith("!="):
        return debug_only(text[1:], flags, when=not when)
    if _NEVER.search(text):
        return debug_only(_NEVER.sub("", text), flags, when=not when)
    return _is_debug_name(text, flags) is when


def _is_debug_name(text: str, flags: Mapping[str, str] | None) -> bool | None:
    """True for a debug predicate, False for the negation of one, None for neither."""
    if flags and text in flags:
        value = flags[text]
        rest = {name: other for name, other in flags.items() if name != text}
        if debug_only(value, rest):
            return True
        return False if debug_only(value, rest, when=False) else None
    for name in _NAME.findall(text):
        if _DEBUG.search(name):
            return "NDEBUG" not in name.upper()
    return None


def _uses(text: str, flags: Mapping[str, str] | None) -> bool:
    return flags is not None and any(name in flags for name in _NAME.findall(text))


def _peeled(text: str) -> str:
    while text.startswith("(") and text.endswith(")"):
        depth = 0
        for place, char in enumerate(text):
            depth += (char == "(") - (char == ")")
            if depth == 0 and place < len(text) - 1:
                return text
        text = text[1:-1].strip()
    return text


def _split(text: str, operator: str) -> list[str]:
    """Cut at the top-level places of `operator`."""
    parts, depth, start = [], 0, 0
    for place, char in enumerate(text):
        depth += (char in "([{") - (char in ")]}")
        if depth == 0 and text.startswith(operator, place) and place >= start:
            parts.append(text[start:place].strip())
            start = place + len(operator)
    parts.append(text[start:].strip())
    return parts
