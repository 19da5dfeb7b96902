"""Finds the atomics of device code whose outcome depends on the order of arrival.

Adding floats rounds differently in each order; what an integer atomic returns is
whose turn it was. How this is said is rule CU207's business.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec

from cudalint.devicecode.devicecode import enclosing, on_device
from cudalint.devicecode.flow.types import FLOATS, Pointees
from cudalint.regex import regex

if TYPE_CHECKING:
    from cudalint.context import Context
    from cudalint.devicecode.flow.bindings import Bindings
    from cudalint.syntax.model import Assembly, Call, FileModel

_ATOMIC = regex(r"atomic(Add|Sub|Inc|Dec|Min|Max|And|Or|Xor)(?:_block|_system)?")
_CAS = regex(r"atomicCAS(?:_block|_system)?")
_FETCH = regex(r"fetch_(add|sub|and|or|xor|min|max)")
_REF = regex(r"\batomic(?:_ref)?\s*<\s*([\w:]+(?:\s+[\w:]+)*)\s*[,>]")
_ADDS = frozenset({"Add", "Sub", "add", "sub"})
_INSTRUCTION = regex(
    r"\b(?:multimem\.)?(?:red|atom|cp\.reduce)\.[\w.:]*\.add[\w.:]*"
    r"\.(f16x2|bf16x2|f16|bf16|f32|f64)\b"
)
_FLOAT_LITERAL = regex(
    r"-?\(?\s*(?:\d+\.\d*|\.\d+|\d+[eE][-+]?\d+|\d+(?=[fF]))(?:[eE][-+]?\d+)?[fFhH]?\)?$"
)
_FLOAT_MADE = regex(
    r"(?:__)?(float2half\w*|float2bfloat16\w*|floats2half2\w*|floats2bfloat162\w*|make_float[24]"
    r"|make_half2|make_bfloat162|float|double|half|(?:__)?nv_bfloat16)\s*\("
)
_AS_BITS = regex(
    r"__(?:float_as_u?int|double_as_longlong|half_as_u?short|bfloat16_as_u?short|half2?_raw)\b"
    r"|__(?:u?int_as_float|longlong_as_double|u?short_as_half|u?short_as_bfloat16)\b"
)
_EXTREME = regex(r"\b(?:__h|f)?(?:max|min)f?\w*\s*\(|[<>]\s*[\w(]+[^?]*\?")
_SUM = regex(r"[\w)\]]\s*[-+*]\s*[\w(]|\b__(?:h|f|d)(?:add|sub|mul|fma)\w*\s*\(")
_WORD = regex(r"(?<![\w.])[A-Za-z_]\w*")
_RETURNED = regex(r"\breturn\b[^;{}]*;")
_TARGET = regex(r"(?:[\w:]+\s+)*?([A-Za-z_]\w*)\s*=(?!=)")
_ZERO = regex(r"\(?(?:\w+\)?\s*\(?)?0[uUlL]*\)?")


class Arrival(msgspec.Struct, frozen=True):
    """An atomic that depends on the order. `kind`: "float", "cas" or "slot"; `type` a name."""

    record: Call | Assembly
    kind: str
    type: str
    called: str


class Atomics:
    """Judges the atomics of one file."""

    def __init__(self, model: FileModel, context: Context) -> None:
        self._model = model
        self._context = context

    def found(self) -> Iterator[Arrival]:
        """The atomics that depend on the order, calls first."""
        for call in self._model.calls:
            if not _named(call) or (call.via_macro and call.use is None):
                continue
            if on_device(self._model, call.function):
                arrival = self._of_call(call)
                if arrival is not None:
                    yield arrival
        for asm in self._model.assembly:
            instruction = _INSTRUCTION.search(asm.text)
            if instruction is not None:
                yield Arrival(asm, "float", instruction[1], instruction[0])

    def _of_call(self, call: Call) -> Arrival | None:
        bindings = self._context.bindings(self._model.path, call.function)
        if bindings is None:
            return None
        if _CAS.fullmatch(call.name):
            type_ = self._cas_type(call, bindings)
            return Arrival(call, "cas", type_, call.name) if type_ else None
        if _FETCH.fullmatch(call.name):
            type_ = self._reference_type(call, bindings)
            if type_ is None:
                return None
            verb = call.name.removeprefix("fetch_")
        else:
            type_ = self._operand(call, bindings)
            verb = call.name.removeprefix("atomic").partition("_")[0]
        if type_ in FLOATS:
            return Arrival(call, "float", type_ or "", call.name) if verb in _ADDS else None
        if self._is_used(call, bindings) and not _is_load(call, verb):
            return Arrival(call, "slot", type_ or "", call.name)
        return None

    def _operand(self, call: Call, bindings: Bindings) -> str | None:
        arguments = call.arguments
        if not arguments:
            return None
        at = (call.use or call.span).start
        pointees = Pointees(bindings, self._context)
        found = pointees.of_address(arguments[0].text, at)
        if found is not None or len(arguments) < 2:
            return found
        text = arguments[1].text
        if _FLOAT_LITERAL.match(text) or _FLOAT_MADE.match(text):
            made = _FLOAT_MADE.match(text)
            return "float" if made is None else _made(made[1])
        if text.isidentifier():
            value = pointees.of_object(text, at)
            return value if value in FLOATS else None
        return None

    def _reference_type(self, call: Call, bindings: Bindings) -> str | None:
        """The type inside `cuda::atomic<T>`; None for another `fetch_add`."""
        pointees = Pointees(bindings, self._context)
        text = call.receiver
        if text.isidentifier():
            local = bindings.find(text, (call.use or call.span).start)
            if local is None:
                return None
            values = (bindings.code[value.start : value.end] for value in local.values)
            text = " ".join((local.type, *values))
        inside = _REF.search(text)
        return None if inside is None else pointees.name(inside[1]) or inside[1]

    def _cas_type(self, call: Call, bindings: Bindings) -> str | None:
        """What a CAS loop computes with, "" for nothing that depends on the order."""
        at = (call.use or call.span).start
        loops = ("do", "while", "for")
        if len(call.arguments) < 3 or not any(
            b.keyword in loops and b.span.covers(at) for b in self._model.branches
        ):
            return None
        texts = [call.arguments[2].text]
        for _ in range(2):
            for name in _WORD.findall(" ".join(texts)):
                local = bindings.find(name, at)
                for value in local.values if local is not None else ():
                    text = bindings.code[value.start : value.end]
                    if text not in texts and len(texts) < 20 and call.name not in text:
                        texts.append(text)
        bits = next((m for m in map(_AS_BITS.search, texts) if m), None)
        if bits is None or any(_EXTREME.search(text) for text in texts):
            return None
        if not any(_SUM.search(text) for text in texts):
            return None
        names = ("double", "bfloat16", "half")
        return next((name for name in names if name in bits.group()), "float")

    def _is_used(self, call: Call, bindings: Bindings) -> bool:
        if call.expression_statement:
            return False
        code = bindings.code
        span = call.use or call.span
        before = code[bindings.start : span.start].rstrip()
        after = code[span.end : bindings.end].lstrip()
        if after[:1] == ";" and (before[-1:] in (";", "{", "}", ")") or before.endswith("else")):
            return call.use is not None and not self._is_whole_body(call)
        returned = code.startswith("return", call.statement.start) and call.use is None
        if returned or before.endswith("return") or self._is_only_returned(call, bindings):
            return self._is_result_used(call)
        return True

    def _is_only_returned(self, call: Call, bindings: Bindings) -> bool:
        """Whether the result goes into a variable that nothing but a `return` uses."""
        code, statement = bindings.code, call.statement
        target = _TARGET.match(code, statement.start, call.span.start)
        if target is None or bindings.function.space == "global":
            return False
        name = target[1]
        rest = code[statement.end : bindings.brackets.scope_end(statement.start)]
        returned = [match.span() for match in _RETURNED.finditer(rest)]
        uses = [match.start() for match in re.finditer(rf"\b{name}\b", rest)]
        return bool(uses) and all(any(s <= at < e for s, e in returned) for at in uses)

    def _is_whole_body(self, call: Call) -> bool:
        """Whether a macro's body is the call and nothing else that could use its result."""
        return any(
            macro.span.covers(call.span.start) and macro.body.lstrip("( ").startswith(call.name)
            for macro in self._model.macros
        )

    def _is_result_used(self, call: Call) -> bool:
        """Whether someone uses what the function around the call returns."""
        index = enclosing(self._model, call.function)
        name = self._model.functions[index].name if index >= 0 else ""
        if _ATOMIC.fullmatch(name):
            return False  # an overload for other types: its calls are judged themselves
        return any(
            other.name == name and not other.expression_statement
            for model in self._context.models.values()
            for other in model.calls
        )


def _named(call: Call) -> bool:
    if not call.name.startswith(("atomic", "fetch_")):
        return False
    if _FETCH.fullmatch(call.name):
        return bool(call.receiver)
    return not call.receiver and bool(_ATOMIC.fullmatch(call.name) or _CAS.fullmatch(call.name))


def _is_load(call: Call, verb: str) -> bool:
    """Whether it changes nothing: a way to read."""
    arguments = call.arguments
    return verb in ("Add", "Sub", "Or", "Xor", "add", "sub", "or", "xor") and bool(
        arguments and _ZERO.fullmatch(arguments[-1].text)
    )


def _made(name: str) -> str:
    if "bfloat16" in name:
        return "__nv_bfloat16"
    return "half" if "half" in name else "double" if "double" in name else "float"
