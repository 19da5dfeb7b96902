"""Kernels whose static shared memory ptxas refuses: how much they take, how much it allows.

What is said of them is the rules' business.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from cudalint.compile.model import Compilation, Diagnostic
from cudalint.regex import regex

_SAID = regex(
    r"uses too much shared data \(0x([0-9a-f]{1,9}) bytes, 0x([0-9a-f]{1,9}) max\)", re.IGNORECASE
)


class SharedExcess(msgspec.Struct, frozen=True):
    """One entry, by its `symbol`: bytes `taken` by a block and `allowed`; `compilation` says so."""

    symbol: str
    taken: int
    allowed: int
    compilation: Compilation


def shared_excess(compilation: Compilation) -> Iterator[SharedExcess]:
    """Each entry of a failed compilation that ptxas refuses for its static shared memory."""
    for diagnostic in compilation.diagnostics if compilation.failure else ():
        if is_shared_excess(diagnostic) and (said := _SAID.search(diagnostic.text)):
            taken, allowed = (int(figure, 16) for figure in said.groups())
            yield SharedExcess(diagnostic.function, taken, allowed, compilation)


def is_shared_excess(diagnostic: Diagnostic) -> bool:
    """Whether it is such a refusal, with both figures and the entry's symbol."""
    return (
        diagnostic.severity == "error"
        and bool(diagnostic.function)
        and _SAID.search(diagnostic.text) is not None
    )


def fails_by_shared_memory(compilation: Compilation) -> bool:
    """Whether such a refusal is the first error of a failed compilation."""
    return any(
        is_shared_excess(diagnostic) and diagnostic.text == compilation.failure
        for diagnostic in compilation.diagnostics
    )
