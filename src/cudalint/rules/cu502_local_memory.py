"""CU502 local-memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cudalint.context import Context
from cudalint.finding import Finding, Level
from cudalint.rule import CompileRule, Example, NoOptions

if TYPE_CHECKING:
    from cudalint.compile.model import CompiledFile, FunctionResources

_GB10 = 'targets = ["sm_121"]\n'
_SPDX = "// SPDX-License-Identifier: MIT OR Apache-2.0\n"
_WINDOW = """\
extern "C" __global__ void __launch_bounds__(32) window(const float* x, float* y, int n) {
                                                 ~~~~~~
  float t[64];
  for (int i = 0; i < n; ++i) t[i] = x[i];
  for (int i = 0; i < n; ++i) y[i] = t[n - 1 - i];
}
"""
_ADDRESS = """\
__device__ __noinline__ void fill(float* t) { t[0] = 1; t[1] = 2; t[2] = 3; }
extern "C" __global__ void __launch_bounds__(32)
address(float* y) {
~~~~~~~
  float t[3];
  fill(t);
  y[threadIdx.x] = t[0] + t[1] + t[2];
}
"""
_TEMPLATE = """\
template <int N>
__global__ void __launch_bounds__(32) window(const float* x, float* y, int n) {
                                      ~~~~~~
  float t[N];
  for (int i = 0; i < n; ++i) t[i] = x[i];
  for (int i = 0; i < n; ++i) y[i] = t[n - 1 - i];
}
template __global__ void window<64>(const float*, float*, int);
template __global__ void window<128>(const float*, float*, int);
"""
_MACRO = """\
#define WINDOW(NAME, N)                                                                   \\
  extern "C" __global__ void __launch_bounds__(32) NAME(const float* x, float* y, int n) { \\
    float t[N];                                                                           \\
    for (int i = 0; i < n; ++i) t[i] = x[i];                                              \\
    for (int i = 0; i < n; ++i) y[i] = t[n - 1 - i];                                      \\
  }
WINDOW(window_64, 64)
~~~~~~~~~~~~~~~~~~~~~
"""
_RECURSION = """\
__device__ __noinline__ int walk(const int* x, int n) {
  volatile int kept[4] = {n, n, n, n};
  return n < 2 ? kept[n & 3] : walk(x, n - 1) + kept[0];
}
extern "C" __global__ void __launch_bounds__(32) walked(const int* x, int* y) { *y = walk(x, *x); }
"""
_UNROLLED = """\
extern "C" __global__ void __launch_bounds__(32) window(const float* x, float* y) {
  float t[16];
#pragma unroll
  for (int i = 0; i < 16; ++i) t[i] = x[i * 32 + threadIdx.x];
#pragma unroll
  for (int i = 0; i < 16; ++i) y[i * 32 + threadIdx.x] = t[15 - i];
}
"""
_SHARED = """\
extern "C" __global__ void __launch_bounds__(32) window(const float* x, float* y, int n) {
  // [lane]: one value of each lane of the warp, no pad
  __shared__ float t[32];
  t[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  y[threadIdx.x] = t[(n - threadIdx.x) & 31];
}
"""
_CONSTANT = """\
__constant__ float kLevels[8] = {0.0f, 0.5f, 1.0f, 1.5f, 2.0f, 3.0f, 4.0f, 6.0f};
extern "C" __global__ void __launch_bounds__(32) level(const unsigned* code, float* y) {
  y[threadIdx.x] = kLevels[code[threadIdx.x] & 7];
}
"""
_CHAIN = """\
extern "C" __global__ void __launch_bounds__(32) choose(const float* x, float* y) {
  const int lane = threadIdx.x & 3;
  const float a = x[0], b = x[1], c = x[2], d = x[3];
  y[threadIdx.x] = lane == 0 ? a : lane == 1 ? b : lane == 2 ? c : d;
}
"""
_INLINED = """\
__device__ __forceinline__ void fill(float* t) { t[0] = 1; t[1] = 2; t[2] = 3; }
extern "C" __global__ void __launch_bounds__(32) address(float* y) {
  float t[3];
  fill(t);
  y[threadIdx.x] = t[0] + t[1] + t[2];
}
"""


class LocalMemory(CompileRule):
    """A kernel has a stack frame although it spills nothing.

    What it does
        Reports each kernel of which ptxas says that its stack frame is larger
        than 0 bytes and that it spills no register; with spills it is CU501's
        business. The instances of a template, on all archs, are one finding that
        names the largest frame. The frame of a function that the kernel calls
        counts as the kernel's own; where ptxas gives such a function a frame of
        its own (recursion does that), it is a note at the function.

    Why it matters
        Registers cannot be indexed by a variable. An array that is, or whose
        address escapes, lies in local memory: each access is a load or store
        that the source does not show, through the caches that the data needs.

    Example
            float t[64];
            for (int i = 0; i < n; ++i) t[i] = x[i];     // n is known at run time only

    How to fix
        Make every index a compile-time constant: unroll the loops over the
        array entirely, or select with a chain of conditions. Put a table that
        has to be indexed into shared or constant memory. Pass values, not
        addresses of locals, to functions that are not inlined.

    Sources
        CUDA C++ Programming Guide, "Local Memory"; ptxas `-v`: "bytes stack
        frame".
    """

    code = "CU502"
    name = "local-memory"
    level = Level.WARNING
    messages = {
        "frame": "Kernel '{0}' keeps '{2}' bytes of each thread in local memory on '{1}'.",
        "frame-at-worst": (
            "Kernel '{0}' keeps up to '{2}' bytes of each thread in local memory on '{1}'"
            " ('{3}' on '{4}')."
        ),
        "frame-on-archs": (
            "Kernel '{0}' keeps up to '{2}' bytes of each thread in local memory on '{1}'"
            " ('{3}' on '{4}'; bytes: '{5}')."
        ),
        "device-function": (
            "Device function '{0}' keeps up to '{2}' bytes of each thread in local memory on '{1}'."
        ),
    }

    INVALID = (
        Example(
            code=_WINDOW,
            settings=_GB10,
            message="Kernel 'window' keeps '256' bytes of each thread in local memory on 'sm_121'.",
        ),
        Example(code=_ADDRESS, settings=_GB10, message="Kernel 'address' keeps '16' bytes"),
        Example(
            code=_TEMPLATE, settings=_GB10, message="up to '512' bytes of each thread in local"
        ),
        Example(code=_MACRO, settings=_GB10, message="Kernel 'window_64' keeps '256' bytes"),
        Example(
            code=_WINDOW,
            settings='targets = ["sm_121", "sm_89"]\n',
            message="on 'sm_89, sm_121' ('window' on 'sm_89'; bytes: 'sm_89: 256; sm_121: 256').",
        ),
        Example(code='#include "window.cuh"\n', files={"window.cuh": _WINDOW}, settings=_GB10),
    )
    VALID = (
        Example(code=_SPDX + _UNROLLED, settings=_GB10),
        Example(code=_SPDX + _SHARED, settings=_GB10),
        Example(code=_SPDX + _CONSTANT, settings=_GB10),
        Example(code=_SPDX + _CHAIN, settings=_GB10),
        Example(code=_SPDX + _INLINED, settings=_GB10),
        Example(code=f"{_SPDX}#if 0\n{_RECURSION}#endif\nint answer() {{ return 42; }}\n"),
    )

    def check(
        self, compiled: CompiledFile, context: Context, options: NoOptions
    ) -> Iterator[Finding]:
        """Report each function with a frame of its own."""
        from cudalint.compile.kernels import by_arch, objectionable, where
        from cudalint.compile.locate import Locator

        for group in objectionable(compiled, Locator(compiled, context), _has_frame):
            worst = group.worst(_frame)
            function = worst.function
            on = where((build.compilation for build in group.builds), compiled)
            arguments: tuple[object, ...] = (group.place.name, on, function.stack)
            message = "frame" if group.entry else "device-function"
            if group.entry and (len(group.builds) > 1 or function.name != group.place.name):
                message, arguments = "frame-at-worst", (*arguments, function.name, worst.arch)
            if group.entry and len(group.archs) > 1:
                figures = by_arch(group, _frame, lambda function: str(function.stack))
                message, arguments = "frame-on-archs", (*arguments, figures)
            yield self.report(
                message,
                group.place.span,
                *arguments,
                level=None if group.entry else Level.NOTE,
                extents=group.place.extents,
                bytes=function.stack,
                instances=group.instances,
                arch=worst.arch,
            )


def _frame(function: FunctionResources) -> int:
    return function.stack


def _has_frame(function: FunctionResources) -> bool:
    return function.stack > 0 and not function.spill_stores and not function.spill_loads
