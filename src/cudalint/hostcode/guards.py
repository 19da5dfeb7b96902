"""Whether an expression is reached only when someone debugs: `debug ? wait(s) : 0`.

Looks at `?:`, `&&` and `||` before a place, within its statement. Branches of
statements are `cudalint.hostcode.coldregions`; how a condition reads is
`cudalint.hostcode.predicates`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from cudalint.hostcode.predicates import debug_only
from cudalint.regex import regex

_FAR = 2000
_OPENING, _CLOSING = "([{", ")]}"
_START = regex(
    r".*(?:\b(?:return|else|do)\b|\b(?:if|while|for|switch)\s*(?:constexpr\s*)?\(\s*\)"
    r"|,|(?<![=!<>])=(?!=))",
    re.DOTALL,
)
_TERNARY = regex(r"\?|(?<!:):(?!:)")


def may_be_guarded(data: bytes, place: int) -> bool:
    """Whether an operator that guards stands before `place` in its statement: a quick look."""
    far = max(place - _FAR, 0)
    low = max(data.rfind(b";", far, place), data.rfind(b"{", far, place), far)
    return (
        data.find(b"?", low, place) >= 0
        or data.find(b"&&", low, place) >= 0
        or data.find(b"||", low, place) >= 0
    )


def debug_guarded(code: str, place: int, flags: Mapping[str, str]) -> bool:
    """Whether what stands at `place` of `code` runs only when something is debugged.

    `code` has no comments and no literals; `flags` are local variables with
    their initialisers.
    """
    return any(
        debug_only(condition, flags, when=when)
        for level in _levels(code, place)
        for condition, when in _conditions(level)
    )


def _levels(code: str, place: int) -> Iterator[str]:
    """What stands before `place` in its statement, bracket by bracket from the inside."""
    depth, end, at = 0, place, place
    while at > max(place - _FAR, 0):
        at -= 1
        char = code[at]
        if char == ";" or (char in "{}" and depth == 0):
            break
        if char in _CLOSING:
            depth += 1
        elif char in _OPENING and depth:
            depth -= 1
        elif char in _OPENING:
            yield code[at + 1 : end]
            end = at
    yield code[at + 1 : end]


def _conditions(level: str) -> Iterator[tuple[str, bool]]:
    """What has to be true or false for the end of `level` to be reached."""
    flat = _flat(level)
    start = _START.match(flat)
    start_at = start.end() if start else 0
    tests: list[tuple[str, bool]] = []
    for mark in _TERNARY.finditer(flat, start_at):
        if mark.group() == "?":
            tests.append((level[start_at : mark.start()].strip(), True))
        else:
            while tests and not tests[-1][1]:
                tests.pop()
            if tests:
                tests[-1] = (tests[-1][0], False)
        start_at = mark.end()
    yield from tests
    for operator, when in (("||", False), ("&&", True)):
        while (cut := flat.find(operator, start_at)) >= 0:
            yield level[start_at:cut].strip(), when
            start_at = cut + 2


def _flat(text: str) -> str:
    """`text` with what stands in brackets blanked."""
    flat, depth = [], 0
    for char in text:
        depth -= char in _CLOSING and depth > 0
        flat.append(" " if depth else char)
        depth += char in _OPENING
    return "".join(flat)
