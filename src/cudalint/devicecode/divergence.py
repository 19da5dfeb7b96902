"""Why some threads of a block may not reach a place in a function.

A branch or loop around it that depends on the thread, or a return before it that
does. What must be reached by all, the rules say.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import msgspec

from cudalint.devicecode.flow.branches import LOOPS, Branches, Guard
from cudalint.devicecode.flow.threads import ThreadDependence
from cudalint.finding import Span
from cudalint.regex import regex

if TYPE_CHECKING:
    from cudalint.devicecode.flow.bindings import Bindings
    from cudalint.syntax.model import Branch, FileModel

_STEP = regex(r"(?<!\w)\w+\s*\+=(?=\s*[^;\s])([^;]+)\)\s*$")
_WORD = regex(r"(?<![\w.])[A-Za-z_]\w*")
_ROUNDING = regex(r"\b(?:round|align|pad)\w*\s*(?:<[^<>;]*>\s*)?\(", re.IGNORECASE)
_DIVIDED_AND_MULTIPLIED = regex(r"/\s*([\w.]+)\s*\)*\s*\*\s*\1\b")
_SHIFTED = regex(
    r"(?P<name>\w+)\s*=\s*(?P<from>[^;=]*)\+\s*(?P<by>[\w.]+)\s*;"
    r"\s*(?P=name)\s*<=?\s*(?P<to>[^;]*)\+\s*(?P=by)\s*;"
)
_FIRST_TURN = regex(r"(\w+)\s*(?:>=|<)\s*([\w.]+)")
_LAST_RETURN = regex(r"\breturn\b[^;{}]*;\s*\}?\s*$")
_RETURN = regex(r"\breturn\b")


class Cause(msgspec.Struct, frozen=True):
    """`kind`: "condition", "loop" or "return"; `name` is what differs; `span` the place."""

    kind: str
    name: str
    span: Span


class Divergence:
    """Answers for one function; `barriers` are the places that all must reach."""

    def __init__(self, model: FileModel, bindings: Bindings, barriers: Sequence[int]) -> None:
        self._model = model
        self._bindings = bindings
        self._barriers = barriers
        self._branches = Branches(bindings, model)
        self._dependence: ThreadDependence | None = None
        self._traps = [asm.span.start for asm in model.assembly if "trap;" in asm.text]
        self._traps += [call.span.start for call in model.calls if call.name == "__trap"]

    def cause(self, at: int) -> Cause | None:
        """Why some threads may not come to the offset `at`, or not as often; None if all do."""
        guards = list(self._branches.around(at))
        for guard in guards:
            name = self._first(guard)
            if name is None:
                continue
            if guard.branch.keyword in LOOPS:
                if not (self._is_rounded(guard) or self._is_shifted(guard)):
                    return Cause("loop", name, guard.branch.head)
            elif not (self._is_paired(guard.branch) or self._is_by_turn(guard, guards)):
                return Cause("condition", name, guard.branch.head)
        for leave in self._returns(at):
            name = None if self._excludes(leave, at) else self._leaves_some(leave, at)
            if name is not None:
                span = Span(self._model.path, leave, leave + len("return"))
                return Cause("return", name, span)
        return None

    def _leaves_some(self, leave: int, at: int) -> str | None:
        """What decides which threads leave at a return before `at`; None if all or none do."""
        found = None
        for guard in self._branches.around(leave):
            if guard.branch.span.covers(at):
                continue
            if any(guard.branch.span.covers(trap) for trap in self._traps):
                return None  # the kernel is over
            name = self._first(guard)
            if name is None and not guard.constant and self._ends_in_return(guard.branch):
                return None  # all threads that come here leave, one way or another
            found = found or name
        return found

    def _ends_in_return(self, branch: Branch) -> bool:
        """Whether whoever comes to the end of the branch's statement returns."""
        last = _LAST_RETURN.search(self._bindings.code, branch.span.start, branch.span.end)
        return last is not None and not any(
            branch.span.start < other.span.start and other.span.covers(last.start())
            for other in self._branches.own
        )

    def _is_paired(self, branch: Branch) -> bool:
        """Whether the other side of an `if` has a barrier as well: each thread meets one."""
        if branch.keyword == "else":
            other = self._branches.other(branch)
        else:
            elses = (b for b in self._branches.own if b.keyword == "else")
            other = next((b for b in elses if self._branches.other(b) is branch), None)
        return other is not None and any(other.span.covers(at) for at in self._barriers)

    def _is_rounded(self, guard: Guard) -> bool:
        """Whether a loop's bound is made a multiple of its step: all threads take as many turns."""
        code = self._bindings.code
        head = code[guard.branch.head.start : guard.branch.head.end]
        step = _STEP.search(head)
        if guard.branch.keyword != "for" or step is None:
            return False
        if _ROUNDING.search(code[slice(*guard.condition)]):
            return True
        for name in _WORD.findall(code[slice(*guard.condition)]):
            local = self._bindings.find(name, guard.condition[0])
            if local is not None and local.name != step[0].split()[0]:
                known = [v for v in local.values if v.start < guard.branch.span.end]
                values = [code[value.start : value.end].strip() for value in known]
                if values and all(_is_multiple(value, step[1].strip()) for value in values):
                    return True
        return False

    def _is_shifted(self, guard: Guard) -> bool:
        """Whether a loop begins and ends at one offset of the thread: `i = a + t; i < b + t`."""
        start = guard.branch.head.start
        loop = _SHIFTED.search(self._bindings.code, start, guard.branch.head.end)
        if loop is None or self._dependence is None:
            return False
        return not any(self._dependence.first(*loop.span(part)) for part in ("from", "to"))

    def _is_by_turn(self, guard: Guard, around: list[Guard]) -> bool:
        """Whether a condition only tells a loop's first turn, `i >= blockDim.x`, from others."""
        code = self._bindings.code
        first = _FIRST_TURN.fullmatch(code[slice(*guard.condition)])
        if first is None:
            return False
        heads = (code[g.branch.head.start : g.branch.head.end] for g in around)
        step = regex(rf"\b{first[1]}\s*\+=\s*{re.escape(first[2])}\s*\)")
        return any(step.search(head) for head in heads)

    def _first(self, guard: Guard) -> str | None:
        if guard.constant:
            return None
        if self._dependence is None:
            self._dependence = ThreadDependence(self._bindings, self._branches, self._model)
        return self._dependence.first(*guard.condition)

    def _returns(self, at: int) -> Iterator[int]:
        """The returns of the same function before `at`; those of other lambdas are not."""
        lambdas = [
            f.body
            for f in self._model.functions
            if f.lambda_
            and f.body is not None
            and self._bindings.start <= f.span.start < self._bindings.end
        ]
        for match in _RETURN.finditer(self._bindings.code, self._bindings.start, at):
            if all(b.covers(at) or not b.covers(match.start()) for b in lambdas):
                yield match.start()

    def _excludes(self, leave: int, at: int) -> bool:
        """Whether the two places are in an `if` and its `else`."""
        for guard in self._branches.around(at):
            if guard.branch.keyword == "else":
                other = self._branches.other(guard.branch)
                if other is not None and other.span.covers(leave):
                    return True
        return False


def _is_multiple(value: str, step: str) -> bool:
    """Whether an expression rounds to the step, or to a block's size by another name."""
    if _ROUNDING.search(value):
        return True
    unit = re.escape(step)
    if re.search(rf"\*\s*{unit}\s*;?$|/\s*{unit}\s*\)*\s*\*\s*{unit}\b", value):
        return True
    if re.match(rf"(?:=\s*)?{unit}\s*\*[^;]*/\s*{unit}\s*\)*$", value):
        return True
    other = _DIVIDED_AND_MULTIPLIED.search(value)
    return other is not None and "blockDim" in step + other[1]
