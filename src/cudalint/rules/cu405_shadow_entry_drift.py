"""CU405 shadow-entry-drift."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cudalint.context import Context
from cudalint.finding import Finding, Level, Related, Span
from cudalint.rule import Example, NoOptions, TreeRule
from cudalint.tree.model import KernelTree
from cudalint.tree.shadows import shadows

if TYPE_CHECKING:
    from cudalint.tree.entries import Entry

_HEAD = "// SPDX-License-Identifier: MIT OR Apache-2.0\n"
_TWO = (
    _HEAD
    + """\
extern "C" __global__ void __launch_bounds__(32) norm_a(float* o, int n) { o[n] = 1; }
extern "C" __global__ void __launch_bounds__(32) norm_b(float* o, int n) { o[n] = 1; }
"""
)
_PLACE = "gb10/qwen/nvfp4/norm.cu"
_DECLARED = '[shadow]\nnorm = "two warps per row: hidden size 4096"\n'
_FILES = {"gb10/common/norm.cu": _TWO, "gb10/qwen/nvfp4/KERNEL.toml": _DECLARED}
_MARK = "~\n"


class ShadowEntryDrift(TreeRule):
    """A shadow lacks an entry point of the file it replaces, or takes other parameters.

    What it does
        Compares the entry points of a shadow with those of the file below:
        kernels with C linkage, those that macros make and those of quoted
        includes among them. It reports, once for a shadow, the entry points
        that it lacks, unless `[shadow_exempt]` lets it drop them; and each kernel
        that it has with other parameter types. Names of parameters, `const`,
        and aliases of one type make no difference.

    Why it matters
        The host looks an entry point up by name and passes arguments by the
        baseline's list. A name that is gone fails when the model is loaded, on
        that target only; a list that changed is not checked by anyone, and the
        kernel reads its pointers from the wrong places.

    Example
            // gb10/common/norm.cu
            extern "C" __global__ void norm(float* o, int n);
            // gb10/qwen/nvfp4/norm.cu
            extern "C" __global__ void norm(float* o, long n);

    How to fix
        Give the shadow every entry point of the file below, with the same
        parameters. What the target never looks up may be dropped by name:

            [shadow_exempt]
            norm = ["norm_b"]

        A kernel with other parameters is another kernel: give it a name, and a
        file, of its own.

    Sources
        CUDA Driver API, `cuModuleGetFunction` and `cuLaunchKernel`: arguments are
        passed as an array of pointers that nothing checks against the kernel.
    """

    code = "CU405"
    name = "shadow-entry-drift"
    level = Level.ERROR
    messages = {
        "missing": "'{0}' lacks '{2}', which the host may look up: '{1}' has it.",
        "parameters": "'{0}' takes '{1}', but in '{2}', which the host was written for, '{3}'.",
    }
    INVALID = (
        Example(
            path=_PLACE,
            code=_MARK
            + _HEAD
            + """\
extern "C" __global__ void __launch_bounds__(64) norm_a(float* o, int n) { o[n] = 2; }
""",
            files=_FILES,
            message="'gb10/qwen/nvfp4/norm.cu' lacks 'norm_b', which the host may look up:",
        ),
        Example(
            path=_PLACE,
            code=_MARK
            + _HEAD
            + """\
extern "C" __global__ void __launch_bounds__(64) norm_a(float* o, int n) { o[n] = 2; }
// extern "C" __global__ void norm_b(float* o, int n) { o[n] = 1; }
#if 0
extern "C" __global__ void norm_b(float* o, int n) { o[n] = 1; }
#endif
__global__ void __launch_bounds__(64) norm_b(float* o, int n) { o[n] = 1; }
""",
            files=_FILES,
        ),
        Example(
            path=_PLACE,
            code=_HEAD
            + """\
extern "C" __global__ void __launch_bounds__(64) norm_a(float* o, long n) { o[n] = 2; }
                                                 ~~~~~~
extern "C" __global__ void __launch_bounds__(64) norm_b(float* o) { *o = 2; }
                                                 ~~~~~~
""",
            files=_FILES,
            message="'norm_a' takes '(float *, long)', but in 'gb10/common/norm.cu', which the "
            "host was written for, '(float *, int)'.",
        ),
        Example(
            path=_PLACE,
            code=_HEAD
            + """\
typedef double real;
extern "C" __global__ void __launch_bounds__(64) norm_a(real* o, int n) { o[n] = 2; }
                                                 ~~~~~~
extern "C" __global__ void __launch_bounds__(64) norm_b(float* x, const int m) { x[m] = 2; }
""",
            files=_FILES,
        ),
        Example(
            path=_PLACE,
            code=_MARK
            + _HEAD
            + """\
#include "body.cuh"
NORM(norm_a)
""",
            files={
                **_FILES,
                "gb10/common/body.cuh": _HEAD
                + """\
#pragma once
#define NORM(name) \\
  extern "C" __global__ void __launch_bounds__(64) name(float* o, int n) { o[n] = 2; }
""",
            },
            message="lacks 'norm_b',",
        ),
        Example(
            path="hopper/common/norm.cu",
            code=_MARK
            + _HEAD
            + """\
extern "C" __global__ void __launch_bounds__(64) norm_b(float* o, int n) { o[n] = 2; }
""",
            files={
                "gb10/common/norm.cu": _TWO,
                "hopper/HARDWARE.toml": '[hardware]\narch = "sm_90a"\ninherits = "gb10"\n',
                "hopper/common/KERNEL.toml": _DECLARED,
            },
        ),
        Example(
            path=_PLACE,
            code=_MARK
            + _HEAD
            + """\
extern "C" __global__ void __launch_bounds__(64) norm_a(float* o, int n) { o[n] = 2; }
""",
            files={
                **_FILES,
                "gb10/qwen/nvfp4/KERNEL.toml": _DECLARED + '\n[shadow_exempt]\nnorm = ["norm_a"]\n',
            },
        ),
    )
    VALID = (
        Example(path=_PLACE, code=_TWO.replace("(32)", "(64)"), files=_FILES),
        Example(
            path=_PLACE,
            code=_HEAD
            + """\
extern "C" __global__ void __launch_bounds__(64) norm_a(float* o, int n) { o[n] = 2; }
""",
            files={
                **_FILES,
                "gb10/qwen/nvfp4/KERNEL.toml": _DECLARED + '\n[shadow_exempt]\nnorm = ["norm_b"]\n',
            },
        ),
        Example(
            path=_PLACE,
            code=_HEAD + '#define ROWS 2\n#include "../../common/norm.cu"\n',
            files=_FILES,
        ),
        Example(
            path=_PLACE,
            code=_HEAD
            + """\
#define NORM(name) \\
  extern "C" __global__ void __launch_bounds__(64) norm_##name(float* o, int n) { o[n] = 2; }
NORM(a)
NORM(b)
""",
            files=_FILES,
            also=("CU105",),
        ),
        Example(
            path=_PLACE,
            code=_HEAD
            + """\
using real = float;
typedef int count_t;
extern "C" __global__ void __launch_bounds__(64) norm_a(real* __restrict__ out, const count_t m) {
  out[m] = 2;
}
extern "C" __global__ void __launch_bounds__(64) norm_b(float out[], signed int m) { out[m] = 2; }
""",
            files=_FILES,
        ),
        Example(
            path=_PLACE,
            code=_HEAD
            + """\
extern "C" __global__ void __launch_bounds__(64) norm_a(float* o, int n) { o[n] = 2; }
#include "elsewhere.cuh"
""",
            files=_FILES,
        ),
        Example(
            path=_PLACE,
            code=_HEAD
            + """\
#define KERNEL_NAME norm_a
#include "norm_body.cuh"
#undef KERNEL_NAME
#define KERNEL_NAME norm_b
#include "norm_body.cuh"
""",
            files={
                **_FILES,
                "gb10/common/norm_body.cuh": _HEAD
                + """\
extern "C" __global__ void __launch_bounds__(64) KERNEL_NAME(float* o, int n) { o[n] = 2; }
""",
            },
            also=("CU105",),
        ),
    )

    def check(self, tree: KernelTree, context: Context, options: NoOptions) -> Iterator[Finding]:
        """Compare the entry points of each shadow of `tree` with those it replaces."""
        from cudalint.tree.drift import drift

        for shadow in shadows(tree):
            found = drift(shadow, context.models, context.sources)
            if found is None:
                continue
            whole = Span(shadow.upper, 0, 0)
            if found.missing and found.complete:
                yield self.report(
                    "missing",
                    whole,
                    shadow.upper,
                    shadow.lower,
                    ", ".join(found.missing),
                    related=(Related(Span(shadow.lower, 0, 0), "replaced file"),),
                )
            for ours, theirs in found.changed:
                yield self.report(
                    "parameters",
                    ours.span if ours.span.path == shadow.upper else whole,
                    ours.name,
                    _parameters(ours),
                    theirs.span.path,
                    _parameters(theirs),
                    related=(Related(theirs.span, "replaced entry point"),),
                )


def _parameters(entry: Entry) -> str:
    return f"({', '.join(entry.types)})"
