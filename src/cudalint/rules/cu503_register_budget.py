"""CU503 register-budget."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import msgspec

from cudalint.context import Context
from cudalint.finding import Finding, Level
from cudalint.rule import CompileRule, Example

if TYPE_CHECKING:
    from cudalint.compile.kernels import Build, Group
    from cudalint.compile.model import CompiledFile, FunctionResources

_GB10 = 'targets = ["sm_121"]\n'
_TURN = """\
// SPDX-License-Identifier: MIT OR Apache-2.0
// y[i][t] = x[KEPT - 1 - i][t]: every value of a column is alive at the barrier.
#define KEPT 40
extern "C" __global__ void __launch_bounds__(512, 1) turn(const float* x, float* y) {
  float v[KEPT];
#pragma unroll
  for (int i = 0; i < KEPT; ++i) v[i] = x[i * 512 + threadIdx.x];
  __syncthreads();
#pragma unroll
  for (int i = 0; i < KEPT; ++i) y[i * 512 + threadIdx.x] = v[KEPT - 1 - i];
}
"""
_HEAD = 'extern "C" __global__ void __launch_bounds__(512, 1) turn(const float* x, float* y) {\n'
_MARKED = _TURN.replace(_HEAD, f"{_HEAD}{' ' * 53}~~~~\n")
_IMPOSSIBLE = _TURN.replace("(512, 1) turn", "(1024, 2)\nturn").replace(
    "float* y) {", "float* y) {\n~~~~"
)
_TEMPLATE = """\
template <int N>
__global__ void __launch_bounds__(512)
turn(const float* x, float* y) {
~~~~
  float v[N];
#pragma unroll
  for (int i = 0; i < N; ++i) v[i] = x[i * 512 + threadIdx.x];
  __syncthreads();
#pragma unroll
  for (int i = 0; i < N; ++i) y[i * 512 + threadIdx.x] = v[N - 1 - i];
}
template __global__ void turn<2>(const float*, float*);
template __global__ void turn<48>(const float*, float*);
"""


def _options(text: str) -> str:
    return f"{_GB10}[rules.CU503]\n{text}\n"


class RegisterBudgetOptions(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"
):
    """`budget`: registers that a thread may use; `per_kernel`: the same by name pattern."""

    budget: Annotated[int, msgspec.Meta(ge=0)] | None = None
    per_kernel: dict[str, Annotated[int, msgspec.Meta(ge=0)]] = {}


class RegisterBudget(CompileRule):
    """A kernel uses more registers per thread than it may.

    What it does
        Reports each kernel that uses more registers than a configured budget;
        or more than its `__launch_bounds__` leave on the arch, so that the
        number of blocks asked for does not fit on one SM; and any kernel at 255,
        the most that a thread can have. The instances of a template, on all
        archs, are one finding that names the worst, and tells of each arch.

    Why it matters
        Registers per thread decide how many warps an SM holds. At 255 the next
        value that has to stay alive is spilled. Where ptxas drops the minimum
        number of blocks as impossible, the kernel compiles, and runs with fewer
        blocks than its author has planned with.

    Example
            // 1024 x 2 threads leave 32 registers each; sm_121 holds 1536
            extern "C" __global__ void __launch_bounds__(1024, 2) k(...)

    How to fix
        Keep fewer values alive, or change the launch bounds to what the kernel
        needs. Raise the budget when the registers are worth it.

    Options
        `budget` is the number of registers per thread above which a kernel is
        reported (default: none). `per-kernel` gives patterns of kernel names a
        budget of their own; the first that fits counts:

            [rules.CU503]
            budget = 128
            per-kernel = { "*_prefill*" = 232 }

    Sources
        CUDA C++ Programming Guide, "Launch Bounds" and "Technical Specifications
        per Compute Capability"; register allocation units: `cuda_occupancy.h`.
    """

    code = "CU503"
    name = "register-budget"
    level = Level.WARNING
    messages = {
        "cliff": "Kernel '{0}' uses '{2}' registers on '{1}', the most that a thread can have.",
        "budget": "Kernel '{0}' uses '{2}' registers on '{1}', over the budget of '{3}'.",
        "bounds": (
            "Kernel '{0}' uses '{2}' registers on '{1}', where its launch bounds"
            " ('{4}' threads, '{5}' blocks) leave '{3}'."
        ),
    }
    options = RegisterBudgetOptions

    INVALID = (
        Example(
            code=_IMPOSSIBLE,
            settings=_GB10,
            message="where its launch bounds ('1024' threads, '2' blocks) leave '32'.",
        ),
        Example(
            code=_MARKED.replace("KEPT 40", "KEPT 260").replace("(512, 1)", "( 32, 1)"),
            settings=_GB10,
            message="uses '255' registers on 'sm_121', the most that a thread can have.",
        ),
        Example(
            code=_MARKED,
            settings=_options("budget = 32"),
            message="registers on 'sm_121', over the budget of '32'.",
        ),
        Example(
            code=_MARKED,
            settings=_options('budget = 255\nper-kernel = { "t?rn" = 24 }'),
            message="over the budget of '24'.",
        ),
        Example(
            code=_TEMPLATE, settings=_options("budget = 40"), message="Kernel 'turn<48>' uses '"
        ),
        Example(
            code=_MARKED,
            settings=_options("budget = 32").replace("sm_121", 'sm_121", "sm_89'),
            message="registers on 'sm_89, sm_121', over the budget of '32'.",
        ),
    )
    VALID = (
        Example(code=_TURN, settings=_GB10),
        Example(code=_TURN, settings=_options("budget = 128")),
        Example(code=_TURN, settings=_options('budget = 24\nper-kernel = { "turn" = 64 }')),
        Example(
            code=_TURN.replace("(512, 1)", "(512, 3)").replace("KEPT 40", "KEPT 16"),
            settings=_GB10,
        ),
        Example(code=_TURN.replace("(512, 1)", "(1024)"), settings=_GB10),
        Example(code=_TURN, path="turn.cuh", settings=_options("budget = 1")),
        Example(
            code="// SPDX-License-Identifier: MIT OR Apache-2.0\nint answer() { return 42; }\n",
            settings=_options("budget = 1"),
        ),
    )

    def check(
        self, compiled: CompiledFile, context: Context, options: RegisterBudgetOptions
    ) -> Iterator[Finding]:
        """Report each kernel over a limit; of several limits, the hardest."""
        from cudalint.compile.ceiling import at_cliff, over_bounds
        from cudalint.compile.kernels import budget_of, objectionable
        from cudalint.compile.locate import Locator

        locator = Locator(compiled, context)

        def over_budget(function: FunctionResources) -> bool:
            budget = budget_of(function, options.budget, options.per_kernel)
            return budget is not None and (function.registers or 0) > budget

        def over(function: FunctionResources) -> bool:
            return function.entry and (
                at_cliff(function) or over_budget(function) or over_bounds(function)
            )

        for group in objectionable(compiled, locator, over):
            worst = _worst(group)
            budget = budget_of(worst.function, options.budget, options.per_kernel)
            yield self._finding(group, worst, compiled, budget)

    def _finding(
        self, group: Group, worst: Build, compiled: CompiledFile, budget: int | None
    ) -> Finding:
        from cudalint.compile.ceiling import at_cliff, ceiling, over_bounds
        from cudalint.compile.kernels import where

        function = worst.function
        on = where((build.compilation for build in group.builds), compiled)
        arguments: tuple[object, ...] = (function.name, on, _figures(group, function))
        if at_cliff(function):
            message = "cliff"
        elif over_bounds(function):
            message = "bounds"
            threads, blocks = function.max_threads, function.min_blocks or 1
            arguments = (*arguments, ceiling(function), threads, blocks)
        else:
            message, arguments = "budget", (*arguments, budget)
        return self.report(
            message,
            group.place.span,
            *arguments,
            extents=group.place.extents,
            registers=function.registers or 0,
            instances=group.instances,
            arch=worst.arch,
        )


def _figures(group: Group, worst: FunctionResources) -> str:
    """The registers of the worst, and of each arch where they are not the same."""
    from cudalint.compile.kernels import by_arch

    if len({build.function.registers for build in group.builds}) == 1 or len(group.archs) == 1:
        return str(worst.registers)
    return f"{worst.registers} ({by_arch(group, _registers, lambda f: str(f.registers))})"


def _worst(group: Group) -> Build:
    """The build with the most registers, of those over their bounds where that is the matter."""
    from cudalint.compile.ceiling import over_bounds, tells_of_bounds

    if not tells_of_bounds(group):
        return group.worst(_registers)
    return group.worst(lambda function: over_bounds(function) * _registers(function))


def _registers(function: FunctionResources) -> int:
    return function.registers or 0
