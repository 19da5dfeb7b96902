"""CU508 compile-error."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import msgspec

from cudalint.context import Context
from cudalint.finding import Finding, Level, Span
from cudalint.rule import CompileRule, Example, NoOptions

if TYPE_CHECKING:
    from cudalint.compile.locate import Locator
    from cudalint.compile.model import Compilation, CompiledFile, Diagnostic

_GB10 = 'targets = ["sm_121"]\n'
_SPDX = "// SPDX-License-Identifier: MIT OR Apache-2.0\n"
_UNDEFINED = """\
extern "C" __global__ void __launch_bounds__(32) fill(float* y) {
  y[threadIdx.x] = level;
                   ~~~~~
  y[0] = another;
}
"""
_NO_HEADER = """\
#include "absent.cuh"
         ~
extern "C" __global__ void __launch_bounds__(32) fill(float* y) { y[threadIdx.x] = 1; }
"""
_IN_HEADER = """\
#pragma once
template <typename T>
__device__ T next_of(T value) {
  return value.next;
         ~~~~~
}
"""
_TOO_MUCH_SHARED = """\
extern "C" __global__ void __launch_bounds__(32) stage(float* y) {
                                                 ~~~~~
  // [row][lane], 400 rows of one warp
  __shared__ float tile[400][32];
  for (int row = 0; row < 400; ++row) tile[row][threadIdx.x] = y[row * 32 + threadIdx.x];
  __syncthreads();
  y[threadIdx.x] = tile[y[0] > 1 ? 3 : 5][31 - threadIdx.x];
}
"""
_FP4 = """\
extern "C" __global__ void __launch_bounds__(32) pack(const float2* x, unsigned short* y) {
  unsigned short r;
  asm("{.reg .b8 t; cvt.rn.satfinite.e2m1x2.f32 t, %1, %2; mov.b16 %0, {t, 0};}"
                    ~~~
      : "=h"(r) : "f"(x->x), "f"(x->y));
  *y = r;
}
"""
_NO_DEFINITION = """\
__device__ float elsewhere(float x);
extern "C" __global__ void __launch_bounds__(32) fill(float* y) { *y = elsewhere(*y); }
                                                                       ~~~~~~~~~
"""
_ONE_ARCH = """\
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
#error "needs Hopper"
 ~~~~~
#endif
extern "C" __global__ void __launch_bounds__(32) fill(float* y) { y[threadIdx.x] = 1; }
"""
_CLEAN = """\
extern "C" __global__ void __launch_bounds__(32) fill(float* y) { y[threadIdx.x] = 1; }
"""

_ABORTED = "aborted due to errors"
"""What ptxas says last of all, whatever went wrong."""


def _valid(before: str = "", **more: Any) -> Example:
    return Example(code=_SPDX + before + _CLEAN, settings=_GB10, **more)


class _Failure(msgspec.Struct, frozen=True):
    """A failure as it is reported: equal ones of several archs are one."""

    text: str
    span: Span
    extents: tuple[Span, ...] = ()
    place: str = ""
    message: str = "error"


class CompileError(CompileRule):
    """nvcc does not compile the file.

    What it does
        Reports the first error of each file that nvcc fails on, at its line and
        column; an error of ptxas about a kernel at the kernel's name; any other
        failure (nvcc took too long, was killed, was given an arch that it does
        not know) on line 1. The archs, and where it matters the targets, that
        fail are named. The other files go on. Static shared memory that ptxas
        refuses is left to shared-memory-budget (CU505) where that is selected.

    Why it matters
        A file that does not compile for one target is often found late: when
        the engine for that target is built, on another machine.

    Example
            y[0] = undefined_name;

    How to fix
        Mend the error. A file that is not meant for an arch belongs into
        another hardware's folder, or into `exclude`.

    Sources
        NVIDIA CUDA Compiler Driver manual.
    """

    code = "CU508"
    name = "compile-error"
    level = Level.ERROR
    messages = {
        "error": "nvcc fails for '{1}': '{0}'.",
        "error-elsewhere": "nvcc fails for '{1}' in '{2}': '{0}'.",
        "shared-memory": "nvcc fails for '{1}': '{0}'.",
    }
    left_to = {"shared-memory": ("CU505", "static")}

    INVALID = (
        Example(
            code=_UNDEFINED,
            settings=_GB10,
            message="nvcc fails for 'sm_121': 'identifier \"level\" is undefined'.",
        ),
        Example(code=_NO_HEADER, settings=_GB10, message="absent.cuh: No such file"),
        Example(
            code='#include "next.cuh"\n__device__ int two() { return next_of(1); }\n',
            files={"next.cuh": _IN_HEADER},
            settings=_GB10,
        ),
        Example(
            code=_TOO_MUCH_SHARED,
            settings=f'{_GB10}ignore = ["CU505"]\n',
            message="'stage' uses too much shared data",
        ),
        Example(code=_FP4, settings=_GB10, message="not supported on .target 'sm_121'"),
        Example(
            code=_NO_DEFINITION, settings=_GB10, message="Unresolved extern function 'elsewhere'"
        ),
        Example(
            code=_ONE_ARCH,
            settings='targets = ["sm_90", "sm_89"]\n',
            message="nvcc fails for 'sm_89': '#error \"needs Hopper\"'.",
        ),
        Example(
            code="~\n" + _CLEAN, settings='targets = ["sm_20"]\n', message="no nvcc knows sm_20"
        ),
    )
    VALID = (
        _valid(),
        _valid("#if 0\n#error never\n#endif\n"),
        _valid("// y = level;\n"),
        _valid('#include "one.cuh"\n', files={"one.cuh": f"{_SPDX}#pragma once\n"}),
        _valid("#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900\n#error old\n#endif\n"),
        Example(
            code=_SPDX + _IN_HEADER.replace("         ~~~~~\n", ""),
            path="next.cuh",
            settings=_GB10,
        ),
    )

    def check(
        self, compiled: CompiledFile, context: Context, options: NoOptions
    ) -> Iterator[Finding]:
        """Report each different failure once, whichever archs have it."""
        from cudalint.compile.kernels import where
        from cudalint.compile.locate import Locator

        locator = Locator(compiled, context)
        found: dict[_Failure, list[Compilation]] = {}
        for compilation in compiled.compilations:
            for failure in _failures(compilation, compiled.path, locator):
                found.setdefault(failure, []).append(compilation)
        for failure, compilations in found.items():
            on = where(compilations, compiled)
            arguments = (failure.text, on, failure.place) if failure.place else (failure.text, on)
            yield self.report(failure.message, failure.span, *arguments, extents=failure.extents)


def _failures(compilation: Compilation, path: str, locator: Locator) -> Iterator[_Failure]:
    """What a compilation failed by: its first error.

    Where that is too much shared memory, which CU505 tells if it is asked, the first
    error of another kind too.
    """
    from cudalint.compile.sharedexcess import is_shared_excess

    if not compilation.failure:
        return
    errors = [one for one in compilation.diagnostics if one.severity == "error"]
    if not errors or errors[0].text != compilation.failure:
        yield _Failure(compilation.failure.rstrip("."), Span(path, 0, 0))
        return
    yield _placed(errors[0], path, locator)
    if is_shared_excess(errors[0]):
        others = (one for one in errors if not is_shared_excess(one) and _ABORTED not in one.text)
        if (other := next(others, None)) is not None:
            yield _placed(other, path, locator)


def _placed(error: Diagnostic, path: str, locator: Locator) -> _Failure:
    from cudalint.compile.sharedexcess import is_shared_excess

    text = error.text.rstrip(".")
    if error.path:
        line = locator.diagnostic(error)
        if line.exact:
            return _Failure(text, line.span)
        return _Failure(text, line.span, (), f"{error.path}:{error.line}", "error-elsewhere")
    if error.function:
        place = locator.symbol(error.function)
        text = text.replace(error.function, place.name)
        if is_shared_excess(error):
            return _Failure(text, place.span, place.extents, "", "shared-memory")
        if place.known:
            return _Failure(text, place.span, place.extents)
        call = locator.call(place.name.rpartition("::")[2])
        return _Failure(text, call or Span(path, 0, 0))
    return _Failure(text, Span(path, 0, 0))
