"""CU507 ptxas-warning."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec

from cudalint.context import Context
from cudalint.finding import Finding, Level, Span
from cudalint.rule import CompileRule, Example, NoOptions

if TYPE_CHECKING:
    from cudalint.compile.locate import Locator
    from cudalint.compile.model import Compilation, CompiledFile, Diagnostic, FunctionResources

_OTHER_RULES = ("Registers are spilled to local memory", "Local memory used for function")
"""Warnings that flags can turn on, about what CU501 and CU502 report."""
_DROPPED = ".minnctapersm will be ignored"
"""Of this CU503 speaks where the kernel has more registers than its bounds leave."""

_GB10 = 'targets = ["sm_121"]\n'
_SPDX = "// SPDX-License-Identifier: MIT OR Apache-2.0\n"
_DROPPED_BOUNDS = """\
extern "C" __global__ void __launch_bounds__(1024, 2) halve(float* y) {
                                                      ~~~~~
  y[threadIdx.x] *= 0.5f;
}
"""
_UNUSED = """\
extern "C" __global__ void __launch_bounds__(32) halve(float* y) {
  int unused = 3;
      ~~~~~~
  y[threadIdx.x] *= 0.5f;
}
"""
_IN_HEADER = """\
#pragma once
__device__ inline float half_of(float x) {
  int forgotten;
      ~~~~~~~~~
  return x * 0.5f;
}
"""
_ALWAYS = """\
extern "C" __global__ void __launch_bounds__(32) clamp(unsigned* y, unsigned n) {
  if (n < 0) y[threadIdx.x] = 0;
        ~
}
"""
_TEMPLATE = """\
namespace n {
template <int N>
__global__ void __launch_bounds__(N, 4) halve(float* y) {
                                        ~~~~~
  y[threadIdx.x] *= 0.5f;
}
template __global__ void halve<512>(float*);
template __global__ void halve<768>(float*);
}  // namespace n
"""
_DIRECTIVE = """\
#warning "the slow path"
 ~~~~~~~
extern "C" __global__ void __launch_bounds__(32) halve(float* y) { y[threadIdx.x] *= 0.5f; }
"""
_CLEAN = """\
extern "C" __global__ void __launch_bounds__(32) halve(float* y) {
  y[threadIdx.x] *= 0.5f;
}
"""


def _clean(before: str, after: str) -> Example:
    return Example(code=_SPDX + _CLEAN.replace(before, after), settings=_GB10)


class _Warning(msgspec.Struct, frozen=True):
    """A warning as it is reported: equal ones of several archs are one."""

    text: str
    span: Span
    extents: tuple[Span, ...]
    place: str


class PtxasWarning(CompileRule):
    """nvcc or ptxas warns.

    What it does
        Reports each warning of nvcc, its front end, the host preprocessor and
        ptxas, at the source line that it is about; one about a kernel, such as
        `.minnctapersm will be ignored`, at the kernel's name. The same warning
        on several archs, or of several instances of a template, is one finding.
        Spills, local memory, and a dropped minimum of blocks that costs
        registers are left to CU501, CU502 and CU503.

    Why it matters
        A build prints thousands of lines and nobody reads them. Among them are
        launch bounds that are silently dropped, instructions that ptxas has to
        serialise, comparisons that are always true.

    Example
            // ptxas: .minnctapersm will be ignored
            extern "C" __global__ void __launch_bounds__(1024, 2) k(float* y)

    How to fix
        Do what the warning says. To live with one, say why in a suppression, or
        turn off its number for a target with `--diag-suppress` in the manifest.

    Sources
        NVIDIA CUDA Compiler Driver manual; PTX ISA, "Performance-Tuning
        Directives" (`.minnctapersm`).
    """

    code = "CU507"
    name = "ptxas-warning"
    level = Level.WARNING
    messages = {
        "warning": "nvcc warns on '{1}': '{0}'.",
        "warning-elsewhere": "nvcc warns on '{1}' of '{2}': '{0}'.",
    }

    INVALID = (
        Example(
            code=_DROPPED_BOUNDS,
            settings=_GB10,
            message="threads per SM for entry halve is out of range. .minnctapersm will be ignored",
        ),
        Example(
            code=_UNUSED,
            settings=_GB10,
            message="nvcc warns on 'sm_121': 'variable \"unused\" was declared but never referenced"
            " (177-D)'.",
        ),
        Example(
            code=f'#include "half.cuh"\n{_CLEAN.replace("*= 0.5f", "= half_of(*y)")}',
            files={"half.cuh": _IN_HEADER},
            settings=_GB10,
        ),
        Example(code=_ALWAYS, settings='targets = ["sm_121", "sm_89"]\n', message="sm_89, sm_121"),
        Example(code=_TEMPLATE, settings=_GB10, message="for entry n::halve is out of range"),
        Example(code=_DIRECTIVE, settings=_GB10, message="the slow path"),
    )
    VALID = (
        _clean("  y[", "  [[maybe_unused]] int kept = 3;\n  y["),
        _clean("(32)", "(512, 3)"),
        _clean("  y[", "  int kept = 3;\n  y[0] = kept;\n  y["),
        _clean("  y[", "#if 0\n#warning never\n  int unused;\n#endif\n  y["),
        Example(
            code=_SPDX + "#pragma nv_diag_suppress 177\n" + _UNUSED.replace("      ~~~~~~\n", ""),
            settings=_GB10,
        ),
        Example(
            code=_SPDX + _IN_HEADER.replace("      ~~~~~~~~~\n", ""),
            path="half.cuh",
            settings=_GB10,
        ),
    )

    def check(
        self, compiled: CompiledFile, context: Context, options: NoOptions
    ) -> Iterator[Finding]:
        """Report each warning once, whichever archs give it."""
        from cudalint.compile.kernels import where
        from cudalint.compile.locate import Locator

        locator = Locator(compiled, context)
        of_bounds = _told_of_bounds(compiled, locator)
        found: dict[_Warning, list[Compilation]] = {}
        for compilation in compiled.compilations:
            for diagnostic in _own(compilation):
                warning = _placed(diagnostic, locator)
                if warning.span in of_bounds and _DROPPED in warning.text:
                    continue
                found.setdefault(warning, []).append(compilation)
        for warning, compilations in found.items():
            on = where(compilations, compiled)
            message = "warning-elsewhere" if warning.place else "warning"
            arguments = (warning.text, on, warning.place) if warning.place else (warning.text, on)
            yield self.report(message, warning.span, *arguments, extents=warning.extents)


def _told_of_bounds(compiled: CompiledFile, locator: Locator) -> set[Span]:
    """The kernels of which CU503 says that they have more registers than their bounds leave."""
    from cudalint.compile.ceiling import at_cliff, over_bounds, tells_of_bounds
    from cudalint.compile.kernels import objectionable

    def over(function: FunctionResources) -> bool:
        return function.entry and (at_cliff(function) or over_bounds(function))

    groups = objectionable(compiled, locator, over)
    return {group.place.span for group in groups if tells_of_bounds(group)}


def _own(compilation: Compilation) -> Iterator[Diagnostic]:
    """The warnings that nothing else reports: on a line with an error they are about that."""
    errors = {
        (one.path, one.line)
        for one in compilation.diagnostics
        if one.severity == "error" and one.path
    }
    for one in compilation.diagnostics:
        is_own = one.severity == "warning" and not one.text.startswith(_OTHER_RULES)
        if is_own and (one.path, one.line) not in errors:
            yield one


def _placed(diagnostic: Diagnostic, locator: Locator) -> _Warning:
    """The warning at its place; a kernel is named as in the source, whichever instance it is."""
    text = diagnostic.text.rstrip(".")
    if diagnostic.number:
        text += f" ({diagnostic.number})"
    if diagnostic.function and not diagnostic.path:
        place = locator.symbol(diagnostic.function)
        text = text.replace(diagnostic.function, place.name)
        return _Warning(text, place.span, place.extents, "")
    line = locator.diagnostic(diagnostic)
    elsewhere = f"{diagnostic.path}:{diagnostic.line}" if diagnostic.path else ""
    return _Warning(text, line.span, (), "" if line.exact else elsewhere)
