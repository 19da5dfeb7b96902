"""CU501 register-spill."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Literal

import msgspec

from cudalint.context import Context
from cudalint.finding import Finding, Level, Related, Span
from cudalint.rule import CompileRule, Example

if TYPE_CHECKING:
    from cudalint.compile.kernels import Group
    from cudalint.compile.locate import Locator
    from cudalint.compile.model import CompiledFile, FunctionResources

_LINES_SHOWN = 10

_GB10 = 'targets = ["sm_121"]\n'
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
_MARK = "                                                     ~~~~\n"
_TURN_CLEAN = _TURN.replace(_MARK, "")
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
template __global__ void turn<int, 48>(const int*, int*);
template __global__ void turn<float, 56>(const float*, float*);
}  // namespace column
"""
_MACRO = """\
#define TURN(NAME, N)                                                                  \\
  extern "C" __global__ void __launch_bounds__(512, 3) NAME(const float* x, float* y) { \\
    float v[N];                                                                        \\
    _Pragma("unroll") for (int i = 0; i < N; ++i) v[i] = x[i * 512 + threadIdx.x];     \\
    __syncthreads();                                                                   \\
    _Pragma("unroll") for (int i = 0; i < N; ++i) y[i * 512 + threadIdx.x] = v[N - 1 - i]; \\
  }
TURN(turn_short, 8)
TURN(turn_long, 56)
~~~~~~~~~~~~~~~~~~~
"""


_LAST = "  for (int i = 0; i < KEPT; ++i) y[i * 512 + threadIdx.x] = v[KEPT - 1 - i];\n"
_AT_LINE = _TURN_CLEAN.replace(_LAST, f"{_LAST}  {'~' * (len(_LAST) - 3)}\n")


class RegisterSpillOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """`budget`: bytes that a kernel may spill; `per_kernel`: the same by name pattern.

    `location`: what is marked, the kernel's name or the line that spills most.
    """

    budget: Annotated[int, msgspec.Meta(ge=0)] = 0
    per_kernel: dict[str, Annotated[int, msgspec.Meta(ge=0)]] = {}
    location: Literal["kernel", "worst-line"] = "kernel"


class RegisterSpill(CompileRule):
    """A kernel keeps values in local memory because its registers do not hold them.

    What it does
        Reports each kernel of which ptxas says that it stores or loads spilled
        registers, beyond a budget of 0 bytes. The instances of a template, on
        all archs, are one finding that names the worst, and the figures of each
        arch. The source lines whose instructions spill, those of inlined
        functions and headers among them, are marked too where nvdisasm is found;
        what it can't place of the bytes that ptxas counts is said. A device
        function that is not inlined is a note of its own: what ptxas counts
        there includes the registers that a call has to save.

    Why it matters
        Local memory is in the caches at best and in DRAM at worst. A spill in
        the inner loop of a kernel that waits for memory anyway takes bandwidth
        from the data, and no test shows it: the results stay right.

    Example
            extern "C" __global__ void __launch_bounds__(1024, 1)
            k(const float* x, float* y) {
              float v[96];                  // 96 live values, 64 registers

    How to fix
        Keep fewer values alive at once: smaller tiles, less unrolling, or loads
        nearer to their use. Or give each thread more registers: fewer threads
        or blocks in `__launch_bounds__`.

    Options
        `budget` (default 0) is the number of bytes, of stores and of loads
        each, up to which a kernel is not reported. `per-kernel` gives patterns
        of kernel names a budget of their own; the first that fits counts:

            [rules.CU501]
            budget = 0
            per-kernel = { "wht_*" = 64 }

        `location` (default `"kernel"`) is where the finding is: `"worst-line"` puts
        it on the line that spills most, where code review shows it.

    Sources
        CUDA C++ Best Practices Guide, "Local Memory" and "Register Pressure";
        ptxas `-v`: "bytes spill stores", "bytes spill loads".
    """

    code = "CU501"
    name = "register-spill"
    level = Level.ERROR
    messages = {
        "spill": (
            "Kernel '{0}' spills registers on '{1}': '{2}' bytes of stores, '{3}' bytes of loads."
        ),
        "spill-on-archs": (
            "Kernel '{0}' spills registers on '{1}':"
            " at worst '{2}' bytes of stores, '{3}' bytes of loads, on '{4}'"
            " (stores and loads: '{5}')."
        ),
        "spill-of-instances": (
            "Kernel '{0}' spills registers on '{1}' in '{6}' instances:"
            " at worst '{2}' bytes of stores, '{3}' bytes of loads, in '{5}' on '{4}'."
        ),
        "spill-of-instances-on-archs": (
            "Kernel '{0}' spills registers on '{1}' in '{6}' instances:"
            " at worst '{2}' bytes of stores, '{3}' bytes of loads, in '{5}' on '{4}'"
            " (stores and loads: '{7}')."
        ),
        "device-function": (
            "Device function '{0}' is not inlined, and saves or spills registers on '{1}':"
            " '{2}' bytes of stores, '{3}' bytes of loads."
        ),
    }
    options = RegisterSpillOptions

    INVALID = (
        Example(
            code=_TURN,
            settings=_GB10,
            message="Kernel 'turn' spills registers on 'sm_121': '",
        ),
        Example(code=_TEMPLATE, settings=_GB10, message="in '2 of 3' instances: at worst '"),
        Example(
            code=_TURN,
            settings='targets = ["sm_121", "sm_89"]\n',
            message="Kernel 'turn' spills registers on 'sm_89, sm_121': at worst '",
        ),
        Example(code=_MACRO, settings=_GB10, message="Kernel 'turn_long' spills"),
        Example(
            code='#include "turn.cuh"\n',
            files={"turn.cuh": _TURN},
            settings=_GB10,
            message="Kernel 'turn' spills",
        ),
        Example(
            code=_TURN,
            settings=f'{_GB10}[rules.CU501]\nbudget = 8\nper-kernel = {{ "tu" = 999 }}\n',
        ),
        Example(
            code=_AT_LINE,
            settings=f'{_GB10}[rules.CU501]\nlocation = "worst-line"\n',
            message="Kernel 'turn' spills registers on 'sm_121': '",
        ),
        Example(
            code=_TURN.replace("turn(", "TURN_NAME(")
            .replace("~~~~", "~~~~~~~~~")
            .replace("#define", "#define TURN_NAME turn_f32\n#define"),
            settings=_GB10,
            message="Kernel 'turn_f32' spills",
        ),
    )
    VALID = (
        Example(code=_TURN_CLEAN.replace("KEPT 56", "KEPT 16"), settings=_GB10),
        Example(code=_TURN_CLEAN, settings=f"{_GB10}[rules.CU501]\nbudget = 512\n"),
        Example(
            code=_TURN_CLEAN,
            settings=f'{_GB10}[rules.CU501]\nper-kernel = {{ "tu*" = 512, "*" = 0 }}\n',
        ),
        Example(code=_TURN_CLEAN.replace("(512, 3)", "(512, 1)"), settings=_GB10),
        Example(
            code=f"{_TURN_CLEAN.replace('KEPT 56', 'KEPT 4')}#if 0\n{_MACRO}#endif\n".replace(
                f"{'~' * 19}\n", ""
            ),
            settings=_GB10,
        ),
        Example(code=_TURN_CLEAN, path="turn.cuh", settings=_GB10),
        Example(
            code="// SPDX-License-Identifier: MIT OR Apache-2.0\nint answer() { return 42; }\n",
            settings=_GB10,
        ),
    )

    def check(
        self, compiled: CompiledFile, context: Context, options: RegisterSpillOptions
    ) -> Iterator[Finding]:
        """Report each kernel, and each function that was not inlined, that spills."""
        from cudalint.compile.kernels import budget_of, objectionable
        from cudalint.compile.locate import Locator

        locator = Locator(compiled, context)

        def over(function: FunctionResources) -> bool:
            budget = budget_of(function, options.budget, options.per_kernel) or 0
            return max(function.spill_stores, function.spill_loads) > budget

        for group in objectionable(compiled, locator, over):
            yield self._finding(group, compiled, locator, options)

    def _finding(
        self,
        group: Group,
        compiled: CompiledFile,
        locator: Locator,
        options: RegisterSpillOptions,
    ) -> Finding:
        function = group.worst(_spilled).function
        message, arguments = _message(group, compiled)
        kernel, lines = group.place.span, list(_lines(function, locator))
        related = [*lines, *_unplaced(function, kernel)]
        span, extents = kernel, group.place.extents
        shown = next((line.span for line in lines if locator.is_shown(line.span)), None)
        if options.location == "worst-line" and shown is not None:
            span, extents = shown, (kernel, *extents)
            related = [Related(kernel, "the kernel"), *related]
        return self.report(
            message,
            span,
            *arguments,
            level=None if group.entry else Level.NOTE,
            related=related,
            extents=extents,
            stores=function.spill_stores,
            loads=function.spill_loads,
            instances=group.instances,
            arch=group.worst(_spilled).arch,
        )


def _message(group: Group, compiled: CompiledFile) -> tuple[str, tuple[object, ...]]:
    """Which message it is, and what fills it."""
    from cudalint.compile.kernels import by_arch, where

    worst = group.worst(_spilled)
    function = worst.function
    on = where((build.compilation for build in group.builds), compiled)
    numbers = (function.spill_stores, function.spill_loads)
    arguments: tuple[object, ...] = (group.place.name, on, *numbers)
    if not group.entry:
        return "device-function", arguments
    figures = by_arch(group, _spilled, lambda f: f"{f.spill_stores} and {f.spill_loads}")
    is_on_several = len(group.archs) > 1
    if function.name != group.place.name:
        share = f"{group.instances} of {group.all_instances}"
        arguments = (*arguments, worst.arch, function.name, share)
        if is_on_several:
            return "spill-of-instances-on-archs", (*arguments, figures)
        return "spill-of-instances", arguments
    if is_on_several:
        return "spill-on-archs", (*arguments, worst.arch, figures)
    return "spill", arguments


def _spilled(function: FunctionResources) -> int:
    return function.spill_stores + function.spill_loads


def _lines(function: FunctionResources, locator: Locator) -> Iterator[Related]:
    """The lines that spill most, as far as they are in files of the run."""
    for line in function.spill_lines[:_LINES_SHOWN]:
        span = locator.line(line.path, line.line)
        if span is not None:
            yield Related(span, f"spills {line.stores} bytes of stores, {line.loads} of loads")


def _unplaced(function: FunctionResources, kernel: Span) -> Iterator[Related]:
    """How far ptxas' figures and those of the lines are apart, where there are lines."""
    stores, loads = function.unplaced
    if function.spill_lines and (stores or loads):
        placed = (function.spill_stores - stores, function.spill_loads - loads)
        yield Related(
            kernel,
            f"ptxas counts {function.spill_stores} bytes of stores, {function.spill_loads} of"
            f" loads; the lines account for {placed[0]} and {placed[1]}",
        )
