"""Tells by their names whether kernels belong to one family.

A family is one operation: its types, its sizes, its phases. What follows from
two families in one file is the business of rule CU102.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cudalint.hostcode.coldness import words

if TYPE_CHECKING:
    from cudalint.syntax.model import Function

_TYPES = frozenset(
    {
        *("half", "float", "double", "bf", "fp", "nvfp", "mxfp", "int", "uint", "f", "i", "u"),
        *("e", "m", "tf", "q", "w", "a"),
    }
)
"""Words that, with digits, spell a type at the begin or end of a name: bf16, w8a16, e4m3."""

_VARIANTS = _TYPES | frozenset(
    {
        *("b", "c", "d", "s", "x", "y", "k", "n", "v", "hd", "sm"),
        *("partial", "reduce", "merge", "combine", "finalize", "final", "finish", "init"),
        *("split", "splitk", "prologue", "epilogue", "phase", "stage", "pass", "step", "part"),
        *("first", "second", "forward", "backward", "fwd", "bwd", "grad", "kernel", "impl"),
        *("scan", "scatter", "gather", "count", "prepare", "apply", "update", "main", "tail"),
        *("small", "large", "short", "long", "wide", "narrow", "vec", "vector", "vectorized"),
        *("scalar", "generic", "naive", "fast", "slow", "aligned", "unaligned", "ref", "ptx"),
        *("mma", "wmma", "wgmma", "tc", "tma", "warp", "block", "thread", "cluster", "grid"),
        *("row", "rows", "col", "cols", "causal", "noncausal", "masked", "inplace", "batched"),
        *("prefill", "decode", "packed", "unpacked", "persistent", "static", "dynamic", "opt"),
        *("up", "down", "left", "right", "in", "out"),
    }
)
"""Words that, at the end of a name, say which version or phase of an operation it is."""


def related_kernels(family: Sequence[Function], kernel: Function) -> bool:
    """Whether `kernel` belongs to a family of kernels."""
    return any(_related(other, kernel) for other in family)


def _related(one: Function, other: Function) -> bool:
    if one.name == other.name or (one.via_macro and one.via_macro == other.via_macro):
        return True
    first, second = words(one.name), words(other.name)
    if _stem(first) == _stem(second):
        return True
    shorter, longer = sorted((first, second), key=len)
    return bool(shorter) and longer[: len(shorter)] == shorter


def _stem(parts: list[str]) -> tuple[str, ...]:
    """The name without the words at its ends that only say which version it is."""
    end = len(parts)
    while end > 1 and (parts[end - 1] in _VARIANTS or parts[end - 1].isdigit()):
        end -= 1
    start = 0
    while start < end - 1 and (parts[start] in _TYPES or parts[start].isdigit()):
        start += 1
    return tuple(parts[start:end])
