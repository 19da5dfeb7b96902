"""CU102 one-kernel-per-file."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.context import Context
from cudalint.finding import Finding, Level, Related
from cudalint.rule import Example, FileRule, NoOptions
from cudalint.syntax.model import FileModel, Function

_SPDX = "// SPDX-License-Identifier: MIT OR Apache-2.0\n"
_ONE = _SPDX + 'extern "C" __global__ void __launch_bounds__(64) '


class OneKernelPerFile(FileRule):
    """A `.cu` file defines kernels that have nothing to do with each other.

    What it does
        Notes each `__global__` definition of a `.cu` file whose name is related
        to none of the kernels above it. Related are: overloads, templates and
        instances of one kernel; names with one stem and suffixes for types,
        sizes or variants (`scale_f32`, `scale_bf16`, `attn_hd128`); the phases
        of one operation (`norm_partial`, `norm_reduce`); a name that continues
        another (`moe_gate`, `moe_gate_topk`); kernels that one macro makes.

    Why it matters
        The file is the unit that a KERNEL.toml renames and that a leaf shadows.
        A leaf that needs its own version of one kernel has to carry a copy of
        the others too, which then misses every later fix.

    Example
            // ops.cu
            extern "C" __global__ void add_bf16(…) { … }
            extern "C" __global__ void softmax(…) { … }

    How to fix
        Move the kernel to a `.cu` file of its own, shared device functions to a
        `.cuh`.

    Sources
        Metrale Engine, "CUDA Kernel Engineering": one kernel per file where
        possible, so that the `[modules]` override maps cleanly.
    """

    code = "CU102"
    name = "one-kernel-per-file"
    level = Level.NOTE
    messages = {
        "unrelated": "Kernel '{0}' has nothing to do with '{1}' above it; "
        "give it a file of its own.",
    }

    INVALID = (
        Example(
            code=_ONE
            + """add_bf16(float* o) { o[threadIdx.x] = 1.f; }
extern "C" __global__ void __launch_bounds__(64) softmax(float* o) { o[threadIdx.x] = 2.f; }
                                                 ~~~~~~~
""",
            message="Kernel 'softmax' has nothing to do with 'add_bf16' above it;",
        ),
        Example(
            code=_ONE
            + """rms_norm(float* o) { *o = 1.f; }
extern "C" __global__ void __launch_bounds__(64) rms_norm_residual(float* o) { *o = 2.f; }
extern "C" __global__ void __launch_bounds__(64) rope(float* o) { *o = 3.f; }
                                                 ~~~~
extern "C" __global__ void __launch_bounds__(64) rope_f32(float* o) { *o = 4.f; }
extern "C" __global__ void __launch_bounds__(64) argmax(float* o) { *o = 5.f; }
                                                 ~~~~~~
""",
        ),
        Example(
            code="""\
template <int N> __global__ void __launch_bounds__(64) fill(float* o) { *o = N; }
template <typename T>
__global__ void __launch_bounds__(64)
copy(T* o, const T* i) { *o = *i; }
~~~~
""",
        ),
        Example(
            code="""\
#define KERNEL(name) extern "C" __global__ void __launch_bounds__(64) name(float* o) { *o = 1.f; }
KERNEL(relu)
extern "C" __global__ void __launch_bounds__(64) transpose(float* o) { *o = 2.f; }
                                                 ~~~~~~~~~
""",
        ),
        Example(
            code="""\
extern "C" {
__global__ void __launch_bounds__(64) gather_rows(float* o);
__global__ void __launch_bounds__(64) gather_rows(float* o) { *o = 1.f; }
namespace detail {
__global__ void __launch_bounds__(64) topk(float* o) { *o = 1.f; }
                                      ~~~~
}
}
""",
        ),
        Example(
            code="""\
#ifdef WIDE
extern "C" __global__ void __launch_bounds__(256) scan(float* o) { *o = 1.f; }
#else
extern "C" __global__ void __launch_bounds__(128) scan(float* o) { *o = 1.f; }
#endif
extern "C" __global__ void __launch_bounds__(64) histogram(float* o) { *o = 1.f; }
                                                 ~~~~~~~~~
""",
        ),
    )
    VALID = (
        Example(code=_ONE + "rms_norm(float* o) { o[threadIdx.x] = 1.f; }\n"),
        Example(
            code=_ONE
            + """norm_partial(float* o) { *o = 1.f; }
extern "C" __global__ void __launch_bounds__(64) norm_reduce(float* o) { *o = 2.f; }
""",
        ),
        Example(
            code=_ONE
            + """scale_f32(float* o) { *o = 1.f; }
extern "C" __global__ void __launch_bounds__(64) scale_i8(int* o) { *o = 2; }
extern "C" __global__ void __launch_bounds__(64) scale_x4(float* o) { *o = 3.f; }
""",
        ),
        Example(
            code=_ONE
            + """w8a16_gemv(float* o) { *o = 1.f; }
extern "C" __global__ void __launch_bounds__(64) w4a16_gemv(float* o) { *o = 2.f; }
""",
        ),
        Example(
            code=_SPDX
            + """\
#define UNARY(name, expr) \\
  extern "C" __global__ void __launch_bounds__(64) name(float* o) { o[0] = (expr); }
UNARY(relu, o[0] > 0.f ? o[0] : 0.f)
UNARY(negate, -o[0])
""",
        ),
        Example(
            code=_ONE
            + """add(float* o) { *o = 1.f; }
// extern "C" __global__ void softmax(float* o) { *o = 2.f; }
#if 0
extern "C" __global__ void argmax(float* o) { *o = 2.f; }
#endif
__device__ float half_of(float x) { return x * 0.5f; }
extern "C" int launch_everything(int n) { return n; }
""",
        ),
        Example(
            path="tiles.cuh",
            code=_SPDX
            + """\
#pragma once
extern "C" __global__ void __launch_bounds__(64) add(float* o) { *o = 1.f; }
extern "C" __global__ void __launch_bounds__(64) softmax(float* o) { *o = 1.f; }
""",
        ),
    )

    def check(self, file: FileModel, context: Context, options: NoOptions) -> Iterator[Finding]:
        """Report the first kernel of each further family."""
        if not file.path.endswith(".cu"):
            return
        kernels = [
            kernel
            for kernel in file.kernels
            if kernel.kind == "definition" and not (kernel.via_macro and kernel.use is None)
        ]
        if len(kernels) < 2:
            return
        from cudalint.wording.families import related_kernels

        families: list[list[Function]] = []
        for kernel in kernels:
            family = next((f for f in families if related_kernels(f, kernel)), None)
            if family is not None:
                family.append(kernel)
                continue
            if families:
                first = families[0][0]
                yield self.report(
                    "unrelated",
                    kernel.use or kernel.name_span,
                    kernel.name,
                    first.name,
                    related=(Related(first.use or first.name_span, "first kernel"),),
                    extents=(kernel.use or kernel.head,),
                )
            families.append([kernel])
