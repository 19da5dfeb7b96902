"""What a parameter's type is behind its spelling, as plain data."""

from __future__ import annotations

import msgspec

from cudalint.finding import Span

PLAIN_WORDS = frozenset(
    (
        *("auto", "*", "&", "const", "volatile", "bool", "char", "short", "int", "long", "signed"),
        *("unsigned", "float", "double", "half", "__half", "__half2", "__nv_bfloat16"),
        *("__nv_bfloat162", "__nv_fp8_e4m3", "__nv_fp8_e5m2", "__nv_fp8_storage_t", "size_t"),
        *("int8_t", "uint8_t", "int16_t", "uint16_t", "int32_t", "uint32_t", "int64_t", "uint64_t"),
        *("uint2", "uint4", "int2", "int4", "float2", "float4", "CUtensorMap"),
    )
)
"""Words that mean one thing in every CUDA file."""


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
