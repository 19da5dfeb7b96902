"""CU506 resource-regression."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import msgspec

from cudalint.context import Context
from cudalint.finding import Finding, Level, Related
from cudalint.rule import CompileRule, Example

if TYPE_CHECKING:
    from cudalint.compile.locate import FunctionPlace
    from cudalint.compile.model import CompiledFile
    from cudalint.resources.recorded import Regression
    from cudalint.settings.model import Settings

_SET = 'resource-baseline = "resources.toml"\n'
_GB10 = f'{_SET}targets = ["sm_121"]\n'
_TURN = """\
// SPDX-License-Identifier: MIT OR Apache-2.0
// y[i][t] = x[KEPT - 1 - i][t]: every value of a column is alive at the barrier.
#define KEPT 56
extern "C" __global__ void __launch_bounds__(512, 3) turn(const float* x, float* y) {
                                                     ~~~~
  float v[KEPT];
#pragma unroll
  for (int i = 0; i < KEPT; ++i) v[i] = x[i * 512 + threadIdx.x];
  __syncthreads();
#pragma unroll
  for (int i = 0; i < KEPT; ++i) y[i * 512 + threadIdx.x] = v[KEPT - 1 - i];
}
"""
_CLEAN = "".join(line for line in _TURN.splitlines(True) if line.strip("~ \n"))
_WIDE = _TURN.replace("KEPT 56", "KEPT 96").replace("(512, 3)", "(64, 1)")
_WIDE = _WIDE.replace(" " * 53 + "~~~~", " " * 52 + "~~~~")
_WIDE_CLEAN = "".join(line for line in _WIDE.splitlines(True) if line.strip("~ \n"))
_TEMPLATE = """\
namespace column {
template <typename T, int N>
__global__ void __launch_bounds__(512, 3)
turn(const T* x, T* y) {
~~~~
  T v[N];
#pragma unroll
  for (int i = 0; i < N; ++i) v[i] = x[i * 512 + threadIdx.x];
  __syncthreads();
#pragma unroll
  for (int i = 0; i < N; ++i) y[i * 512 + threadIdx.x] = v[N - 1 - i];
}
template __global__ void turn<float, 8>(const float*, float*);
template __global__ void turn<float, 56>(const float*, float*);
}  // namespace column
"""
_WINDOW = """\
extern "C" __global__ void __launch_bounds__(32) window(const float* x, float* y, int n) {
                                                 ~~~~~~
  float t[64];
  for (int i = 0; i < n; ++i) t[i] = x[i];
  for (int i = 0; i < n; ++i) y[i] = t[n - 1 - i];
}
"""


def _recorded(*lines: str) -> dict[str, str]:
    """A baseline with these lines, by an nvcc that is older than any."""
    texts = "".join(f'  {{ path = "example.cu", nvcc = "12.0.0", {line} }},\n' for line in lines)
    return {"resources.toml": f"version = 1\nkernels = [\n{texts}]\n"}


def _of_turn(more: str, arch: str = "sm_121") -> str:
    return f'kernel = "turn", arch = "{arch}", {more}'


_LONG = "_ZN6column4turnIfLi56EEEvPKT_PS1_"
_INSTANCE = f'kernel = "column::turn<float, 56>", symbol = "{_LONG}", arch = "sm_121", '


class ResourceRegressionOptions(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"
):
    """`tolerance`: percent by which figures may be larger where another nvcc was recorded."""

    tolerance: Annotated[float, msgspec.Meta(ge=0)] = 10.0


class ResourceRegression(CompileRule):
    """A kernel takes more than was recorded: a spill, local memory, fewer warps on an SM.

    What it does
        Compares each kernel, on each arch, with the baseline file that the
        setting `resource-baseline` names, and reports more bytes of spill stores
        or loads (a new spill above all), more bytes of local memory, and more
        registers where fewer warps fit on an SM because of it. Registers that cost
        no warp are no regression. Without a baseline the rule does nothing.
        Kernels that are new or gone, and a baseline of another nvcc, are said as
        notes of the run.

    Why it matters
        A spill that comes with a change of code, flags or compiler breaks no test:
        the kernel is slower, and that is noticed months later, if ever. A recorded
        baseline makes it a finding in the change that brings it.

    Example
            # resources.toml
            { path = "turn.cu", kernel = "turn", arch = "sm_121", nvcc = "13.0.88", registers = 40 }

            // turn.cu, later
            float v[56];                // 56 live values: 96 bytes of spill stores

    How to fix
        Take the change back, or make it cheaper; CU501 shows the lines that spill.
        If it is worth the price, record it: `cudalint resources --write-baseline
        resources.toml`, and the new line is part of the change that others review.

    Options
        `tolerance` (default 10) is the percentage by which figures may be larger
        when the baseline has them of another version of nvcc only, for allocation
        differs a little from one to the next:

            resource-baseline = "resources.toml"

            [rules.CU506]
            tolerance = 5

    Sources
        ptxas `-v`; the arithmetic of occupancy is that of `cuda_occupancy.h`.
    """

    code = "CU506"
    name = "resource-regression"
    level = Level.ERROR
    messages = {
        "worse": "Kernel '{0}' on '{1}' is worse than its baseline: '{2}'.",
        "worse-by-other-nvcc": (
            "Kernel '{0}' on '{1}', compiled by nvcc '{3}', is worse than its baseline"
            " of nvcc '{4}': '{2}'."
        ),
    }
    options = ResourceRegressionOptions

    INVALID = (
        Example(
            code=_TURN,
            files=_recorded(_of_turn("registers = 40")),
            settings=_GB10,
            message="is worse than its baseline of nvcc '12.0.0': 'spill stores 0 to ",
        ),
        Example(
            code=_TURN,
            files=_recorded(_of_turn("registers = 40, spill-stores = 8, spill-loads = 8")),
            settings=f"{_GB10}[rules.CU506]\ntolerance = 20\n",
            message="'spill stores 8 to ",
        ),
        Example(
            code=_WINDOW,
            files=_recorded('kernel = "window", arch = "sm_121", registers = 24'),
            settings=_GB10,
            message="'stack 0 to 256 bytes'.",
        ),
        Example(
            code=_WIDE,
            files=_recorded(_of_turn("registers = 40, threads = 64, warps = 48")),
            settings=_GB10,
            message="'warps 48 to ",
        ),
        Example(
            code=_TEMPLATE,
            files=_recorded(f"{_INSTANCE}registers = 40"),
            settings=_GB10,
            message="Kernel 'column::turn<float, 56>' on 'sm_121'",
        ),
        Example(
            code='#include "turn.cuh"\n',
            files={"turn.cuh": _TURN, **_recorded(_of_turn("registers = 40"))},
            settings=_GB10,
            message="Kernel 'turn' on 'sm_121'",
        ),
        Example(
            code=_TURN,
            files=_recorded(
                _of_turn("registers = 40", "sm_89"), _of_turn("registers = 40, spill-stores = 999")
            ),
            settings=f'{_SET}targets = ["sm_121", "sm_89"]\n',
            message="Kernel 'turn' on 'sm_89'",
        ),
    )
    VALID = (
        Example(
            code=_CLEAN,
            files=_recorded(
                _of_turn("registers = 40, spill-stores = 200, spill-loads = 200, stack = 200")
            ),
            settings=_GB10,
            also=("CU501",),
        ),
        Example(code=_CLEAN, settings='targets = ["sm_121"]\n', also=("CU501",)),
        Example(
            code=_CLEAN,
            files=_recorded(_of_turn("registers = 24", "sm_90")),
            settings=_GB10,
            also=("CU501",),
        ),
        Example(
            code=_CLEAN,
            files=_recorded(
                _of_turn("registers = 40, spill-stores = 40, spill-loads = 40, stack = 40")
            ),
            settings=f"{_GB10}[rules.CU506]\ntolerance = 400\n",
            also=("CU501",),
        ),
        Example(
            code=_CLEAN.replace("KEPT 56", "KEPT 16"),
            files=_recorded(
                _of_turn("registers = 8, threads = 512, warps = 48"),
                'kernel = "gone", arch = "sm_121", registers = 8',
            ),
            settings=_GB10,
        ),
        Example(code=_WIDE_CLEAN, files=_recorded(_of_turn("registers = 40")), settings=_GB10),
        Example(
            code=_CLEAN.replace("KEPT 56", "KEPT 16"),
            files=_recorded('kernel = "other", arch = "sm_121", registers = 8'),
            settings=_GB10,
        ),
    )

    @classmethod
    def is_idle(cls, settings: Settings) -> bool:
        """Without a baseline there is nothing to hold a kernel to."""
        return settings.resource_baseline is None

    def check(
        self, compiled: CompiledFile, context: Context, options: ResourceRegressionOptions
    ) -> Iterator[Finding]:
        """Report each kernel that is worse, at the worst of its instances and archs."""
        if context.resource_baseline is None:
            return
        from cudalint.compile.locate import Locator
        from cudalint.resources.compare import weight
        from cudalint.resources.recorded import regression
        from cudalint.resources.rows import resource_table

        locator = Locator(compiled, context)
        places = {
            function.symbol: locator.function(function)
            for compilation in compiled.compilations
            for function in compilation.functions
            if function.entry
        }
        groups: dict[FunctionPlace, list[Regression]] = {}
        for row in resource_table([compiled], context).rows:
            worse = regression(row, context.resource_baseline, options.tolerance)
            if worse is not None:
                groups.setdefault(places[row.symbol], []).append(worse)
        for place, found in sorted(groups.items(), key=lambda item: (item[0].span, item[0].name)):
            found.sort(key=lambda one: weight(one.changes), reverse=True)
            yield self._finding(place, found)

    def _finding(self, place: FunctionPlace, found: list[Regression]) -> Finding:
        worst, *others = found
        row, line = worst.row, worst.line
        arguments: tuple[str, ...] = (row.kernel, row.arch, _said(worst))
        message = "worse"
        if row.nvcc != line.nvcc:
            message, arguments = "worse-by-other-nvcc", (*arguments, row.nvcc, line.nvcc)
        return self.report(
            message,
            place.span,
            *arguments,
            related=[
                Related(place.span, f"'{one.row.kernel}' on {one.row.arch}: {_said(one)}")
                for one in others
            ],
            extents=place.extents,
            arch=row.arch,
            instances=len(found),
            registers=row.registers,
            stores=row.spill_stores,
            loads=row.spill_loads,
            stack=row.stack,
        )


def _said(found: Regression) -> str:
    return ", ".join(map(str, found.changes))
