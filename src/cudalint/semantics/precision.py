"""Narrow number formats: the types that hold them, and the words that names say them with."""

from __future__ import annotations

import re

import msgspec


class Precision(msgspec.Struct, frozen=True):
    """A number format: its short name, and the pattern of a name that says it."""

    name: str
    said: str


_BF16 = Precision("bf16", r"bf_?16|bfloat")
_F16 = Precision("f16", r"half|f_?16|fp_?16|float_?16")
_FP8 = r"f(?:p|loat)?_?8"
_FP6 = r"f(?:p|loat)?_?6"
_FP4 = r"f(?:p|loat)?_?4"
_FORMATS = {
    **{f"__nv_fp8{x}_e4m3": Precision("e4m3", rf"e4m3|{_FP8}") for x in ("", "x2", "x4")},
    **{f"__nv_fp8{x}_e5m2": Precision("e5m2", rf"e5m2|{_FP8}") for x in ("", "x2", "x4")},
    **{f"__nv_fp8{x}_e8m0": Precision("e8m0", rf"e8m0|{_FP8}") for x in ("", "x2", "x4")},
    **{f"__nv_fp8{x}_storage_t": Precision("fp8", rf"e\dm\d|{_FP8}") for x in ("", "x2", "x4")},
    **{f"__nv_fp6{x}_e2m3": Precision("e2m3", rf"e2m3|{_FP6}") for x in ("", "x2", "x4")},
    **{f"__nv_fp6{x}_e3m2": Precision("e3m2", rf"e3m2|{_FP6}") for x in ("", "x2", "x4")},
    **{f"__nv_fp4{x}_e2m1": Precision("e2m1", rf"e2m1|{_FP4}") for x in ("", "x2", "x4")},
    **dict.fromkeys(("__nv_bfloat16", "__nv_bfloat162", "__nv_bfloat16_raw"), _BF16),
    **dict.fromkeys(("nv_bfloat16", "nv_bfloat162", "__nv_bfloat162_raw"), _BF16),
    **dict.fromkeys(("half", "half2", "__half", "__half2", "__half_raw", "__half2_raw"), _F16),
    **dict.fromkeys(("nv_half", "nv_half2"), _F16),
    **dict.fromkeys(("int8_t", "signed char"), Precision("int8", r"i(?:nt)?_?8|[sq]_?8|char")),
}
_NOT_TYPE = r"\b(?:const|volatile|struct|std)\b|[^\w\s]"
_BYTES = frozenset(("uint8_t", "unsigned char", "uchar"))
_HALFWORDS = frozenset(("uint16_t", "unsigned short", "ushort", "unsigned short int"))
_SAID_8 = rf"(?<![a-z0-9])(?:e4m3|e5m2|{_FP8})(?![0-9])"
_SAID_16 = r"(?<![a-z0-9])(?:bf_?16|bfloat_?16|f_?16|fp_?16|float_?16|half)(?![0-9])"


def precision_of(canonical: str) -> Precision | None:
    """The narrow format that a type, or what it points to, holds."""
    return _FORMATS.get(_core(canonical))


def says(name: str, precision: Precision) -> bool:
    """Whether a type's name says its format."""
    lowered = name.lower()
    if precision is _F16:
        lowered = re.sub(r"bf_?16|bfloat(?:_?16)?", "", lowered)
    return re.search(precision.said, lowered) is not None


def stored_format(canonical: str, text: str) -> str | None:
    """The narrow float that `text` says an array of plain bytes or half-words holds.

    None for other types, and where the text says nothing of the kind.
    """
    core, lowered = _core(canonical), text.lower()
    said = None
    if core in _BYTES:
        said = re.search(_SAID_8, lowered)
    elif core in _HALFWORDS:
        said = re.search(_SAID_16, lowered)
    return said.group() if said is not None else None


def _core(canonical: str) -> str:
    return " ".join(re.sub(_NOT_TYPE, " ", canonical).split())
