"""CU505 shared-memory-budget."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import msgspec

from cudalint.context import Context
from cudalint.finding import Finding, Level
from cudalint.rule import CompileRule, Example

if TYPE_CHECKING:
    from cudalint.compile.kernels import Group
    from cudalint.compile.locate import FunctionPlace, Locator
    from cudalint.compile.model import CompiledFile, FunctionResources

Bytes = Annotated[int, msgspec.Meta(ge=0)]

_GB10 = 'targets = ["sm_121"]\n'
_SPDX = "// SPDX-License-Identifier: MIT OR Apache-2.0\n"
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
_RUN = """\
constexpr int kRows = 512;
void run(const float* x, float* y, cudaStream_t stream) {
  pooled<<<8, 64, kRows * 64 * sizeof(float), stream>>>(x, y);
}
"""
_RAISE = """\
void load() {
  cudaFuncSetAttribute(pooled, cudaFuncAttributeMaxDynamicSharedMemorySize, 120 * 1024);
}
"""
_TILE = """\
extern "C" __global__ void __launch_bounds__(64)
tiled(const float* x, float* y) {
~~~~~
  // [row][lane]: 80 rows of one block, no pad
  __shared__ float tile[80][64];
  for (int row = 0; row < 80; ++row) tile[row][threadIdx.x] = x[row * 64 + threadIdx.x];
  __syncthreads();
  for (int row = 0; row < 80; ++row) y[row * 64 + threadIdx.x] = tile[row][63 - threadIdx.x];
}
"""
_TEMPLATE = """\
template <int ROWS>
__global__ void __launch_bounds__(64)
tiled(const float* x, float* y) {
~~~~~
  // [row][lane]: the rows of one block, no pad
  __shared__ float tile[ROWS][64];
  for (int row = 0; row < ROWS; ++row) tile[row][threadIdx.x] = x[row * 64 + threadIdx.x];
  __syncthreads();
  for (int row = 0; row < ROWS; ++row) y[row * 64 + threadIdx.x] = tile[row][63 - threadIdx.x];
}
template __global__ void tiled<8>(const float*, float*);
template __global__ void tiled<80>(const float*, float*);
"""

_WIDE = """\
extern "C" __global__ void __launch_bounds__(64)
wide(const float* x, float* y) {
~~~~
  // [row][column]: the rows of one block, no pad
  __shared__ float tile[ROWS][kWide];
  for (int row = 0; row < ROWS; ++row) tile[row][threadIdx.x] = x[row * 64 + threadIdx.x];
  __syncthreads();
  for (int row = 0; row < ROWS; ++row) y[row * 64 + threadIdx.x] = tile[row][63 - threadIdx.x];
}
"""


def _clean(marked: str) -> str:
    return _SPDX + "".join(line for line in marked.splitlines(True) if line.strip("~ \n"))


def _dynamic(size: int, more: str = "", targets: str = _GB10) -> str:
    return f'{targets}[launches."pool*"]\ndynamic-shared = {size}\n{more}'


class SharedMemoryBudgetOptions(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"
):
    """Bytes of shared memory that a block may take.

    `budget` of any kernel, `per_kernel` by name pattern, `per_arch` on an arch.
    """

    budget: Bytes | None = None
    per_kernel: dict[str, Bytes] = {}
    per_arch: dict[str, Bytes] = {}


class SharedMemoryBudget(CompileRule):
    """A block takes more shared memory than there is, or than it may.

    What it does
        Adds a kernel's static shared memory, as ptxas counts it, to the dynamic
        shared memory that it is launched with, and reports more than a block can
        have on the arch, or more than a configured budget. The dynamic part is
        the largest constant that a launch or
        `cudaFuncAttributeMaxDynamicSharedMemorySize` gives, or what the settings
        say; where nothing tells it, the static part alone is judged. Static shared
        memory for which ptxas makes no code (48 KB) is reported from what it says.

    Why it matters
        A launch that asks for more than the arch has fails, and only on that
        arch: 160 KB run on sm_90 and not on sm_121. A budget keeps kernels apart
        that have to run side by side on one SM.

    Example
            // sm_121 has 99 KB for a block
            stage<<<grid, 128, 128 * 1024, stream>>>(x, y);

    How to fix
        Take smaller tiles or fewer stages on that arch, or give the target a leaf
        of its own.

    Options
        `budget` (default: none) is the number of bytes above which a kernel is
        reported. `per-kernel` gives patterns of kernel names a budget of their
        own, and the first that fits counts; `per-arch` gives archs one, and of two
        the smaller counts. Dynamic shared memory that the sources do not tell is
        set in `[launches]`:

            [rules.CU505]
            budget = 49152
            per-kernel = { "*_gemm*" = 98304 }
            per-arch = { sm_121 = 65536 }

            [launches."*_gemm*"]
            dynamic-shared = 98304

    Sources
        CUDA C++ Programming Guide, "Technical Specifications per Compute
        Capability" (maximum amount of shared memory per thread block).
    """

    code = "CU505"
    name = "shared-memory-budget"
    level = Level.ERROR
    messages = {
        "arch": (
            "A block of kernel '{0}' takes '{2}' bytes of shared memory on '{1}'"
            " ('{3}' static, '{4}' dynamic), and '{5}' has '{6}' for one."
        ),
        "budget": (
            "A block of kernel '{0}' takes '{2}' bytes of shared memory on '{1}'"
            " ('{3}' static, '{4}' dynamic), over the budget of '{6}' on '{5}'."
        ),
        "static": (
            "A block of kernel '{0}' takes '{2}' bytes of static shared memory on '{1}',"
            " and ptxas allows '{3}'."
        ),
    }
    options = SharedMemoryBudgetOptions

    INVALID = (
        Example(
            code=_POOL + _RUN,
            settings=_GB10,
            message="A block of kernel 'pooled' takes '131072' bytes of shared memory on 'sm_121'"
            " ('0' static, '131072' dynamic), and 'sm_121' has '101376' for one.",
        ),
        Example(code=_POOL + _RAISE, settings=_GB10, message="'122880' dynamic"),
        Example(
            code=_POOL,
            settings=_dynamic(101_377, targets='targets = ["sm_90", "sm_121"]\n'),
            message="bytes of shared memory on 'sm_121' (",
        ),
        Example(
            code=_TILE,
            settings=f"{_GB10}[rules.CU505]\nbudget = 20000\n",
            message="takes '20480' bytes of shared memory on 'sm_121' ('20480' static, '0' dynamic)"
            ", over the budget of '20000' on 'sm_121'.",
        ),
        Example(
            code=_TILE,
            settings=f'{_GB10}[rules.CU505]\nbudget = 90000\nper-kernel = {{ "t*" = 1024 }}\n',
        ),
        Example(
            code=_POOL,
            settings=_dynamic(
                65_536,
                "[rules.CU505]\nper-arch = { sm_121 = 49152 }\n",
                'targets = ["sm_90", "sm_121"]\n',
            ),
            message="over the budget of '49152' on 'sm_121'",
        ),
        Example(
            code=_TEMPLATE,
            settings=f"{_GB10}[rules.CU505]\nbudget = 20000\n",
            message="A block of kernel 'tiled<80>' takes '20480' bytes",
        ),
        Example(
            code="#define ROWS 80\nconstexpr int kWide = 400;\n" + _WIDE,
            settings=_GB10,
            message="A block of kernel 'wide' takes '128000' bytes of static shared memory on"
            " 'sm_121', and ptxas allows '49152'.",
        ),
    )
    VALID = (
        Example(code=_clean(_TILE), settings=_GB10, also=("CU209",)),
        Example(
            code=_clean(_TILE),
            settings=f"{_GB10}[rules.CU505]\nbudget = 20480\n",
            also=("CU209",),
        ),
        Example(code=_clean(_POOL), settings=_GB10),
        Example(code=_clean(_POOL), settings=_dynamic(101_376), also=("CU504",)),
        Example(
            code=_clean(_POOL),
            settings=_dynamic(163_840, targets='targets = ["sm_90"]\n'),
            also=("CU504",),
        ),
        Example(
            code=_clean(_POOL),
            settings=_dynamic(65_536, "[rules.CU505]\nper-arch = { sm_90 = 1024 }\n"),
            also=("CU504",),
        ),
        Example(
            code=_clean(_TILE),
            settings=f'{_GB10}[rules.CU505]\nbudget = 1\nper-kernel = {{ "tiled" = 32768 }}\n',
            also=("CU209",),
        ),
    )

    def check(
        self, compiled: CompiledFile, context: Context, options: SharedMemoryBudgetOptions
    ) -> Iterator[Finding]:
        """Report each kernel over what its arch has, its budget or ptxas allows."""
        from cudalint.compile.kernels import objectionable
        from cudalint.compile.locate import Locator

        locator = Locator(compiled, context)
        yield from self._refused(compiled, locator)

        def dynamic(function: FunctionResources) -> int:
            place = locator.function(function)
            return context.launches.shape(function, place, compiled.path).dynamic_shared

        def excess(function: FunctionResources) -> int:
            """How many bytes more it takes than it may; negative where there is room."""
            allowed = _allowed(function, options)
            taken = (function.shared or 0) + dynamic(function)
            return taken - allowed if allowed is not None else -1

        def is_over(function: FunctionResources) -> bool:
            return function.entry and excess(function) > 0

        for group in objectionable(compiled, locator, is_over):
            worst = group.worst(excess).function
            yield self._finding(group, compiled, dynamic(worst), _allowed(worst, options), worst)

    def _refused(self, compiled: CompiledFile, locator: Locator) -> Iterator[Finding]:
        """The kernels that ptxas refuses: it makes no code for more static shared memory."""
        from cudalint.compile.archs import arch_order
        from cudalint.compile.demangle import demangle
        from cudalint.compile.kernels import where
        from cudalint.compile.sharedexcess import SharedExcess, shared_excess

        found: dict[FunctionPlace, list[SharedExcess]] = {}
        for compilation in compiled.compilations:
            for excess in shared_excess(compilation):
                found.setdefault(locator.symbol(excess.symbol), []).append(excess)

        def rank(one: SharedExcess) -> tuple[int, tuple[int, str], str]:
            return -one.taken, arch_order(one.compilation.arch), one.symbol

        for place, refused in found.items():
            worst = min(refused, key=rank)
            yield self.report(
                "static",
                place.span,
                demangle(worst.symbol).text,
                where((one.compilation for one in refused), compiled),
                worst.taken,
                worst.allowed,
                extents=place.extents,
                static=worst.taken,
                dynamic=0,
                arch=worst.compilation.arch,
            )

    def _finding(
        self,
        group: Group,
        compiled: CompiledFile,
        dynamic: int,
        allowed: int | None,
        worst: FunctionResources,
    ) -> Finding:
        from cudalint.compile.archs import arch_limits
        from cudalint.compile.kernels import where

        limits = arch_limits(worst.arch)
        static = worst.shared or 0
        is_too_much = limits is not None and static + dynamic > limits.shared_per_block
        on = where((build.compilation for build in group.builds), compiled)
        return self.report(
            "arch" if is_too_much else "budget",
            group.place.span,
            worst.name,
            on,
            static + dynamic,
            static,
            dynamic,
            worst.arch,
            limits.shared_per_block if limits is not None and is_too_much else allowed,
            extents=group.place.extents,
            static=static,
            dynamic=dynamic,
            arch=worst.arch,
        )


def _allowed(function: FunctionResources, options: SharedMemoryBudgetOptions) -> int | None:
    """The bytes that a block may take: of the arch's and the budgets' the fewest."""
    from cudalint.compile.archs import arch_limits
    from cudalint.compile.kernels import budget_of

    limits = arch_limits(function.arch)
    known = (
        limits.shared_per_block if limits is not None else None,
        budget_of(function, options.budget, options.per_kernel),
        options.per_arch.get(function.arch),
    )
    return min((size for size in known if size is not None), default=None)
