"""Finds launch dimensions that come from what a device says of itself.

On the host: properties, attributes and occupancy queries that reach a launch's
grid or block, within one function or through functions that return them. On the
device: special registers that say how many SMs or warps there are, where they
decide a loop or a branch.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec

from cudalint.devicecode.devicecode import enclosing, on_device
from cudalint.devicecode.flow.branches import LOOPS, Branches
from cudalint.devicecode.flow.taint import Taint
from cudalint.finding import Span
from cudalint.regex import regex

if TYPE_CHECKING:
    from cudalint.context import Context
    from cudalint.devicecode.flow.bindings import Bindings, Value
    from cudalint.syntax.model import Assembly, Call, FileModel, Launch

_QUERIES = frozenset(
    (
        *("cudaGetDeviceProperties", "cudaGetDeviceProperties_v2", "cudaDeviceGetAttribute"),
        *("cuDeviceGetAttribute", "cuDeviceGetProperties"),
    )
)
"""Queries that write what they are asked for through their first argument."""
_OCCUPANCY = ("cudaOccupancyMaxPotentialBlockSize", "cuOccupancyMaxPotentialBlockSize")
_RETURNED = frozenset({"getCurrentDeviceProperties", "getDeviceProperties"})
_DIMENSIONS = {
    **dict.fromkeys(("cudaLaunchKernel", "cudaLaunchCooperativeKernel"), (1, 3)),
    **dict.fromkeys(("cuLaunchKernel", "cuLaunchCooperativeKernel"), (1, 7)),
}
"""The arguments of launch calls that are grid and block."""
_WITH_CONFIGURATION = frozenset({"cudaLaunchKernelEx", "cudaLaunchKernelExC", "cuLaunchKernelEx"})
_REGISTER = regex(r"%(?:nsmid|smid|nwarpid|warpsize)\b|\bWARP_SZ\b")
_RETURN = regex(r"\breturn\b([^;{}]*);")


class Taken(msgspec.Struct, frozen=True):
    """A launch (or, on the device, a special register) whose dimensions are taken from `query`.

    `kernel` is what is launched, or what the register decides; `asked` where it
    is asked for, None when that is in another function.
    """

    place: Span
    kernel: str
    query: str
    asked: Span | None
    extents: tuple[Span, ...] = ()


class DeviceProperties:
    """Looks through the functions of one run."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._queries: dict[tuple[str, int], list[Call]] = {}
        self._returning: dict[str, str] = dict.fromkeys(sorted(_RETURNED), "device properties")
        for model in context.models.values():
            for call in model.calls:
                if call.name in _QUERIES or call.name.startswith(_OCCUPANCY):
                    index = enclosing(model, call.function)
                    if index >= 0 and not on_device(model, call.function):
                        self._queries.setdefault((model.path, index), []).append(call)
        for path, index in self._queries:
            self._note_returned(path, index)

    def launches(self) -> Iterator[Taken]:
        """The launches with dimensions out of a query, file by file."""
        for path in sorted(self._context.models):
            model = self._context.models[path]
            asking = {call.function for call in model.calls if call.name in self._returning}
            asking |= {index for other, index in self._queries if other == path}
            roots = {enclosing(model, function) for function in asking}
            if not roots:
                continue
            for launch in model.launches:
                if enclosing(model, launch.function) in roots and not launch.via_macro:
                    yield from self._of(model, launch, [a.span for a in launch.configuration[:2]])
            for call in model.calls:
                if call.via_macro or enclosing(model, call.function) not in roots:
                    continue
                spans = self._dimensions(model, call)
                if spans:
                    yield from self._of(model, call, spans)

    def registers(self) -> Iterator[Taken]:
        """The special registers that decide a loop or a branch of device code."""
        for path in sorted(self._context.models):
            model = self._context.models[path]
            for asm in model.assembly:
                register = _REGISTER.search(asm.text)
                if register is None or not on_device(model, asm.function):
                    continue
                taken = self._decided(model, asm, register.group())
                if taken is not None:
                    yield taken

    def _of(self, model: FileModel, record: Launch | Call, spans: list[Span]) -> Iterator[Taken]:
        bindings = self._context.bindings(model.path, record.function)
        if bindings is None or on_device(model, record.function):
            return
        queries = self._queries.get((model.path, bindings.function.index), [])
        taint = self._taint(model, bindings, queries)
        for span in spans:
            if taint.first(span.start, span.end) is not None:
                query = self._asked(model, bindings, queries, (span.start, span.end))
                called = query.name if query else self._called(model, bindings)
                kernel = record.name if hasattr(record, "kernel") else _launched(record)
                place = query.name_span if query else None
                yield Taken(record.name_span, kernel, called, place, (record.statement,))
                return

    def _asked(
        self, model: FileModel, bindings: Bindings, queries: list[Call], place: tuple[int, int]
    ) -> Call | None:
        """The query that what stands at `place` comes from; None for a function that asks."""
        for some in ([], *([query] for query in queries)):
            if self._taint(model, bindings, some).first(*place) is not None:
                return some[0] if some else None
        return None

    def _taint(self, model: FileModel, bindings: Bindings, queries: list[Call]) -> Taint:
        """What comes from `queries`, and from the functions that return such values."""
        given: set[Value] = set()
        for query in queries:
            written = 2 if query.name.startswith(_OCCUPANCY) else 1
            for argument in query.arguments[:written]:
                match = re.search(r"[A-Za-z_]\w*", argument.text)
                local = bindings.find(match.group(), query.span.start) if match else None
                low, high = query.span.start, query.span.end
                given.update(v for v in (local.values if local else ()) if low <= v.start < high)

        def source(name: str, after: int) -> bool:
            rest = bindings.code[after : after + 40].lstrip()
            return name in self._returning and rest.startswith("(")

        return Taint(bindings, Branches(bindings, model), source, given=given, parts=True)

    def _note_returned(self, path: str, index: int) -> None:
        """Remember the function if it returns what it asks the device for."""
        model = self._context.models[path]
        bindings = self._context.bindings(path, index)
        if bindings is None or not bindings.function.name:
            return
        queries = self._queries[path, index]
        taint = self._taint(model, bindings, queries)
        for match in _RETURN.finditer(bindings.code, bindings.start, bindings.end):
            if taint.first(*match.span(1)) is not None:
                query = self._asked(model, bindings, queries, match.span(1)) or queries[0]
                self._returning[bindings.function.name] = query.name
                return

    def _called(self, model: FileModel, bindings: Bindings) -> str:
        for call in model.calls:
            if call.name in self._returning and bindings.start <= call.span.start < bindings.end:
                return call.name
        return "a device query"

    def _dimensions(self, model: FileModel, call: Call) -> list[Span]:
        """Where a launch call's grid and block stand."""
        if call.name in _DIMENSIONS:
            low, high = _DIMENSIONS[call.name]
            return [argument.span for argument in call.arguments[low:high]]
        if call.name not in _WITH_CONFIGURATION or not call.arguments:
            return []
        bindings = self._context.bindings(model.path, call.function)
        name = call.arguments[0].text.lstrip("&").strip()
        if bindings is None or not name.isidentifier():
            return []
        given = regex(rf"\b{name}\s*\.\s*(?:gridDim|blockDim)\w*(?:\s*\.\s*\w)?\s*=([^;=]*);")
        matches = given.finditer(bindings.code, bindings.start, call.span.start)
        return [Span(model.path, *match.span(1)) for match in matches]

    def _decided(self, model: FileModel, asm: Assembly, register: str) -> Taken | None:
        bindings = self._context.bindings(model.path, asm.function)
        at = (asm.use or asm.span).start
        if bindings is None or asm.via_macro:
            return None
        given = {
            value for local in bindings.locals() for value in local.values if value.start == at
        }
        branches = Branches(bindings, model)
        taint = Taint(bindings, branches, lambda name, after: False, given=given)
        name = bindings.function.name
        for branch in branches.own:
            if taint.first(branch.head.start, branch.head.end) is not None:
                kind = "loop" if branch.keyword in LOOPS else "branch"
                return Taken(asm.name_span, f"a {kind} of {name}", register, branch.head)
        for match in _RETURN.finditer(bindings.code, bindings.start, bindings.end):
            if taint.first(*match.span(1)) is not None:
                return self._decided_by_caller(model, asm, name, register)
        return None

    def _decided_by_caller(
        self, model: FileModel, asm: Assembly, helper: str, register: str
    ) -> Taken | None:
        """Whether a function of the same file decides something by what `helper` returns."""
        for call in model.calls:
            if call.name != helper or call.via_macro:
                continue
            bindings = self._context.bindings(model.path, call.function)
            if bindings is None:
                continue
            branches = Branches(bindings, model)
            code = bindings.code
            taint = Taint(
                bindings,
                branches,
                lambda name, after, code=code: (
                    name == helper  # type: ignore[misc]
                    and code[after : after + 20].lstrip().startswith("(")
                ),
            )
            for branch in branches.own:
                if taint.first(branch.head.start, branch.head.end) is not None:
                    kind = "loop" if branch.keyword in LOOPS else "branch"
                    where = f"a {kind} of {bindings.function.name}"
                    return Taken(asm.name_span, where, register, branch.head)
        return None


def _launched(call: Launch | Call) -> str:
    """The kernel that a launch call names, or the call's own name."""
    arguments = call.arguments
    place = 1 if call.name in _WITH_CONFIGURATION else 0
    if len(arguments) <= place:
        return call.name
    return arguments[place].text.rpartition(")")[2].strip().lstrip("&*") or call.name
