"""CU105 entry-name-clash."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from cudalint.context import Context
from cudalint.finding import Finding, Level, Related, Span
from cudalint.project.project import Project
from cudalint.rule import Example, NoOptions, ProjectRule
from cudalint.syntax.model import Function

if TYPE_CHECKING:
    from cudalint.tree.entries import Entries
    from cudalint.tree.model import Target

_SPDX = "// SPDX-License-Identifier: MIT OR Apache-2.0\n"
_KERNEL = f"""\
{_SPDX}extern "C" __global__ void __launch_bounds__(64) rms_norm(float* o) {{ *o = 1.f; }}
"""


class EntryNameClash(ProjectRule):
    """Two kernels of one target have the same name, or a name is pasted together.

    What it does
        Compares the entry points of all sources that a target compiles, those
        that a source gets from its quoted includes among them, and reports each
        one whose C name another source of the target has too. What a leaf
        shadows is not compiled and does not count. Also notes entry points whose
        name a macro pastes together with `##`, where the whole name stands
        nowhere in the file.

    Why it matters
        Which of two kernels of one name the host gets depends on the module that
        it happens to look in, and linking both is an error. A pasted name is
        found by no search: who changes the kernel does not see who uses it.

    Example
            gb10/common/norm.cu      extern "C" __global__ void rms_norm(…)
            gb10/common/rms_norm.cu  extern "C" __global__ void rms_norm(…)

    How to fix
        Rename one of the kernels, or delete the copy. Where macros make names,
        write the whole names in the macro's arguments, or in a comment.

    Sources
        Metrale Engine, "CUDA Kernel Engineering": the entry point's name is what
        the host looks up.
    """

    code = "CU105"
    name = "entry-name-clash"
    level = Level.ERROR
    messages = {
        "clash": "Kernel '{0}' is also in '{1}', and target '{2}' compiles both; rename one.",
        "pasted": "The name of kernel '{0}' is pasted together, so no search finds it; "
        "write the whole name in a comment or an argument.",
    }

    INVALID = (
        Example(
            path="gb10/common/rms_norm.cu",
            code=_KERNEL + " " * 49 + "~~~~~~~~\n",
            files={"gb10/common/norm.cu": _KERNEL},
            message="Kernel 'rms_norm' is also in 'gb10/common/norm.cu', and target",
        ),
        Example(
            path="gb10/qwen/fp8/norm.cu",
            code=_KERNEL + " " * 49 + "~~~~~~~~\n",
            files={"gb10/common/rms_norm.cu": _KERNEL},
            message="Kernel 'rms_norm' is also in 'gb10/common/rms_norm.cu', and target",
        ),
        Example(
            path="gb10/qwen/fp8/norm_64.cu",
            code=f"""{_SPDX}#define HDIM 64
#include "../../common/rms_norm.cu"
~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
""",
            files={"gb10/common/rms_norm.cu": _KERNEL},
        ),
        Example(
            path="gb10/common/b.cu",
            code=_SPDX
            + """\
#define ENTRY(name) extern "C" __global__ void __launch_bounds__(64) name(float* o) { *o = 1.f; }
namespace ops {
ENTRY(rms_norm)
~~~~~~~~~~~~~~~
}
""",
            files={"gb10/common/a.cu": _KERNEL},
        ),
        Example(
            code="""\
#define KERNEL(op, type) extern "C" __global__ void op##_##type(float* o) { *o = 1.f; }
KERNEL(add, f32)
~~~~~~~~~~~~~~~~
KERNEL(mul, f32)
~~~~~~~~~~~~~~~~
""",
            message="The name of kernel 'add_f32' is pasted together, so no search finds it;",
        ),
        Example(
            code="""\
#define PASTE(a, b) a##b
#define JOIN(a, b) PASTE(a, b)
#define BASE attn
extern "C" __global__ void JOIN(BASE, _64)(float* o) { *o = 1.f; }
                           ~~~~~~~~~~~~~~~
""",
            message="The name of kernel 'attn_64' is pasted together,",
        ),
    )
    VALID = (
        Example(
            path="gb10/qwen/fp8/rms_norm.cu",
            code=_KERNEL.replace("1.f", "2.f"),
            files={
                "gb10/common/rms_norm.cu": _KERNEL,
                "gb10/qwen/fp8/KERNEL.toml": '[shadow]\nrms_norm = "two warps a row for 4096"\n',
            },
        ),
        Example(
            path="gb10/qwen/fp8/norm.cu",
            code=_KERNEL,
            files={
                "gb10/qwen/nvfp4/norm.cu": _KERNEL,
                "gb10/common/rope.cu": _KERNEL.replace("rms_norm", "rope"),
            },
        ),
        Example(code=_KERNEL, files={"other.cu": _KERNEL}),
        Example(
            path="gb10/common/rms_norm.cu",
            code=_SPDX
            + """\
#ifdef WIDE
extern "C" __global__ void __launch_bounds__(256) rms_norm(float* o) { *o = 1.f; }
#else
extern "C" __global__ void __launch_bounds__(128) rms_norm(float* o) { *o = 1.f; }
#endif
""",
            files={
                "gb10/common/rope.cu": _SPDX
                + 'extern "C" __global__ void rms_norm(float* o);\n'
                + '// extern "C" __global__ void rms_norm(float* o) { *o = 1.f; }\n'
            },
        ),
        Example(
            code=_SPDX
            + """\
// Entry points: add_f32, add_bf16.
#define KERNEL(op, type) \\
  extern "C" __global__ void __launch_bounds__(64) op##_##type(float* o) { *o = 1.f; }
KERNEL(add, f32)
KERNEL(add, bf16)
""",
        ),
        Example(
            code=_SPDX
            + """\
#define KERNEL(name) extern "C" __global__ void __launch_bounds__(64) name(float* o) { *o = 1.f; }
KERNEL(add_f32)
#define NAME mul_f32
KERNEL(NAME)
""",
            also=("CU102",),
        ),
        Example(
            path="gb10/common/attn_64.cu",
            code=_SPDX + '#define ATTN attn_64\n#include "attn.cuh"\n',
            files={
                "gb10/common/attn_128.cu": _SPDX + '#define ATTN attn_128\n#include "attn.cuh"\n',
                "gb10/common/attn.cuh": _SPDX
                + "#pragma once\n"
                + 'extern "C" __global__ void __launch_bounds__(64) ATTN(float* o) { *o = 1.f; }\n',
            },
        ),
    )

    def check(self, project: Project, context: Context, options: NoOptions) -> Iterator[Finding]:
        """Report each clash once, whichever targets have it; then the pasted names."""
        yield from self._clashes(project, context)
        for path, model in project.models.items():
            for kernel in model.kernels:
                if kernel.kind == "definition" and kernel.linkage == "C":
                    yield from self._pasted(kernel, context.sources[path].data, context)

    def _clashes(self, project: Project, context: Context) -> Iterator[Finding]:
        targets = [target for tree in project.trees for target in tree.targets]
        if not targets:
            return
        from cudalint.project.kernelnames import KernelNames
        from cudalint.tree.entries import entry_points

        known: dict[tuple[str, tuple[str, ...], tuple[str, ...]], Entries] = {}
        reported: set[tuple[Span, str]] = set()
        names = KernelNames(project)
        for target in targets:
            if names.all_differ(target):
                continue
            owners: dict[str, tuple[str, Span]] = {}
            for path in _base_first(target):
                if path not in project.models:
                    continue
                key = (path, target.includes, target.flags)
                if key not in known:
                    known[key] = entry_points(path, target, project.models, context.sources)
                for name, entries in known[key].by_name.items():
                    span = _shown(entries[0].span, path, project)
                    first = owners.setdefault(name, (path, span))
                    if first[0] != path and (span, name) not in reported:
                        reported.add((span, name))
                        related = (Related(first[1], "the other one"),)
                        yield self.report(
                            "clash", span, name, first[0], target.name, related=related
                        )

    def _pasted(self, kernel: Function, data: bytes, context: Context) -> Iterator[Finding]:
        if kernel.via_macro and kernel.use is None:
            return
        name = kernel.name.encode()
        if not kernel.via_macro and context.text(kernel.name_span) == kernel.name:
            return
        if re.search(rb"\b%s\b" % re.escape(name), data):
            return
        yield self.report(
            "pasted",
            kernel.use or kernel.name_span,
            kernel.name,
            level=Level.NOTE,
            related=(Related(kernel.name_span, "pasted here"),) if kernel.use else (),
            extents=() if kernel.use else (kernel.head,),
        )


def _base_first(target: Target) -> list[str]:
    """The target's sources: those of the lowest layer first, so that a clash is the leaf's."""
    order: dict[str, int] = {}
    for depth, layer in enumerate(target.layers):
        for path in layer.sources.values():
            order.setdefault(path, -depth)
    return sorted(target.sources.values(), key=lambda path: (order.get(path, 0), path))


def _shown(span: Span, path: str, project: Project) -> Span:
    """Where an entry point of the source at `path` is shown: there, or at the include of it."""
    if span.path == path:
        return span
    include = project.includes.directive(path, span.path)
    return span if include is None else include.span
