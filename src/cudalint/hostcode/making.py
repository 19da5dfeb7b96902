"""Which calls make the resource that a condition found absent, or too small.

How such a condition reads is `cudalint.hostcode.absence`; what is lazy because of it,
`cudalint.hostcode.coldregions`.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from cudalint.hostcode.absence import Held, names

if TYPE_CHECKING:
    from cudalint.syntax.model import Call

_CREATES = re.compile(r"(?i)alloc|create|make_unique|make_shared|register|^new|init|upload|grow")
_PRODUCES = re.compile(
    r"(?:cu|nccl|nvrtc)\w*"
    r"(?:Instantiate|EndCapture|Clone|Load|Open|Import|Plan|Reserve|Retain|GetFunction)"
)
_REPLACES = frozenset(("reset", "emplace"))
_INTO = re.compile(r"([A-Za-z_]\w*)\s*(?:\[[^\[\]]*\]\s*)*(?<![=!<>])=(?!=)[\w:<>*&\s().-]*$")
_ASSIGNED = re.compile(r"\b([A-Za-z_]\w*)\s*=(?!=)([^;{}]*);")
_STATUS_GIVEN = ("cu", "nccl", "nvrtc")
_ADDRESS = re.compile(r"&\s*(?:\w+\s*(?:\.|->)\s*)*([A-Za-z_]\w*)")
_FAR = 100


def makes(call: Call, tested: frozenset[str], *, zero: bool) -> bool:
    """Whether `call` makes a resource of the tested name or size.

    `zero`: it was compared to 0, as sizes are more often than handles; the call
    then has to be given its address.
    """
    if call.name in _REPLACES and call.argument_text.strip():
        return not tested.isdisjoint(names(call.receiver))
    if not may_make(call):
        return False
    texts = given(call)
    if zero or not _CREATES.search(call.name):
        return not tested.isdisjoint(_ADDRESS.findall(texts))
    if not tested.isdisjoint(names(texts)):
        return True
    return not call.expression_statement and "&" not in texts


def may_make(call: Call) -> bool:
    """Whether a call, by its name, may make something."""
    return _is_making(call.name)


@lru_cache(maxsize=4096)
def _is_making(name: str) -> bool:
    return bool(name in _REPLACES or _CREATES.search(name) or _PRODUCES.match(name))


def given(call: Call) -> str:
    """What a call is given, as written."""
    return " ".join(argument.text for argument in call.arguments)


def grown(found: Held, code: str) -> Held:
    """`found` with the sizes that `code` sets; what these come from counts as compared."""
    sets = [value for name, value in _ASSIGNED.findall(code) if name in found.sizes]
    compared = found.compared.union(*map(names, sets)) if sets else frozenset()
    return Held(found.handles, found.sizes, compared)


def makes_held(call: Call, found: Held, code: str) -> bool:
    """Whether `call` makes what a guard before it did not find.

    More has to be seen than in a branch: a guard often tests an argument for other reasons.
    """
    if call.name in _REPLACES and call.argument_text.strip():
        return not found.handles.isdisjoint(names(call.receiver))
    if not may_make(call):
        return False
    texts = given(call)
    if not found.handles.isdisjoint(_ADDRESS.findall(texts)):
        return True
    if not found.compared.isdisjoint(names(texts)):
        return True
    if call.name.startswith(_STATUS_GIVEN):
        return False
    return assigned_to(call, code) in found.handles


def assigned_to(call: Call, code: str, start: int = 0) -> str:
    """The variable that a call's result goes to, "" for none that is named behind `start`."""
    into = _INTO.search(code[max(call.span.start - _FAR, start) : call.span.start])
    return "" if into is None else into[1]
