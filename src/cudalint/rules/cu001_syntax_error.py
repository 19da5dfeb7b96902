"""CU001 syntax-error."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.context import Context
from cudalint.finding import Finding, Level, Span
from cudalint.rule import Example, FileRule, NoOptions
from cudalint.syntax.model import FileModel

_LONGEST = 40
"""The most characters of a region that the message quotes."""

_SPDX = "// SPDX-License-Identifier: MIT OR Apache-2.0\n"


class SyntaxErrorRegion(FileRule):
    """A part of a kernel or launcher that is no CUDA C++.

    What it does
        Reports each region that stays unreadable in a kernel or in a function
        that launches one, or that hides a `__global__`, a `<<<` or a
        `__shared__`. Other regions that the parser does not follow, and those
        in preprocessor branches that a default build leaves out, are only
        counted in the run's notifications.

    Why it matters
        No rule looks inside such a region, so a clean report would say nothing
        about it. A compiler takes none of it either.

    Example
            extern "C" __global__ void scale(float* o) { o[0] = (1.0f; }

    How to fix
        Correct the code. If nvcc compiles the file, the fault is cudalint's:
        please report it with the lines in question.

    Sources
        The CUDA C++ Programming Guide, "C++ Language Extensions"; ISO C++17.
    """

    code = "CU001"
    name = "syntax-error"
    level = Level.WARNING
    messages = {
        "unreadable": "'{0}' can't be read as CUDA C++, so no rule looked at it; correct it.",
    }

    INVALID = (
        Example(
            code="""\
extern "C" __global__ void scale(float* o) { o[0] = (1.0f; }
                                                         ~
""",
            message="can't be read as CUDA C++, so no rule looked at it; correct it.",
        ),
        Example(
            code="""\
extern "C" __global__ void scale(float* o) {
  o[0] = 1.0f +;
              ~
  printf("still looked at");
}
""",
        ),
        Example(
            code="""\
void launch(float* o, cudaStream_t s) {
  scale<<<1, 32, 0, s>>(o);
       ~~~
}
""",
        ),
        Example(
            code="""\
__global__ void scale(float* o) { float x = o[0] o[1]; }
                                                 ~
""",
        ),
        Example(
            code="""\
#ifndef WIDE
__global__ void scale(float* o) { @o[0] = 1.0f; }
                                  ~
#endif
""",
        ),
        Example(
            code="""\
void launch(float* o, cudaStream_t s) { scale<<<1, 32, 0, s>>>(o)); }
                                                                 ~
""",
        ),
    )
    VALID = (
        Example(
            code=_SPDX
            + """\
#define UNROLL _Pragma("unroll")
extern "C" __global__ void __launch_bounds__(32) __attribute__((used)) scale(
    float* __restrict__ o,
#ifdef WITH_BIAS
    const float* __restrict__ bias,
#endif
    int n) {
  extern __shared__ __align__(16) unsigned char pool[];  // bytes [row][column]
  UNROLL
  for (int i = 0; i < 4; ++i)
#pragma unroll 2
    for (int j = 0; j < 4; ++j) o[i] = pool[j] + n;
}
""",
        ),
        Example(
            code=_SPDX
            + """\
struct Options { int n = 0; };
template <typename T, typename U = decltype(T{} + 1)> __device__ U body(T x, Options o = {}) {
  auto f = [=] __device__(int i) -> U { return x + i + o.n; };
  return f(3);
}
extern "C" __global__ void __launch_bounds__(32) scale(float* o) { o[0] = body(o[1]); }
template __device__ float body<float>(float, Options);
""",
        ),
        Example(
            code=_SPDX
            + """\
#ifdef __cplusplus
extern "C" {
#endif
__global__ void __launch_bounds__(32) scale(float* o) {
  asm volatile("bar.sync %0;" ::"r"(0) : "memory");
  o[0] = __uint_as_float(0x3f800000u) + 1'000;
}
#ifdef __cplusplus
}
#endif
""",
        ),
        Example(
            code=_SPDX
            + """\
#define CHECK(x) \\
  do { \\
    if ((x) != cudaSuccess) return; \\
  } while (0)
template <int N> __global__ void __launch_bounds__(N) fill(float* o) { *o = N; }
extern "C" void launch(float* o, cudaStream_t s) {
  fill<(4 > 3) ? 32 : 64><<<dim3(1, 2), dim3(32), 0, s>>>(o);
  CHECK(cudaGetLastError());
  auto kernel = fill<64>;
  kernel<<<1, 64, 0, s>>>(o);
}
""",
        ),
        Example(
            code=_SPDX
            + """\
#if CUDART_VERSION >= 2020
extern "C" __global__ void __launch_bounds__(32) scale(float* o) { o[0] = 1.0f; }
#else
extern "C" __global__ void __launch_bounds__(32) scale(float* o) { o[0] = ,1.0f; }
#endif
""",
        ),
        Example(
            path="notes.h",
            code=_SPDX
            + """\
#if 0
__global__ void half_written(float* o) { o[0] = ( }
#endif
// __global__ void old(float* o) { ( }
const char* kText = "k<<<1, 2>>(o";
""",
        ),
        Example(
            path="host.cpp",
            code=_SPDX + "int answer() { return 42; }\n[[nodiscard]] int other();\n",
        ),
    )

    def check(self, file: FileModel, context: Context, options: NoOptions) -> Iterator[Finding]:
        """Report each broken region that matters."""
        regions = [region for region in file.broken if region.matters]
        if not regions:
            return
        from cudalint.project.conditions import every_build

        conditions = every_build(context.project, file, default_build=True)
        for region in regions:
            if not conditions.leave_out(region.span):
                text = _beginning(context.text(region.span)) or _before(region.span, context)
                yield self.report("unreadable", region.span, text)


def _beginning(text: str) -> str:
    """The first line of a region, or as much of it as a message holds."""
    first = text.strip().partition("\n")[0].rstrip()
    return first if len(first) <= _LONGEST else f"{first[:_LONGEST]}…"


def _before(span: Span, context: Context) -> str:
    """What stands before a region that is blank, where something is missing: its line's end."""
    data = context.sources[span.path].data[: span.start].rstrip()
    line = data[data.rfind(b"\n") + 1 :].decode("utf-8", "replace").strip()
    return line if len(line) <= _LONGEST else f"…{line[-_LONGEST:]}"
