"""Spelling the types that stand around a name: of pointers, arrays and functions.

A type is a text. One that ends in parameters or an extent holds a slot, where the
sign of a pointer goes, until it is shown: `void\\0 (int)` becomes `void (*\\0)(int)`.
"""

from __future__ import annotations

from collections.abc import Sequence

_SLOT = "\0"


def shown(types: Sequence[str]) -> str:
    """Types as a list of arguments or parameters."""
    return ", ".join(types).replace(_SLOT, "")


def function_of(result: str, parameters: Sequence[str]) -> str:
    """`void (int)`; one that gives a pointer to another is `void (*(int))(float)`."""
    taken = f"({shown(parameters)})"
    if _SLOT in result:
        return result.replace(_SLOT, _SLOT + taken)
    return f"{result}{_SLOT} {taken}"


def array_of(element: str, size: str) -> str:
    """`int [3]`, of these `int [2][3]`; of pointers to functions `void (* [3])(int)`."""
    if f"{_SLOT} [" in element:
        return element.replace(f"{_SLOT} [", f"{_SLOT} [{size}][")
    if _SLOT in element:
        return element.replace(_SLOT, f"{_SLOT} [{size}]")
    return f"{element}{_SLOT} [{size}]"


def qualified(text: str, qualifiers: str) -> str:
    """`int const`, `int const [3]`, `void (* const)(int)`; a function's own are at its end."""
    if _SLOT in text and f"{_SLOT} (" not in text:
        return text.replace(_SLOT, qualifiers + _SLOT)
    return text + qualifiers


def pointer_to(pointee: str, sign: str) -> str:
    """A pointer or reference: `int*`, and in parentheses `void (*)(int)`, `int (&) [3]`."""
    for slot, pointed in (
        (f"{_SLOT} (", f" ({sign}{_SLOT})("),
        (f"{_SLOT} [", f" ({sign}{_SLOT}) ["),
        (f"{_SLOT}(", f"({sign}{_SLOT})("),
    ):
        if slot in pointee:
            return pointee.replace(slot, pointed)
    return pointee.replace(_SLOT, sign + _SLOT) if _SLOT in pointee else pointee + sign
