"""CU107 hidden-precision."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator

import msgspec

from cudalint.context import Context
from cudalint.finding import Finding, Level, Related
from cudalint.project.expansion import places
from cudalint.regex import regex
from cudalint.rule import Example, FileRule, NoOptions
from cudalint.semantics.model import ParameterType
from cudalint.semantics.parameters import Slot, slots, stands_in_body
from cudalint.semantics.precision import precision_of, says, stored_format
from cudalint.syntax.model import Comment, FileModel, Function, Parameter

_STORAGE = ("uint8_t", "uint16_t", "unsigned", "uchar", "ushort")
_CONST = regex(r"\b(?:const|volatile)\b|[*&]+\s*$")
_DENIED = regex(
    r"(?i)(?:\b(?:not|no|non|nor|never|neither|without|unlike|except|instead of|rather than)\b"
    r"|n't\b)[^.,;:()\n]*"
)
_HEAD = "// SPDX-License-Identifier: MIT OR Apache-2.0\n"


class HiddenPrecision(FileRule):
    """A kernel's signature does not say the precision of what a pointer holds.

    What it does
        Reports a parameter whose type goes by a typedef, `using` or macro for a
        narrow format (bf16, half, the fp8, fp6 and fp4 formats, int8) when that name
        does not say the format; and a pointer to plain bytes or 16-bit words
        when its name, or the comment on it, says that they are fp8, bf16 or half.

    Why it matters
        Which precision a buffer has decides which kernel the host may pair it
        with. An alias called `elem` hides that from everyone who reads the
        signature, and from the bindings made from it.

    Example
            using elem = __nv_bfloat16;
            extern "C" __global__ void scale(const elem* x, const uint8_t* w_fp8);

    How to fix
        Say the format in the alias, and give storage its own type:

            using bf16 = __nv_bfloat16;
            extern "C" __global__ void scale(const bf16* x, const __nv_fp8_e4m3* w);

    Sources
        Metrale Engine, "CUDA Kernel Engineering": module-local aliases are fine
        but don't hide the precision.
    """

    code = "CU107"
    name = "hidden-precision"
    level = Level.NOTE
    messages = {
        "alias": "'{0}' of the kernel '{1}' is '{2}' behind the name '{3}', "
        "which does not say '{4}'.",
        "storage": "'{0}' of the kernel '{1}' holds '{2}' as '{3}'; use the type of the format.",
    }
    INVALID = (
        Example(
            code="""\
using elem = __nv_bfloat16;
extern "C" __global__ void k(const elem* __restrict__ a, float* o) {}
                             ~~~~~~~~~~~~~~~~~~~~~~~~~~
""",
            message="'a' of the kernel 'k' is 'const __nv_bfloat16*' behind the name 'elem', "
            "which does not say 'bf16'.",
        ),
        Example(
            code="""\
typedef __nv_fp8_e4m3 weight_t;
typedef __half T;
extern "C" __global__ void k(const weight_t* w, T* o, T scale) {}
                             ~~~~~~~~~~~~~~~~~  ~~~~  ~~~~~~~
""",
        ),
        Example(
            code="""\
using half_t = __nv_bfloat16;
using bf16 = __half;
__global__ void k(half_t* a, bf16* b) {}
                  ~~~~~~~~~  ~~~~~~~
""",
            message="which does not say 'bf16'.",
        ),
        Example(
            code="""\
using bf16 = __nv_bfloat16;
using act = bf16;
#define QUANT signed char
__global__ void k(act* a, const QUANT* b, bf16* c) {}
                  ~~~~~~  ~~~~~~~~~~~~~~
""",
        ),
        Example(
            code="""\
extern "C" __global__ void k(
    const uint8_t* __restrict__ w_fp8,
    ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
    const unsigned char* v,  // e4m3 values
    ~~~~~~~~~~~~~~~~~~~~~~
    /* bf16 */ const uint16_t* x,
               ~~~~~~~~~~~~~~~~~
    unsigned short* half_out) {}
    ~~~~~~~~~~~~~~~~~~~~~~~~
""",
            message="'w_fp8' of the kernel 'k' holds 'fp8' as 'const uint8_t*';",
        ),
        Example(
            code="""\
// Dequantises one row.
//   codes: [rows, 128] E4M3
//   out: the values
extern "C" __global__ void k(const uint8_t* codes, float* out) {}
                             ~~~~~~~~~~~~~~~~~~~~
""",
        ),
        Example(
            code="""\
using elem = half;
#define SCALE(name, T) \\
  __global__ void name(const elem* in, T* out, uint8_t* scale_fp8) {}
                       ~~~~~~~~~~~~~~          ~~~~~~~~~~~~~~~~~~
SCALE(to_f32, float)
SCALE(to_elem, elem)
~~~~~~~~~~~~~~~~~~~~
""",
        ),
        Example(
            code="""\
#include <cuda_fp16.h>
#include <cuda_fp8.h>
template <class T> using vec = T;
typedef __nv_fp8_e4m3 qtype;
__global__ void k(const vec<qtype>* p, vec<__half>* q) {}
                  ~~~~~~~~~~~~~~~~~~~
""",
            message="'p' of the kernel 'k' is 'const __nv_fp8_e4m3*' behind the name 'vec<qtype>', "
            "which does not say 'e4m3'.",
        ),
        Example(
            code="""\
__global__ void k(const uint8_t* w /* fp8 e4m3 */, const uint8_t* mask, float* o) {}
                  ~~~~~~~~~~~~~~~~
__global__ void l(const uint8_t* mask, /* e5m2, not e4m3 */ const uint8_t* w, float* o) {}
                                                            ~~~~~~~~~~~~~~~~
__global__ void m(const uint8_t* mask,  // never fp8
                  const uint8_t* w,     /* e5m2 */  // [rows]
                  ~~~~~~~~~~~~~~~~
                  float* o) {}
""",
        ),
        Example(
            path="k.cu",
            code="""\
#include "types.cuh"
__global__ void k(elem_ptr a) {}
                  ~~~~~~~~~~
""",
            files={"types.cuh": _HEAD + "#pragma once\nusing elem_ptr = const __nv_fp4x2_e2m1*;\n"},
        ),
    )
    VALID = (
        Example(
            code=_HEAD
            + """\
using bf16 = __nv_bfloat16;
using bf16x2_t = __nv_bfloat162;
typedef __half fp16;
typedef half half_t;
using fp8 = __nv_fp8_e4m3;
using e5m2_t = __nv_fp8_e5m2;
using i8 = int8_t;
extern "C" __global__ void __launch_bounds__(32)
    k(const bf16* a, bf16x2_t* b, fp16* c, half_t* d, const fp8* e, const e5m2_t* f, i8* g) {
  *a;
}
""",
        ),
        Example(
            code=_HEAD
            + """\
extern "C" __global__ void __launch_bounds__(32)
    k(const __nv_bfloat16* a, const __nv_fp8_e4m3* w, const int8_t* q, half scale, float* o) {
  *o = scale;
}
""",
        ),
        Example(
            code=_HEAD
            + """\
using elem = __nv_bfloat16;
__device__ float load(const elem* p) { return *p; }
extern "C" __global__ void __launch_bounds__(32) k(const __nv_bfloat16* a, float* o) {
  using value = __half;
  *o = load(a) + float(value(1));
}
""",
        ),
        Example(
            code=_HEAD
            + """\
extern "C" __global__ void __launch_bounds__(32)
    k(const uint8_t* mask, const uint16_t* indices, uint8_t* packed_fp4, float* o) {
  *o = mask[indices[0]];  // the mask of the fp8 path
}
""",
        ),
        Example(
            code=_HEAD
            + """\
extern "C" __global__ void __launch_bounds__(32)
    k(const uint8_t* a /* not fp8 */, const uint8_t* b /* u8 rather than e4m3 */, float* o) {
  *o = a[b[0]];
}
""",
        ),
        Example(
            code=_HEAD
            + """\
using index = int;
using real = float;
typedef unsigned long long slot_t;
extern "C" __global__ void __launch_bounds__(32) k(const index* i, real* o, slot_t* s) { *o = *i; }
""",
        ),
        Example(
            code=_HEAD
            + """\
template <typename T>
__device__ void copy(const T* in, T* out) { *out = *in; }
#define ENTRY(T) \\
  extern "C" __global__ void __launch_bounds__(32) copy_##T(const T* in, T* out) { copy(in, out); }
ENTRY(half)
""",
            also=("CU105",),
        ),
    )

    def check(self, file: FileModel, context: Context, options: NoOptions) -> Iterator[Finding]:
        """Judge the parameters of each kernel that `file` defines."""

        def judge(slot: Slot) -> _Hidden | None:
            found = context.types.parameters(slot.kernel)[slot.number]
            written = slot.parameter.type
            return _behind_alias(found, written) or _in_storage(found, slot, file, context)

        for place in places(slots(file), judge, stands_in_body(file)):
            slot, hidden = place.record, place.verdict
            yield self.report(
                hidden.kind,
                place.span,
                slot.called,
                slot.kernel.name,
                *hidden.arguments,
                related=(*hidden.related, *place.related),
                extents=(*place.uses, slot.kernel.head),
            )


class _Hidden(msgspec.Struct, frozen=True):
    """What a signature does not say: the message, and the rest of its arguments."""

    kind: str
    arguments: tuple[str, ...]
    related: tuple[Related, ...] = ()


def _behind_alias(found: ParameterType, written: str) -> _Hidden | None:
    precision = precision_of(found.canonical)
    if precision is None:
        return None
    if not found.through:  # libclang, which looks through alias templates, does not name them
        name = _CONST.sub("", written).strip()
        said = says(name, precision)
        return None if said else _Hidden("alias", (found.canonical, name, precision.name))
    outermost = found.through[0]
    if says(outermost.name, precision):
        return None
    arguments = (found.canonical, outermost.name, precision.name)
    return _Hidden("alias", arguments, (Related(outermost.span, "named here"),))


def _in_storage(
    found: ParameterType, slot: Slot, file: FileModel, context: Context
) -> _Hidden | None:
    if "*" not in found.canonical or not any(word in found.canonical for word in _STORAGE):
        return None
    said = stored_format(found.canonical, slot.parameter.name)
    if said is None and stored_format(found.canonical, "half fp8"):
        words = _words_on(file, slot.kernel, slot.number, context)
        said = stored_format(found.canonical, words)
    return _Hidden("storage", (said, found.canonical)) if said is not None else None


def _words_on(file: FileModel, kernel: Function, number: int, context: Context) -> str:
    """What comments say of one parameter: beside it, and by its name above the kernel."""
    parameters = kernel.parameters
    end = kernel.body.start if kernel.body is not None else kernel.head.end
    starts = [p.span.start for p in parameters[number + 1 :]] or [end]
    ends = [p.span.end for p in parameters[:number]] or [kernel.name_span.end]
    data = context.sources[file.path].data
    first, last = (
        bisect_left(file.comments, at, key=lambda comment: comment.span.start)
        for at in (ends[-1], starts[0])
    )
    beside = [
        comment.text
        for comment in file.comments[first:last]
        if _speaks_of(comment, parameters[number], data)
    ]
    name = re.escape(parameters[number].name)
    above = re.findall(rf"(?m)^[\s/*\-]*(?:@param\s+)?`?{name}`?\s*[:=\-–,].*$", kernel.comment)
    said = " ".join((*beside, *(above if name else ())))
    return _DENIED.sub(" ", said)


def _speaks_of(comment: Comment, parameter: Parameter, data: bytes) -> bool:
    """Whether a comment near a parameter is on it: inside, just before, or behind on its line.

    Behind its comma a comment is on it only where the next parameter starts another line.
    """
    span = parameter.span
    if comment.span.end <= span.start:
        between = data[comment.span.end : span.start]
        return b"\n" not in between and b"," not in between
    between = data[span.end : comment.span.start]
    if b"\n" in between:
        return False
    line_end = data.find(b"\n", comment.span.end)
    rest = data[comment.span.end : line_end if line_end >= 0 else len(data)]
    return b"," not in between or not rest.strip() or rest.lstrip().startswith((b"/*", b"//"))
