"""CU104 entry-linkage."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cudalint.context import Context
from cudalint.finding import Edit, Finding, Fix, Level, Span
from cudalint.project.expansion import Place, places, words_fixed
from cudalint.project.project import Project
from cudalint.project.wrappers import Wrappers
from cudalint.rule import Example, FixSafety, NoOptions, ProjectRule
from cudalint.syntax.model import Function

_SPDX = "// SPDX-License-Identifier: MIT OR Apache-2.0\n"


class EntryLinkage(ProjectRule):
    """A kernel that the host cannot look up by its name.

    What it does
        Reports each `__global__` definition without C linkage: no `extern "C"`
        on it, on a declaration that the compiler has seen before, or around it.
        A kernel that is static, a member, or in an anonymous namespace is
        reported with a message of its own. A template kernel is reported unless
        an `extern "C"` function uses it, directly or through functions that it
        calls. Any order of the words is accepted, and macros that expand to
        them.

    Why it matters
        The host looks entry points up by name (`cuModuleGetFunction`). A mangled
        name changes with each parameter, and a static or template kernel has no
        name in the module at all unless something happens to use it.

    Example
            __global__ void scale(float* o) { … }      // _Z5scalePf in the module

    How to fix
        Write `extern "C"` before the definition; the safe fix does, for a kernel
        that has no overload and no other declaration. Give each instance of a
        template that the host needs an `extern "C"` kernel of its own, and keep
        the common body in a `__device__` function template.

    Sources
        Metrale Engine, "CUDA Kernel Engineering": `extern "C" __global__` entry
        points with a stable name. The CUDA Driver API, `cuModuleGetFunction`.
    """

    code = "CU104"
    name = "entry-linkage"
    level = Level.ERROR
    fix = FixSafety.SAFE
    messages = {
        "mangled": "Kernel '{0}' has a mangled name that the host cannot look up; "
        "declare it 'extern \"C\"'.",
        "static": "Kernel '{0}' is static, so the host cannot look it up; "
        "make it 'extern \"C\"' instead.",
        "anonymous": "Kernel '{0}' is in an anonymous namespace, so the host cannot look it up; "
        "move it out and declare it 'extern \"C\"'.",
        "member": "Kernel '{0}' is a member of '{1}', so the host cannot look it up; "
        "make it an 'extern \"C\"' function.",
        "template": "Template kernel '{0}' has no 'extern \"C\"' wrapper that the host could "
        "look up; write an entry point for each instance that it needs.",
    }

    INVALID = (
        Example(
            code="""\
__global__ void __launch_bounds__(64) scale(float* o) { *o = 1.f; }
                                      ~~~~~
""",
            message="Kernel 'scale' has a mangled name that the host cannot look up;",
            fixed="""\
extern "C" __global__ void __launch_bounds__(64) scale(float* o) { *o = 1.f; }
""",
        ),
        Example(
            code="""\
__global__ void scale(float* o);
static __device__ float one() { return 1.f; }
namespace ops {
__launch_bounds__(64) __global__
void scale(float* o) { *o = one(); }
     ~~~~~
}
""",
        ),
        Example(
            code="""\
__global__ void scale(float* o, int n);
void launch(float* o, cudaStream_t s) { scale<<<1, 64, 0, s>>>(o, 3); }
__global__ void scale(float* o, int n) { *o = n; }
                ~~~~~
""",
            fixed="""\
extern "C" __global__ void scale(float* o, int n);
void launch(float* o, cudaStream_t s) { scale<<<1, 64, 0, s>>>(o, 3); }
extern "C" __global__ void scale(float* o, int n) { *o = n; }
""",
        ),
        Example(
            code="""\
extern "C" {
static __global__ void hidden(float* o) { *o = 1.f; }
                       ~~~~~~
}
""",
            message="Kernel 'hidden' is static, so the host cannot look it up;",
        ),
        Example(
            code="""\
namespace {
extern "C" __global__ void hidden(float* o) { *o = 1.f; }
                           ~~~~~~
}
""",
            message="Kernel 'hidden' is in an anonymous namespace,",
        ),
        Example(
            code="""\
template <typename T>
__global__ void copy(T* o, const T* i) { *o = *i; }
                ~~~~
template __global__ void copy<float>(float*, const float*);
void launch(float* o, cudaStream_t s) { copy<float><<<1, 64, 0, s>>>(o, o); }
""",
            message="Template kernel 'copy' has no 'extern \"C\"' wrapper",
        ),
        Example(
            code="""\
#define KERNEL(name) __global__ void name(float* o) { *o = 1.f; }
                                     ~~~~
KERNEL(fill_a)
KERNEL(fill_b)
""",
            message="Kernel 'fill_a' has a mangled name",
        ),
        Example(
            code="""\
#define KERNEL(linkage, name) linkage __global__ void name(float* o) { *o = 1.f; }
KERNEL(extern "C", fill_a)
KERNEL(static, fill_b)
~~~~~~~~~~~~~~~~~~~~~~
""",
        ),
        Example(
            code="""\
// extern "C" is what the next line lacks
#if 0
extern "C" __global__ void scale(float* o);
#endif
__global__ void scale(float* o) { *o = 1.f; }
                ~~~~~
__global__ void scale(int* o) { *o = 1; }
                ~~~~~
""",
        ),
    )
    VALID = (
        Example(
            code=_SPDX
            + """\
extern "C" void __launch_bounds__(64) __global__ scale(float* o) { *o = 1.f; }
""",
        ),
        Example(
            code=_SPDX
            + """\
#define ENTRY(threads) extern "C" __global__ void __launch_bounds__(threads)
ENTRY(64) scale(float* o) { *o = 1.f; }
""",
        ),
        Example(
            code=_SPDX
            + """\
#ifdef __cplusplus
extern "C" {
#endif
namespace ops {
__global__ void __launch_bounds__(64) scale(float* o) { *o = 1.f; }
}
#ifdef __cplusplus
}
#endif
""",
        ),
        Example(
            path="scale.cu",
            code=_SPDX
            + """\
#include "scale.cuh"
__global__ void __launch_bounds__(64) scale(float* o) { *o = 1.f; }
""",
            files={
                "scale.cuh": _SPDX + '#pragma once\nextern "C" __global__ void scale(float* o);\n'
            },
        ),
        Example(
            code=_SPDX
            + """\
template <int N> __global__ void __launch_bounds__(64) fill(float* o) { *o = N; }
template <int N> static void run(float* o, cudaStream_t s) { fill<N><<<1, 64, 0, s>>>(o); }
extern "C" void run_fill(float* o, int n, cudaStream_t s) {
  n == 1 ? run<1>(o, s) : run<2>(o, s);
}
""",
        ),
        Example(
            path="fill.cu",
            code=_SPDX
            + """\
#include "fill.cuh"
extern "C" void run_fill(float* o, cudaStream_t s) { fill<float><<<1, 64, 0, s>>>(o); }
""",
            files={
                "fill.cuh": _SPDX
                + "#pragma once\ntemplate <typename T>\n"
                + "__global__ void __launch_bounds__(64) fill(T* o) { *o = T(1); }\n"
            },
        ),
        Example(
            code=_SPDX
            + """\
#define KERNEL(name) extern "C" __global__ void __launch_bounds__(64) name(float* o) { *o = 1.f; }
KERNEL(fill_a)
KERNEL(fill_b)
""",
        ),
        Example(
            code=_SPDX
            + """\
// __global__ void old(float* o) { *o = 1.f; }
const char* kSource = "__global__ void text(float* o) {}";
template <int N> __device__ void body(float* o) { *o = N; }
__global__ void only_declared(float* o);
extern "C" __global__ void __launch_bounds__(64) fill_1(float* o) { body<1>(o); }
""",
        ),
    )

    def check(self, project: Project, context: Context, options: NoOptions) -> Iterator[Finding]:
        """Judge every kernel definition, once per macro that makes several."""
        wrappers = Wrappers(project, context)

        def judge(kernel: Function) -> str | None:
            return _verdict(kernel, project, wrappers)

        for path, model in project.models.items():
            if not context.sources[path].requested:
                continue
            kernels = [kernel for kernel in model.kernels if kernel.kind == "definition"]
            if kernels:
                for place in places(kernels, judge, words_fixed(model)):
                    fix = None if place.record.via_macro else _fix(place, project, context)
                    yield self._found(place, fix)

    def _found(self, place: Place[Function, str], fix: Fix | None) -> Finding:
        kernel = place.record
        arguments = (kernel.name, kernel.owner) if place.verdict == "member" else (kernel.name,)
        return self.report(
            place.verdict,
            place.span,
            *arguments,
            related=place.related,
            fix=fix,
            extents=(kernel.head, *place.uses),
        )


def _verdict(kernel: Function, project: Project, wrappers: Wrappers) -> str | None:
    """The message that fits, None for a kernel that the host can look up."""
    if kernel.owner:
        return "member"
    if "" in kernel.scope:
        return "anonymous"
    if kernel.template is not None:
        return None if wrappers.use(kernel) else "template"
    if kernel.static:
        return "static"
    if kernel.linkage == "C":
        return None
    expanded = kernel.use is not None or not kernel.via_macro
    if expanded and any(other.linkage == "C" for other in project.earlier(kernel)):
        return None
    return "mangled"


def _fix(place: Place[Function, str], project: Project, context: Context) -> Fix | None:
    """Adds the words, where that can neither clash with an overload nor with another file."""
    kernel = place.record
    path = kernel.span.path
    same_name = [k for k in project.kernels_named(kernel.name) if k is not kernel]
    others = [k for k in same_name if k.linkage != "C"]
    if any(k.span.path != path or k.scope != kernel.scope for k in others):
        return None
    if any(len(k.parameters) != len(kernel.parameters) or k.via_macro for k in same_name):
        return None
    if place.verdict == "static" and not others:
        word = re.search(r"\bstatic\b\s*", context.text(kernel.head))
        if word is None or "extern" in kernel.words:
            return None
        start = kernel.head.start + len(context.text(kernel.head)[: word.start()].encode())
        span = Span(path, start, start + len(word.group().encode()))
        return Fix('Make it extern "C"', (Edit(span, 'extern "C" '),), safe=False)
    if place.verdict != "mangled" or "extern" in kernel.words:
        return None
    if sum(k.kind == "definition" for k in same_name):
        return None
    starts = [k.head.start for k in (*others, kernel)]
    edits = tuple(Edit(Span(path, start, start), 'extern "C" ') for start in sorted(starts))
    return Fix('Declare it extern "C"', edits)
