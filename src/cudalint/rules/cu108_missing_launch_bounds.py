"""CU108 missing-launch-bounds."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.context import Context
from cudalint.finding import Finding, Level
from cudalint.project.expansion import places, words_fixed
from cudalint.project.project import Project
from cudalint.rule import Example, NoOptions, ProjectRule
from cudalint.syntax.model import Function

_SPDX = "// SPDX-License-Identifier: MIT OR Apache-2.0\n"


class MissingLaunchBounds(ProjectRule):
    """A kernel does not say with how many threads it is launched.

    What it does
        Reports each `__global__` definition that has no `__launch_bounds__`, in
        whichever position, and of which the compiler has seen no declaration
        that has it. A macro that brings the attribute counts.

    Why it matters
        Without it the compiler must assume blocks of 1,024 threads: it limits
        each thread to 64 registers and spills what does not fit, or, where it
        uses more, the launch of a larger block fails at run time.

    Example
            extern "C" __global__ void scale(float* o) { … }

    How to fix
        Write the block size of the launch:
        `extern "C" __global__ void __launch_bounds__(256) scale(float* o)`, with
        the number of blocks per SM as second argument where occupancy matters.

    Sources
        The CUDA C++ Programming Guide, "Launch Bounds"; nvcc's warning #20238-D
        (`-Wmissing-launch-bounds`); Metrale Engine, "CUDA Kernel Engineering",
        on the register budget.
    """

    code = "CU108"
    name = "missing-launch-bounds"
    level = Level.WARNING
    messages = {
        "missing": "Kernel '{0}' has no '__launch_bounds__'; "
        "state the threads of the block that it is launched with.",
    }
    INVALID = (
        Example(
            code="""\
extern "C" __global__ void scale(float* o) { *o = 1.f; }
                           ~~~~~
""",
            message="Kernel 'scale' has no '__launch_bounds__';",
        ),
        Example(
            code="""\
template <typename T, int N>
static __global__ void
scale(T* o) { *o = N; }
~~~~~
template __global__ void scale<float, 3>(float*);
""",
        ),
        Example(
            code="""\
extern "C" __global__ void scale(float* o);
extern "C" __global__ void scale(float* o) { *o = 1.f; }
                           ~~~~~
extern "C" __global__ void __launch_bounds__(64) scale(float* o);
""",
        ),
        Example(
            code="""\
extern "C" __global__ void __maxnreg__(64) scale(float* o) { *o = 1.f; }
                                           ~~~~~
// __launch_bounds__(64) in a comment is none
extern "C" __global__ void /* __launch_bounds__(64) */ copy(float* o) { *o = 1.f; }
                                                       ~~~~
""",
        ),
        Example(
            code="""\
#define KERNEL(name) extern "C" __global__ void name(float* o) { *o = 1.f; }
                                                ~~~~
KERNEL(fill_a)
KERNEL(fill_b)
""",
        ),
        Example(
            code="""\
#define KERNEL(attributes, name) extern "C" __global__ void attributes name(float* o) { *o = 1.f; }
KERNEL(__launch_bounds__(64), fill_a)
KERNEL(, fill_b)
~~~~~~~~~~~~~~~~
""",
            message="Kernel 'fill_b' has no '__launch_bounds__';",
        ),
        Example(
            code="""\
namespace a { __global__ void __launch_bounds__(64) scale(float* o); }
namespace b { __global__ void scale(float* o) { *o = 1.f; } }
                              ~~~~~
__global__ void __launch_bounds__(64) scale(float* o, int n);
__global__ void scale(float* o) { *o = 1.f; }
                ~~~~~
""",
        ),
    )
    VALID = (
        Example(
            code=_SPDX
            + """\
extern "C" __launch_bounds__(256, 2) __global__ void scale(float* o) { *o = 1.f; }
""",
        ),
        Example(
            code=_SPDX
            + """\
extern "C" __global__ void __launch_bounds__(64) scale(float* o);
extern "C" __global__ void scale(float* o) { *o = 1.f; }
""",
        ),
        Example(
            path="scale.cu",
            code=_SPDX + '#include "scale.cuh"\n__global__ void scale(float* o) { *o = 1.f; }\n',
            files={
                "scale.cuh": _SPDX
                + "#pragma once\n"
                + 'extern "C" __global__ void __launch_bounds__(64) scale(float* o);\n'
            },
        ),
        Example(
            code=_SPDX
            + """\
#define THREADS(n) __launch_bounds__(n)
#define KERNEL extern "C" __global__ void
KERNEL THREADS(64) scale(float* o) { *o = 1.f; }
""",
        ),
        Example(
            code=_SPDX
            + """\
#define KERNEL(name, bounds) \\
  extern "C" __global__ void __launch_bounds__ bounds name(float* o) { *o = 1.f; }
KERNEL(fill_a, (64))
KERNEL(fill_b, (128, 2))
""",
        ),
        Example(
            code=_SPDX
            + """\
template <int N> __global__ void __launch_bounds__(N) fill(float* o) { *o = N; }
template __global__ void fill<64>(float*);
extern "C" void run(float* o, cudaStream_t s) { fill<64><<<1, 64, 0, s>>>(o); }
""",
        ),
        Example(
            code=_SPDX
            + """\
// extern "C" __global__ void old(float* o) { *o = 1.f; }
extern "C" __global__ void only_declared(float* o);
__device__ float twice(float x) { return 2.f * x; }
extern "C" int gemm(const float* a, int n) { return n + (a != nullptr); }
""",
        ),
        Example(
            path="scale.cu",
            code=_SPDX
            + '#include "bounds.cuh"\n'
            + 'extern "C" __global__ void OPS_LAUNCH_BOUNDS(64) scale(float* o) { *o = 1.f; }\n',
            files={
                "bounds.cuh": _SPDX
                + "#pragma once\n"
                + "#define OPS_LAUNCH_BOUNDS(n) __launch_bounds__(n)\n"
            },
        ),
    )

    def check(self, project: Project, context: Context, options: NoOptions) -> Iterator[Finding]:
        """Judge every kernel definition, once per macro that makes several."""

        def judge(kernel: Function) -> bool | None:
            return None if _bounded(kernel, project) else True

        for path, model in project.models.items():
            if not context.sources[path].requested:
                continue
            kernels = [kernel for kernel in model.kernels if kernel.kind == "definition"]
            if not kernels:
                continue
            for place in places(kernels, judge, words_fixed(model)):
                yield self.report(
                    "missing",
                    place.span,
                    place.record.name,
                    related=place.related,
                    extents=(place.record.head, *place.uses),
                )


def _bounded(kernel: Function, project: Project) -> bool:
    """Whether the kernel has bounds, by itself, by a macro or by an earlier declaration.

    A word such as `C10_LAUNCH_BOUNDS_1`, which some header defines that the run
    does not know, is believed.
    """
    if kernel.bounds is not None or any("launch_bounds" in w.lower() for w in kernel.words):
        return True
    if kernel.via_macro and kernel.use is None:
        return False
    return any(other.bounds is not None for other in project.earlier(kernel))
