"""Reads calls that copy memory: between whom, whether the host waits, to a symbol or not.

Whether a copy is on a launch path is `cudalint.hostcode.hotpath`; which copies may not be
there, rules CU205, CU305, CU306 and CU310 say.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

import msgspec

from cudalint.devicecode.devicecode import enclosing
from cudalint.project.headermacros import home

if TYPE_CHECKING:
    from cudalint.context import Context
    from cudalint.syntax.model import Call

Direction = Literal["to device", "to host", "on device", "on host", "default", "unknown"]


class Transfer(msgspec.Struct, frozen=True):
    """A copy: its direction as far as its arguments say, and whether the host waits for it.

    `linear` is the plain `cudaMemcpy`.
    """

    direction: Direction
    blocking: bool
    linear: bool = False


_KINDS: dict[str, Direction] = {
    "cudaMemcpyHostToDevice": "to device",
    "cudaMemcpyDeviceToHost": "to host",
    "cudaMemcpyDeviceToDevice": "on device",
    "cudaMemcpyHostToHost": "on host",
    "cudaMemcpyDefault": "default",
}

_KIND_AT = {
    "cudaMemcpy": 3,
    "cudaMemcpyAsync": 3,
    "cudaMemcpy2D": 6,
    "cudaMemcpy2DAsync": 6,
    "cudaMemcpy2DToArray": 7,
    "cudaMemcpy2DToArrayAsync": 7,
    "cudaMemcpy2DFromArray": 7,
    "cudaMemcpy2DFromArrayAsync": 7,
    "cudaMemcpyToArray": 5,
    "cudaMemcpyToArrayAsync": 5,
    "cudaMemcpyFromArray": 5,
    "cudaMemcpyFromArrayAsync": 5,
    "cudaMemcpyFromSymbol": 4,
    "cudaMemcpyFromSymbolAsync": 4,
    "cudaMemcpyToSymbol": 4,
    "cudaMemcpyToSymbolAsync": 4,
}
"""Where the kind stands among the arguments, from 0."""

_BY_NAME: dict[str, Direction] = {
    "cuMemcpyHtoD": "to device",
    "cuMemcpyHtoDAsync": "to device",
    "cuMemcpyHtoA": "to device",
    "cuMemcpyHtoAAsync": "to device",
    "cuMemcpyDtoH": "to host",
    "cuMemcpyDtoHAsync": "to host",
    "cuMemcpyAtoH": "to host",
    "cuMemcpyAtoHAsync": "to host",
}

TO_SYMBOL = frozenset({"cudaMemcpyToSymbol", "cudaMemcpyToSymbolAsync"})
TO_DEVICE_DRIVER = frozenset(
    name + version
    for name, way in _BY_NAME.items()
    for version in ("", "_v2")
    if way == "to device" and "HtoD" in name
)
"""The driver's copies from the host to a device address."""

_IN_STRUCT = frozenset({"cudaMemcpy3D", "cudaMemcpy3DAsync"})
COPIES = (
    frozenset(_KIND_AT)
    | {name + version for name in _BY_NAME for version in ("", "_v2")}
    | _IN_STRUCT
)
"""Every call that `read_transfer` knows."""


def read_transfer(call: Call, text: str = "") -> Transfer:
    """What a call of `COPIES` copies.

    `text` is that of the calling function: a 3D copy has its kind in a struct
    that is filled there.
    """
    plain = call.name.removesuffix("_v2")
    blocking = not plain.endswith("Async")
    if plain in _BY_NAME:
        return Transfer(_BY_NAME[plain], blocking)
    if plain not in _KIND_AT:
        return Transfer(_kind_in_struct(call, text), blocking)
    arguments = call.arguments
    at = _KIND_AT[plain]
    if len(arguments) <= at:
        implied: Direction = (
            "to device" if plain in TO_SYMBOL else "to host" if "Symbol" in plain else "unknown"
        )
        return Transfer(implied, blocking)
    kind = arguments[at].text.removeprefix("::")
    return Transfer(_KINDS.get(kind, "unknown"), blocking, plain == "cudaMemcpy")


def function_text(call: Call, context: Context) -> str:
    """The text that tells the direction of a 3D copy; "" for the others, which need none."""
    if call.name not in _IN_STRUCT or call.function < 0:
        return ""
    model = context.models[home(call)]
    body = model.functions[enclosing(model, call.function)].body
    return context.code(model.path)[body.start : body.end] if body else ""


def _kind_in_struct(call: Call, text: str) -> Direction:
    """The kind that the text gives the struct of a 3D copy, when it gives it but one."""
    arguments = call.arguments
    name = arguments[0].text.lstrip("&") if arguments else ""
    if not name.isidentifier():
        return "unknown"
    given = set(re.findall(rf"\b{name}\s*(?:\.|->)\s*kind\s*=\s*(?:::)?(\w+)", text))
    return _KINDS.get(given.pop(), "unknown") if len(given) == 1 else "unknown"
