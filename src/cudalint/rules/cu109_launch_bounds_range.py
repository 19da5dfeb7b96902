"""CU109 launch-bounds-range."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from cudalint.compile.archs import ARCHS, THREADS_PER_BLOCK, WARP, arch_limits, arch_order
from cudalint.context import Context
from cudalint.finding import Finding, Level, Related
from cudalint.project.expansion import Place, places
from cudalint.project.instances import instances
from cudalint.project.project import Project
from cudalint.rule import Example, NoOptions, ProjectRule
from cudalint.syntax.brackets import split_arguments
from cudalint.syntax.model import FileModel, Function

_SPDX = "// SPDX-License-Identifier: MIT OR Apache-2.0\n"
_SM121 = 'targets = ["sm_121"]\n'
_MORE = "#pragma once\nconstexpr int kThreads = 1'056;\n"
_FEWEST_REGISTERS = 24


class _Verdict(msgspec.Struct, frozen=True):
    """What is wrong with the bounds: in which compiled file, a message, what fills it, numbers."""

    path: str
    message: str
    arguments: tuple[object, ...]
    numbers: dict[str, int | float | str]


class LaunchBoundsRange(ProjectRule):
    """Launch bounds that no SM of the target can keep.

    What it does
        Evaluates the arguments of each `__launch_bounds__`, through constants,
        macros and the known instances of a template, and reports more than
        1,024 threads in a block, or none; and, for the archs that the file is compiled
        for, more threads in the least number of blocks than an SM has. Notes
        threads that are no multiple of a warp, and bounds that leave a thread
        fewer than 24 registers. Bounds that can't be evaluated are left alone.

    Why it matters
        A block of more than 1,024 threads cannot be launched. A least number of
        blocks that does not fit is ignored by ptxas, which only warns: the
        occupancy that the source promises is not there.

    Example
            // sm_121 has 1,536 threads per SM
            extern "C" __global__ void __launch_bounds__(1024, 2) scale(float* o) { … }

    How to fix
        Take a block size that is a multiple of 32 and at most 1,024, and a
        number of blocks with which it fits the SM of each target.

    Sources
        The CUDA C++ Programming Guide, "Launch Bounds" and "Technical
        Specifications per Compute Capability"; ptxas: `.minnctapersm will be
        ignored`.
    """

    code = "CU109"
    name = "launch-bounds-range"
    level = Level.ERROR
    messages = {
        "threads": "Kernel '{0}' is bounded to '{1}' threads, and a block holds '1024'; "
        "take a smaller block.",
        "none": "Kernel '{0}' is bounded to '{1}' threads, which nvcc ignores; "
        "take a block size that is a multiple of 32.",
        "blocks": "Kernel '{0}' wants '{1}' blocks of '{2}' threads on an SM, and one of '{3}' "
        "holds '{4}' threads, so ptxas ignores it; take fewer or smaller blocks.",
        "warps": "Kernel '{0}' is bounded to '{1}' threads, no multiple of '32'; take whole warps.",
        "registers": "Kernel '{0}' wants '{1}' blocks of '{2}' threads on an SM, "
        "which leaves a thread '{3}' registers; take fewer blocks.",
    }

    INVALID = (
        Example(
            code="""\
extern "C" __global__ void __launch_bounds__(2048) scale(float* o) { *o = 1.f; }
                                                   ~~~~~
""",
            message="Kernel 'scale' is bounded to '2048' threads, and a block holds '1024';",
        ),
        Example(
            code="""\
#define THREADS (1u << 10)
extern "C" __global__ void __launch_bounds__(THREADS, 2) scale(float* o) { *o = 1.f; }
                                                         ~~~~~
extern "C" __global__ void __launch_bounds__(THREADS, 1) copy(float* o) { *o = 1.f; }
""",
            settings=_SM121,
            message="wants '2' blocks of '1024' threads on an SM, and one of 'sm_121' holds '1536'",
        ),
        Example(
            code="""\
constexpr int kWarps = 3, kLanes = 0x20;
enum { kExtra = 4 };
extern "C" __global__ void
__launch_bounds__(kWarps * kLanes + kExtra)
scale(float* o) { *o = 1.f; }
~~~~~
""",
            message="Kernel 'scale' is bounded to '100' threads, no multiple of '32';",
        ),
        Example(
            code="""\
template <int N, int M = 2> __global__ void __launch_bounds__(N * M) fill(float* o) { *o = N; }
                                                                     ~~~~
template __global__ void fill<256>(float*);
template __global__ void fill<1024>(float*);
""",
            message="Kernel 'fill' is bounded to '2048' threads,",
        ),
        Example(
            code="""\
#define KERNEL(name, threads) \\
  extern "C" __global__ void __launch_bounds__(threads) name(float* o) { *o = 1.f; }
KERNEL(fill_a, 512)
KERNEL(fill_b, 1536)
~~~~~~~~~~~~~~~~~~~~
""",
        ),
        Example(
            path="scale.cu",
            code="""\
#include "sizes.cuh"
extern "C" __global__ void __launch_bounds__(kThreads) scale(float* o) { *o = 1.f; }
                                                       ~~~~~
""",
            files={"sizes.cuh": '#pragma once\n#include "more.cuh"\n', "more.cuh": _MORE},
        ),
        Example(
            code="""\
extern "C" __global__ void __launch_bounds__(1024, 3) scale(float* o) { *o = 1.f; }
                                                      ~~~~~
""",
            message="which leaves a thread '16' registers;",
        ),
        Example(
            code="""\
extern "C" __global__ void __launch_bounds__(480, 3) tight(float* o) { *o = 1.f; }
extern "C" __global__ void __launch_bounds__(480, 4) scale(float* o) { *o = 1.f; }
                                                     ~~~~~
""",
            settings='targets = ["sm_90", "sm_89"]\n',
            message="one of 'sm_89' holds '1536' threads",
        ),
        Example(
            path="gb10/qwen/fp8/wide.cu",
            code=_SPDX + '#define THREADS 2048\n#include "../../common/scale.cu"\n',
            files={
                "gb10/common/scale.cu": """\
#ifndef THREADS
#define THREADS 128
#endif
extern "C" __global__ void __launch_bounds__(THREADS) scale(float* o) { *o = 1.f; }
                                                      ~~~~~
"""
            },
            message="Kernel 'scale' is bounded to '2048' threads,",
        ),
        Example(
            code="""\
constexpr int kNone = 0;
extern "C" __global__ void __launch_bounds__(kNone) none(float* o) { *o = 1.f; }
                                                    ~~~~
extern "C" __global__ void __launch_bounds__(-1) fewer(float* o) { *o = 1.f; }
                                                 ~~~~~
""",
            message="Kernel 'none' is bounded to '0' threads, which nvcc ignores;",
        ),
    )
    VALID = (
        Example(
            code=_SPDX
            + """\
#define THREADS 512
extern "C" __global__ void __launch_bounds__(THREADS, 3) scale(float* o) { *o = 1.f; }
""",
            settings=_SM121,
        ),
        Example(
            code=_SPDX
            + """\
template <int N> __global__ void __launch_bounds__(N) fill(float* o) { *o = N; }
extern "C" void run(float* o, cudaStream_t s) { fill<96><<<1, 96, 0, s>>>(o); }
""",
        ),
        Example(
            code=_SPDX
            + """\
#ifdef WIDE
#define THREADS 1024
#else
#define THREADS 2048 / 2 / 2
#endif
extern "C" __global__ void __launch_bounds__(THREADS, 2) scale(float* o) { *o = 1.f; }
""",
            settings=_SM121,
        ),
        Example(
            code=_SPDX
            + """\
struct Sizes { static constexpr int kThreads = sizeof(double) * 32; };
extern "C" __global__ void __launch_bounds__(Sizes::kThreads, 6) scale(float* o) { *o = 1.f; }
""",
            settings=_SM121,
        ),
        Example(
            code=_SPDX
            + """\
// __launch_bounds__(4096)
#if 0
extern "C" __global__ void __launch_bounds__(4096) old(float* o) { *o = 1.f; }
#endif
extern "C" __global__ void __launch_bounds__(1024) scale(float* o) { *o = 1.f; }
""",
        ),
        Example(
            code=_SPDX
            + """\
extern "C" __global__ void __launch_bounds__(1024, 2) scale(float* o) { *o = 1.f; }
""",
            settings='targets = ["sm_90a", "sm_100"]\n',
        ),
        Example(
            code=_SPDX
            + """\
#define KERNEL(name, threads) \\
  extern "C" __global__ void __launch_bounds__(threads) name(float* o) { *o = 1.f; }
KERNEL(fill_a, 512)
KERNEL(fill_b, static_cast<int>(1024))
""",
        ),
        Example(
            code=_SPDX
            + """\
template <int N> __global__ void __launch_bounds__(N, 0) fill(float* o) { *o = N; }
template __global__ void fill<0>(float*);
template __global__ void fill<64>(float*);
""",
            also=("CU104",),
        ),
    )

    by_arch = " for blocks per SM"

    @classmethod
    def lacks_arch(cls, file: FileModel, context: Context) -> bool:
        """Bounds with a number of blocks."""
        of_blocks = any(k.bounds is not None and len(k.bounds.arguments) > 1 for k in file.kernels)
        return of_blocks and not context.archs(file.path)

    def check(self, project: Project, context: Context, options: NoOptions) -> Iterator[Finding]:
        """Judge each `__launch_bounds__` once; the worst that is known of it is said."""

        def judge(kernel: Function) -> _Verdict | None:
            return _worst(_verdicts(kernel, context))

        for path, model in project.models.items():
            if not context.sources[path].requested:
                continue
            bounded = [kernel for kernel in model.kernels if kernel.bounds is not None]
            if bounded:
                for place in places(bounded, judge, lambda kernel: judge(kernel) is not None):
                    yield self._found(place, project)

    def _found(self, place: Place[Function, _Verdict], project: Project) -> Finding:
        kernel, verdict = place.record, place.verdict
        is_note = verdict.message in ("warps", "registers")
        related = place.related
        if kernel.bounds is not None and not kernel.via_macro:
            related = (Related(kernel.bounds.span, "bounds"),)
        include = project.includes.directive(verdict.path, kernel.span.path)
        if include is not None:
            related = (*related, Related(include.span, "compiled with this"))
        finding = self.report(
            verdict.message,
            place.span,
            kernel.name,
            *verdict.arguments,
            level=Level.NOTE if is_note else None,
            related=related,
            extents=(kernel.head, *place.uses),
        )
        return msgspec.structs.replace(finding, properties=verdict.numbers)


def _worst(verdicts: Iterable[_Verdict]) -> _Verdict | None:
    order = ("threads", "none", "blocks", "warps", "registers")
    return min(verdicts, key=lambda verdict: order.index(verdict.message), default=None)


def _verdicts(kernel: Function, context: Context) -> Iterator[_Verdict]:
    """What is wrong in each file that compiles the kernel, for each known instance."""
    path = kernel.span.path
    values = instances(kernel, context) if kernel.template else [{}]
    for user in (path, *context.project.includes.includers(path)):
        for bindings in values:
            yield from _judged(kernel, user, bindings, context)


def _judged(
    kernel: Function, path: str, bindings: dict[str, int], context: Context
) -> Iterator[_Verdict]:
    """What is wrong when the file at `path` is compiled: its macros come before the kernel's."""
    arguments = _arguments(kernel, context)
    evaluate = context.project.constants.evaluate
    threads = evaluate(path, arguments[0], bindings) if arguments else None
    if threads is None:
        return
    if threads > THREADS_PER_BLOCK:
        yield _Verdict(path, "threads", (threads,), {"threads": threads})
        return
    if threads < 0 or (threads == 0 and not bindings):  # a template's 0 may mean no bounds
        yield _Verdict(path, "none", (threads,), {"threads": threads})
        return
    if threads % WARP:
        yield _Verdict(path, "warps", (threads,), {"threads": threads})
    blocks = evaluate(path, arguments[1], bindings) if len(arguments) > 1 else None
    if blocks is not None and blocks > 0 and threads > 0:
        yield from _of_blocks(path, threads, blocks, context.archs(path))


def _arguments(kernel: Function, context: Context) -> tuple[str, ...]:
    """The arguments as written: which macros they mean depends on the file that is compiled."""
    if kernel.bounds is None:
        return ()
    name, _, rest = context.text(kernel.bounds.span).partition("(")
    if kernel.via_macro or name.strip() != "__launch_bounds__" or "//" in rest or "/*" in rest:
        return kernel.bounds.arguments
    text = rest.rpartition(")")[0].encode()
    return tuple(text[start:end].decode() for start, end in split_arguments(text))


def _of_blocks(path: str, threads: int, blocks: int, archs: tuple[str, ...]) -> Iterator[_Verdict]:
    """The first arch on which so many blocks don't fit, or too few registers on all of them."""
    warps = -(-threads // WARP)
    numbers: dict[str, int | float | str] = {"threads": threads, "blocks": blocks}
    for arch in sorted(archs, key=arch_order):
        limits = arch_limits(arch)
        if limits is not None and warps * WARP * blocks > limits.threads_per_sm:
            held = limits.threads_per_sm
            numbers |= {"arch": arch, "threads_per_sm": held}
            yield _Verdict(path, "blocks", (blocks, threads, arch, held), numbers)
            return
    if archs or warps * WARP * blocks <= 2 * THREADS_PER_BLOCK:
        return  # as many threads as any SM holds leave more than enough for each
    known = [limits for arch in ARCHS if (limits := arch_limits(arch)) is not None]
    ceiling = max(limits.register_ceiling(threads, blocks) for limits in known)
    if ceiling < _FEWEST_REGISTERS:
        numbers["registers"] = ceiling
        yield _Verdict(path, "registers", (blocks, threads, ceiling), numbers)
