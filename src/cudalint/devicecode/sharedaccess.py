"""Finds column accesses to shared arrays: a row for each lane, all in one bank.

The rows' pitch is constant and a multiple of the 32 banks' 128 bytes, the row is
the lane's, and nothing else in the index is. How it is said is rule CU209's
business.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from cudalint.devicecode.flow.types import Pointees
from cudalint.project.scalar_types import SIZES
from cudalint.regex import regex

if TYPE_CHECKING:
    from cudalint.context import Context
    from cudalint.devicecode.flow.bindings import Bindings
    from cudalint.syntax.model import FileModel, SharedDeclaration

BANKS = 128
"""Bytes that the banks hold side by side: 32 banks of 4 bytes."""


_LANE = regex(r"threadIdx\s*\.\s*x")
_LANE_OF_WARP = regex(
    r"\(?\s*(?:threadIdx\s*\.\s*x|[A-Za-z_]\w*)\s*(?:%\s*(?:32|warpSize|WARP_SIZE|kWarpSize)"
    r"|&\s*(?:31|0x1[fF])[uU]?)\s*\)?$"
)
_OTHER = regex(r"threadIdx\s*\.\s*x\s*[%/&>^]|[%/&^]|>>|\?")
_WORD = regex(r"(?<![\w.])[A-Za-z_]\w*")
_DEPTH = 6


class Conflict(msgspec.Struct, frozen=True):
    """A column access at `[start, end)`: rows of `pitch` bytes, indexed by `row`."""

    start: int
    end: int
    row: str
    pitch: int


class SharedAccesses:
    """Looks through the accesses of one function to one shared array."""

    def __init__(self, model: FileModel, bindings: Bindings, context: Context) -> None:
        self._model = model
        self._bindings = bindings
        self._context = context

    def conflict(self, shared: SharedDeclaration) -> Conflict | None:
        """The first access that walks a column of `shared`, None if there is none."""
        pitches = self._pitches(shared)
        if not pitches:
            return None
        code = self._bindings.code
        accesses = regex(rf"(?<![\w.]){shared.name}\s*\[")
        for match in accesses.finditer(code, shared.span.end, self._bindings.end):
            if self._bindings.find(shared.name, match.start()) is None:
                continue
            indexes = self._indexes(match.end() - 1)
            if len(indexes) != len(pitches):
                continue
            found = self._of_lane([code[low:high] for low, high in indexes], indexes[0][0])
            if found is not None and pitches[found] % BANKS == 0 and pitches[found] > 0:
                row = " ".join(code[slice(*indexes[found])].split())
                return Conflict(match.start(), indexes[-1][1] + 1, row, pitches[found])
        return None

    def _pitches(self, shared: SharedDeclaration) -> list[int]:
        """The bytes between neighbours along each dimension, -1 where that is not known."""
        name = Pointees(self._bindings, self._context).name(shared.type)
        size = SIZES.get(name or "")
        if size is None or len(shared.dimensions) < 2:
            return []
        evaluate = self._context.project.constants.evaluate
        pitches = [size]
        for dimension in reversed(shared.dimensions[1:]):
            count = evaluate(self._model.path, dimension)
            pitches.insert(0, pitches[0] * count if count and pitches[0] > 0 else -1)
        return pitches

    def _indexes(self, open_at: int) -> list[tuple[int, int]]:
        """The ranges inside the brackets that follow each other from `open_at` on."""
        code, found = self._bindings.code, []
        while code[open_at : open_at + 1] == "[":
            close = self._bindings.brackets.close(open_at)
            found.append((open_at + 1, close))
            open_at = close + 1
            while code[open_at : open_at + 1].isspace():
                open_at += 1
        return found

    def _of_lane(self, indexes: list[str], at: int) -> int | None:
        """Which index is the lane's own, and the only one that differs within a warp."""
        lanes = [self._lane(text, at, _DEPTH) for text in indexes]
        if lanes.count("same") != len(lanes) - 1 or "lane" not in lanes:
            return None
        return lanes.index("lane")

    def _lane(self, text: str, at: int, depth: int) -> str:
        """ "lane": a number of its own for each lane of a warp, one step apart; "same": one
        for all of them; "other": neither, or not known."""
        text = text.strip()
        if depth == 0:
            return "other"
        if _LANE_OF_WARP.fullmatch(text):
            return "lane" if "threadIdx" in text or self._names_lane(text, at, depth) else "other"
        kinds = ["lane"] * len(_LANE.findall(text))
        for match in _WORD.finditer(_LANE.sub(" ", text)):
            kinds.append(self._name(match.group(), at, depth))
        if "other" in kinds:
            return "other"
        if "lane" not in kinds:
            return "same"
        if kinds.count("lane") > 1 or "*" in text or "-" in text or _OTHER.search(text):
            return "other"
        return "lane"

    def _names_lane(self, text: str, at: int, depth: int) -> bool:
        word = _WORD.search(text)
        return word is not None and self._name(word.group(), at, depth) == "lane"

    def _name(self, name: str, at: int, depth: int) -> str:
        local = self._bindings.find(name, at)
        if local is None:
            if name in ("threadIdx", "blockIdx", "gridDim", "blockDim"):
                return "same"
            known = self._context.project.constants.evaluate(self._model.path, name)
            return "same" if known is not None or name.isupper() else "other"
        if local.parameter:
            scalar = "*" not in local.type and self._bindings.function.space == "global"
            return "same" if scalar else "other"
        if "*" in local.type or not local.values:
            return "other"
        code = self._bindings.code
        first, *rest = local.values
        kind = self._lane(
            code[first.start : first.end].lstrip("= {").rstrip("}"), first.start, depth - 1
        )
        for value in rest:
            other = self._lane(code[value.start : value.end], value.start, depth - 1)
            if other != "same" or (kind == "lane" and not value.adds):
                return "other"
        return kind
