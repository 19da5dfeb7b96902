"""Tells a null stream from a real one, by how it is written.

Which calls take a stream, and where, is the business of the rules.
"""

from __future__ import annotations

from typing import Literal

NullKind = Literal["zero", "null", "nullptr", "flag", "braces", "legacy", "cast"]

_SPELLINGS: dict[str, NullKind] = {
    "NULL": "null",
    "__null": "null",
    "nullptr": "nullptr",
    "cudaStreamDefault": "flag",
    "CU_STREAM_DEFAULT": "flag",
    "cudaStreamLegacy": "legacy",
    "CU_STREAM_LEGACY": "legacy",
    "{}": "braces",
}

STREAM_TYPES = frozenset({"cudaStream_t", "CUstream"})
"""The types of a stream handle of the runtime and of the driver."""

_CASTS = ("static_cast", "reinterpret_cast", "const_cast")


def null_stream(text: str) -> NullKind | None:
    """How the argument `text` spells the null or legacy stream, None if it does not.

    `(cudaStream_t)1` is cudaStreamLegacy as the toolkit's header defines it.
    """
    text = _peeled("".join(text.split(" ")) if " " in text else text)
    plain = _literal(text)
    if plain is not None:
        return plain
    inner = _cast(text)
    if inner is None:
        return None
    if inner == "":
        return "braces"
    kind = null_stream(inner)
    if kind == "legacy" or _number(_peeled(inner)) == 1:
        return "legacy"
    return "cast" if kind is not None else None


def is_stream_type(type_text: str) -> bool:
    """Whether a variable of this type is one stream: not a pointer to streams, not an array."""
    words = type_text.replace("&", " ").replace("::", " ").split()
    kept = [word for word in words if word not in ("const", "static", "volatile", "constexpr")]
    return len(kept) == 1 and kept[0] in STREAM_TYPES


def _literal(text: str) -> NullKind | None:
    kind = _SPELLINGS.get(text.removeprefix("::"))
    if kind is None and _number(text) == 0:
        return "zero"
    return kind


def _number(text: str) -> int | None:
    digits = text.rstrip("uUlLzZ")
    try:
        return int(digits, 16) if digits[:2] in ("0x", "0X") else int(digits, 10)
    except ValueError:
        return None


def _peeled(text: str) -> str:
    """`text` without parentheses around the whole of it."""
    while text[:1] == "(" and _closing(text, 0) == len(text) - 1:
        text = text[1:-1]
    return text


def _closing(text: str, opening: int) -> int:
    pairs = {"(": 1, "{": 1, ")": -1, "}": -1}
    depth = 0
    for place in range(opening, len(text)):
        depth += pairs.get(text[place], 0)
        if depth == 0:
            return place
    return -1


def _cast(text: str) -> str | None:
    """What a cast holds, "" for nothing, None if `text` is no cast.

    Whatever type a named or C cast names (an alias of a stream type, perhaps),
    a null stays one; `name(0)` is a cast only where the name is a stream type.
    """
    if text[:1] == "(":
        close = _closing(text, 0)
        rest = text[close + 1 :]
        target = text[1:close].replace("::", "").replace("*", "")
        unclear = rest[:1] == "(" and not _names_stream(text[1:close])
        return rest if rest and target.isidentifier() and not unclear else None
    if text[-1:] not in (")", "}"):
        return None
    opening = min((at for at in (text.find("("), text.find("{")) if at >= 0), default=-1)
    if opening <= 0 or _closing(text, opening) != len(text) - 1:
        return None
    target = text[:opening]
    for name in _CASTS:
        if target.startswith(f"{name}<") and target.endswith(">"):
            return text[opening + 1 : -1]
    return text[opening + 1 : -1] if _names_stream(target) else None


def _names_stream(type_text: str) -> bool:
    bare = type_text.removeprefix("const").removeprefix("::").removesuffix("const")
    if bare in STREAM_TYPES:
        return True
    pointee = bare.removesuffix("*")
    return pointee != bare and pointee in ("CUstream_st", "structCUstream_st", "void")
