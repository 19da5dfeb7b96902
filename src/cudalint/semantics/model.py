"""What a parameter's type is behind its spelling, as plain data."""

from __future__ import annotations

import msgspec

from cudalint.finding import Span


class Name(msgspec.Struct, frozen=True):
    """A typedef, `using` or macro that a type's spelling goes through; `span` is its name."""

    name: str
    span: Span


class ParameterType(msgspec.Struct, frozen=True):
    """The type of one parameter.

    `canonical` is its text with aliases and macros resolved as far as they are
    known. `untyped`: it is a pointer to (cv) `void`, at whichever depth, arrays
    and references included; a function pointer is not. `members` are the untyped
    pointers inside a class that is passed by value, as paths (`a`, `inner.b`).
    `through` are the names that the spelling goes through, the outermost first.
    """

    canonical: str
    untyped: bool = False
    members: tuple[str, ...] = ()
    through: tuple[Name, ...] = ()


def spelt(text: str) -> str:
    """The text of a type in one way of spacing, without restrict words: `const float*`."""
    words = text.replace("*", " * ").replace("&", " & ").split()
    written = ""
    for word in words:
        if word in ("__restrict__", "__restrict"):
            continue
        if written and word[0] not in "*&),;[" and written[-1] != "(":
            written += " "
        written += word
    return written
