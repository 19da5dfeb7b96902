"""CU504 low-occupancy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import msgspec

from cudalint.context import Context
from cudalint.finding import Finding, Level, Related
from cudalint.rule import CompileRule, Example

if TYPE_CHECKING:
    from cudalint.compile.kernels import Build, Group
    from cudalint.compile.locate import Locator
    from cudalint.compile.model import CompiledFile, FunctionResources
    from cudalint.compile.occupancy import Occupancy
    from cudalint.resources.model import LaunchShape
    from cudalint.resources.steps import NextStep

_GB10 = 'targets = ["sm_121"]\n'
_SPDX = "// SPDX-License-Identifier: MIT OR Apache-2.0\n"
_TILES = """\
extern "C" __global__ void __launch_bounds__(128)
stage(const float* x, float* y) {
~~~~~
  // [row][lane]: 88 rows of one block, no pad
  __shared__ float tile[88][128];
#pragma unroll 1
  for (int row = 0; row < 88; ++row) tile[row][threadIdx.x] = x[row * 128 + threadIdx.x];
  __syncthreads();
#pragma unroll 1
  for (int row = 0; row < 88; ++row) y[row * 128 + threadIdx.x] = tile[row][127 - threadIdx.x];
}
"""
_POOL = """\
extern "C" __global__ void __launch_bounds__(64)
pooled(const float* x, float* y) {
~~~~~~
  // [lane]: one value of each lane of the block
  extern __shared__ float pool[];
  pool[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  y[threadIdx.x] = pool[63 - threadIdx.x];
}
"""
_TURN = """\
#define KEPT 96
extern "C" __global__ void __launch_bounds__(64, 1)
turn(const float* x, float* y) {
~~~~
  float v[KEPT];
#pragma unroll
  for (int i = 0; i < KEPT; ++i) v[i] = x[i * 512 + threadIdx.x];
  __syncthreads();
#pragma unroll
  for (int i = 0; i < KEPT; ++i) y[i * 512 + threadIdx.x] = v[KEPT - 1 - i];
}
"""
_TEMPLATE = """\
template <int ROWS>
__global__ void __launch_bounds__(64)
stage(const float* x, float* y) {
~~~~~
  // [row][lane]: the rows of one block, no pad
  __shared__ float tile[ROWS][64];
#pragma unroll 1
  for (int row = 0; row < ROWS; ++row) tile[row][threadIdx.x] = x[row * 64 + threadIdx.x];
  __syncthreads();
#pragma unroll 1
  for (int row = 0; row < ROWS; ++row) y[row * 64 + threadIdx.x] = tile[row][63 - threadIdx.x];
}
template __global__ void stage<4>(const float*, float*);
template __global__ void stage<176>(const float*, float*);
"""
_LAUNCHED = """\
extern "C" __global__ void pooled(const float* x, float* y) {
                           ~~~~~~
  extern __shared__ float pool[];
  pool[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  y[threadIdx.x] = pool[63 - threadIdx.x];
}
void run(const float* x, float* y, cudaStream_t stream) {
  constexpr int kBytes = 40 * 1024;
  pooled<<<8, dim3(32, 2), kBytes, stream>>>(x, y);
}
"""
_SCALE = """\
extern "C" __global__ void __launch_bounds__(256) scale(float* y) { y[threadIdx.x] *= 0.5f; }
"""
_NO_BOUNDS = """\
extern "C" __global__ void scale(float* y) { y[threadIdx.x] *= 0.5f; }
"""


def _clean(marked: str) -> str:
    return _SPDX + "".join(line for line in marked.splitlines(True) if line.strip("~ \n"))


def _launched(name: str, more: str) -> str:
    return f"{_GB10}[launches.{name}]\n{more}\n"


class LowOccupancyOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """`min_occupancy`: percent of an SM's warps; `per_kernel`: the same by name pattern."""

    min_occupancy: Annotated[float, msgspec.Meta(ge=0, le=100)] = 12.5
    per_kernel: dict[str, Annotated[float, msgspec.Meta(ge=0, le=100)]] = {}


class LowOccupancy(CompileRule):
    """An SM can hold only few warps of a kernel.

    What it does
        Works out how many blocks of a kernel one SM of the arch holds at a time,
        from its registers, its static and dynamic shared memory, its barriers and
        its block size, and reports less than 12.5 percent of the warps that the
        SM could hold. The limiter is named, and what one step less of it would
        give. The block size is the largest that a launch with a constant
        configuration has, else that of `__launch_bounds__`; a kernel of which
        nothing tells it is left alone. Where no block can run at all, for want of
        shared memory or because of launch bounds, that is CU505's or CU503's
        business.

    Why it matters
        Warps that wait for memory are hidden by other warps. With few of them an
        SM stands still at each load, unless the kernel has enough independent
        work in each warp. Often one register or one KB of shared memory is the
        edge of a step.

    Example
            // 128 threads and 45 KB: two blocks, 8 of 48 warps on sm_121
            __shared__ float tile[90][128];

    How to fix
        Use less of the limiter, down to the step that the finding names; or take
        larger blocks. A kernel that is made to run so, with much work in each
        warp, has its own minimum in `per-kernel`.

    Options
        `min-occupancy` (default 12.5) is the percentage of warps below which a
        kernel is reported; `per-kernel` gives patterns of kernel names one of
        their own, and the first that fits counts. How kernels are launched where
        the sources do not say, `[launches]` tells:

            [rules.CU504]
            min-occupancy = 25
            per-kernel = { "*_gemm*" = 10 }

            [launches."*_gemm*"]
            threads = 256
            dynamic-shared = 98304

    Sources
        CUDA C++ Best Practices Guide, "Calculating Occupancy"; the arithmetic is
        that of `cuda_occupancy.h`.
    """

    code = "CU504"
    name = "low-occupancy"
    level = Level.NOTE
    messages = {
        "low": (
            "Kernel '{0}' fills '{2}' % of an SM on '{1}': '{3}' blocks of '{4}' threads,"
            " limited by '{5}'."
        ),
        "low-on-archs": (
            "Kernel '{0}' fills '{2}' % of an SM at worst, on '{6}': '{3}' blocks of '{4}'"
            " threads, limited by '{5}' (percent on '{1}': '{7}')."
        ),
        "none": (
            "No block of '{2}' threads of kernel '{0}' can run on '{1}': there is not enough of"
            " '{3}'."
        ),
    }
    options = LowOccupancyOptions

    INVALID = (
        Example(
            code=_TILES,
            settings=f"{_GB10}[rules.CU504]\nmin-occupancy = 25\n",
            message="Kernel 'stage' fills '16.7' % of an SM on 'sm_121': '2' blocks of '128'"
            " threads, limited by 'shared memory'.",
        ),
        Example(
            code=_POOL,
            settings=_launched("pooled", "dynamic-shared = 65536"),
            message="'1' blocks of '64' threads, limited by 'shared memory'",
        ),
        Example(
            code=_TURN,
            settings=f'{_GB10}[rules.CU504]\nper-kernel = {{ "tu*" = 60 }}\n',
            message="limited by 'registers'",
        ),
        Example(code=_TEMPLATE, settings=_GB10, message="Kernel 'stage<176>' fills '8.3' %"),
        Example(code=_LAUNCHED, settings=_GB10, message="'2' blocks of '64' threads"),
        Example(
            code=_TILES,
            settings='targets = ["sm_121", "sm_90"]\n[rules.CU504]\nmin-occupancy = 40\n',
            message="at worst, on 'sm_121': '2' blocks of '128' threads, limited by 'shared"
            " memory' (percent on 'sm_90, sm_121': 'sm_90: 31.2; sm_121: 16.7').",
        ),
    )
    VALID = (
        Example(code=_SPDX + _SCALE, settings=_GB10),
        Example(code=_clean(_TILES), settings=_GB10, also=("CU209",)),
        Example(code=_SPDX + _NO_BOUNDS, settings=_GB10, also=("CU108",)),
        Example(
            code=_SPDX + _NO_BOUNDS,
            settings=_launched("scale", "threads = 128"),
            also=("CU108",),
        ),
        Example(
            code=_clean(_POOL),
            settings=_launched("pooled", "dynamic-shared = 8192"),
        ),
        Example(
            code=_clean(_POOL),
            settings=_launched(
                "pooled",
                'dynamic-shared = 65536\n[rules.CU504]\nper-kernel = { "pool*" = 4, "*" = 50 }',
            ),
        ),
        Example(
            code=_SPDX + _SCALE,
            settings=f"{_GB10}[rules.CU504]\nmin-occupancy = 100\n",
        ),
    )

    def check(
        self, compiled: CompiledFile, context: Context, options: LowOccupancyOptions
    ) -> Iterator[Finding]:
        """Report each kernel under its minimum, at the worst that it comes to."""
        from cudalint.compile.ceiling import over_bounds
        from cudalint.compile.kernels import budget_of, objectionable
        from cudalint.compile.locate import Locator

        locator = Locator(compiled, context)
        launched = _Launched(compiled, context, locator)

        def is_low(function: FunctionResources) -> bool:
            found = launched.occupancy(function)
            least = budget_of(function, options.min_occupancy, options.per_kernel) or 0
            if not function.entry or found is None or found.fraction * 100 >= least:
                return False
            if found.blocks:
                return True
            return found.limiters != ("shared memory",) and not over_bounds(function)

        for group in objectionable(compiled, locator, is_low):
            yield self._finding(group, compiled, launched)

    def _finding(self, group: Group, compiled: CompiledFile, launched: _Launched) -> Finding:
        from cudalint.compile.kernels import by_arch, where

        worst = group.worst(launched.idle)
        shape, found = launched.shape(worst.function), launched.occupancy(worst.function)
        assert found is not None  # the rule objects to what it has worked out
        on = where((build.compilation for build in group.builds), compiled)
        limiters = " and ".join(found.limiters)
        about: tuple[object, ...] = (worst.function.name, on)
        message, numbers = "low", (_percent(found), found.blocks, shape.threads, limiters)
        arguments = (*about, *numbers)
        if not found.blocks:
            message, arguments = "none", (*about, shape.threads, limiters)
        elif len(group.archs) > 1:
            figures = by_arch(group, launched.idle, launched.percent)
            message, arguments = "low-on-archs", (*about, *numbers, worst.arch, figures)
        return self.report(
            message,
            group.place.span,
            *arguments,
            related=[Related(group.place.span, str(step)) for step in launched.steps(worst)],
            extents=group.place.extents,
            occupancy=round(found.fraction, 4),
            blocks=found.blocks,
            threads=shape.threads or 0,
            arch=worst.arch,
        )


class _Launched:
    """The functions of a compiled file, as they are launched."""

    def __init__(self, compiled: CompiledFile, context: Context, locator: Locator) -> None:
        self._path = compiled.path
        self._context = context
        self._locator = locator

    def shape(self, function: FunctionResources) -> LaunchShape:
        place = self._locator.function(function)
        return self._context.launches.shape(function, place, self._path)

    def occupancy(self, function: FunctionResources) -> Occupancy | None:
        from cudalint.resources.rows import occupancy_of

        return occupancy_of(function, self.shape(function))

    def idle(self, function: FunctionResources) -> int:
        """How little of an SM is filled, in millionths: what makes a build the worst."""
        found = self.occupancy(function)
        return 0 if found is None else round((1 - found.fraction) * 1_000_000)

    def percent(self, function: FunctionResources) -> str:
        found = self.occupancy(function)
        return "?" if found is None else _percent(found)

    def steps(self, build: Build) -> tuple[NextStep, ...]:
        """What the next step down of each limiter that has one would give."""
        from cudalint.resources.rows import usage_of
        from cudalint.resources.steps import next_steps

        return next_steps(build.arch, usage_of(build.function, self.shape(build.function)))


def _percent(found: Occupancy) -> str:
    return f"{found.fraction * 100:.1f}".removesuffix(".0")
