"""Which values differ from thread to thread of a block.

Thread indexes and lane numbers do, and everything that is computed from them,
loads through such indexes included. What all threads agree on (parameters, block
indexes, results of barriers that vote, one place in shared memory) does not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cudalint.devicecode.flow.taint import Taint
from cudalint.regex import regex

if TYPE_CHECKING:
    from cudalint.devicecode.flow.bindings import Bindings
    from cudalint.devicecode.flow.branches import Branches
    from cudalint.syntax.model import FileModel

_SOURCES = regex(
    r"threadIdx|(?:get_|cute_?)?(?:lane|warp)_?(?:id|idx|index|rank)|laneid|laneId|warpid|warpId"
    r"|thread_rank|thread_index|canonical_(?:warp|lane)\w*|elect_one\w*"
)
_AGREED = regex(r"\b(?:__syncthreads_(?:or|and|count)|sizeof|decltype)\s*\(")
_SPECIAL = regex(r"%(?:tid|laneid|warpid|lanemask_\w+)\b")


_PLACE = regex(
    r"\s*=\s*(?:\*\s*)?([A-Za-z_]\w*)\s*(?:\[\s*(?:\d+|[A-Z][A-Z0-9_]*|k[A-Z]\w*)\s*\]\s*)?;?\s*"
)
_WORD = regex(r"[A-Za-z_]\w*")


class ThreadDependence:
    """Answers for one function of a device file."""

    def __init__(self, bindings: Bindings, branches: Branches, model: FileModel) -> None:
        function = bindings.function
        inside = range(bindings.start, bindings.end)
        self._special = {
            asm.span.start
            for asm in model.assembly
            if asm.span.start in inside and _SPECIAL.search(asm.text)
        }
        shared = {
            declaration.name
            for declaration in model.shared
            if declaration.kind != "alias" and declaration.function == function.index
        }
        shared |= _places(bindings, shared)
        self._taint = Taint(bindings, branches, self._is_source, never=shared, clean=_AGREED)

    def first(self, start: int, end: int) -> str | None:
        """The first name in the text whose value differs from thread to thread, or None."""
        return self._taint.first(start, end)

    def _is_source(self, name: str, after: int) -> bool:
        if name in ("asm", "__asm__", "__asm"):
            return (after - len(name)) in self._special
        return _SOURCES.fullmatch(name) is not None


def _places(bindings: Bindings, shared: set[str]) -> set[str]:
    """The references to one place of the shared arrays, or of what pointers cut from them."""
    cut = set(shared)
    places: set[str] = set()
    for local in sorted(bindings.locals(), key=lambda local: local.start):
        if local.parameter or not local.values:
            continue
        first = min(local.values, key=lambda value: value.start)
        text = bindings.code[first.start : first.end]
        if "&" in local.type:
            place = _PLACE.fullmatch(text)
            if place is not None and place[1] in cut:
                places.add(local.name)
        elif "*" in local.type and not cut.isdisjoint(_WORD.findall(text)):
            cut.add(local.name)
    return places
