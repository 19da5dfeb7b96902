"""CU201 device-printf."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cudalint.context import Context
from cudalint.devicecode.devicecode import enclosing, on_device
from cudalint.devicecode.prints import PrintJudge
from cudalint.finding import Finding, Fix, Level, Span
from cudalint.project.expansion import Place, places
from cudalint.project.project import Project
from cudalint.rule import Example, FixSafety, NoOptions, ProjectRule
from cudalint.syntax.model import Call, FileModel, Identifier, Macro

_SPDX = "// SPDX-License-Identifier: MIT OR Apache-2.0\n"
_EMPTY = r"\(?\(?\s*(?:\(?\s*void\s*\)?\s*0|do\s*\{\s*\}\s*while\s*\(\s*0\s*\))?\s*\)?\)?;?"
_EFFECT = r"\+\+|--|(?<![=!<>])=(?!=)|\w\s*\(|<<=|>>="


class DevicePrintf(ProjectRule):
    """Device code prints, or traps in an assertion.

    What it does
        Reports calls of `printf`, `vprintf` and `puts` and uses of `std::cout`,
        `std::cerr` and `std::clog` in kernels, `__device__` functions and the
        lambdas inside them; notes calls of `assert`. A call in a macro's body is
        reported there, once, when device code uses the macro. It is a note when
        the macro is empty unless some name is defined for debugging. Branches
        under `#if 0`, methods called `printf`, and host code are left alone.

    Why it matters
        A `printf` that never runs still costs registers, a stack frame and a
        call in the kernel; one that runs serialises it and fills a buffer that
        only a synchronisation empties.

    Example
            extern "C" __global__ void scale(float* o) {
              if (threadIdx.x == 0) printf("%f", o[0]);
            }

    How to fix
        Delete the call, or put it under `#if 0` while you develop. The safe fix
        deletes a call that is a statement of its own; where an argument could
        have an effect, the fix is unsafe.

    Sources
        Metrale Engine, "CUDA Kernel Engineering": no `printf` in hot paths. The
        CUDA C++ Programming Guide, "Formatted Output" and "Assertion".
    """

    code = "CU201"
    name = "device-printf"
    level = Level.ERROR
    fix = FixSafety.SAFE
    messages = {
        "print": "'{0}' prints from device code, in '{1}'; delete it.",
        "stream": "'{0}' is not there on the device, and '{1}' is device code; delete it.",
        "assert": "'assert' stays in '{0}', which is device code, in each build without NDEBUG; "
        "delete it before merging.",
        "debug": "'{0}' prints from device code when macro '{1}' is switched on; "
        "delete it before merging.",
    }

    INVALID = (
        Example(
            code="""\
extern "C" int printf(const char*, ...);
extern "C" __global__ void scale(float* o) {
  if (threadIdx.x == 0) printf("%f\\n", o[0]);
                        ~~~~~~
  printf("%f\\n", o[1]);  // what is it
  ~~~~~~
  o[0] = 1.f;
}
""",
            message="'printf' prints from device code, in 'scale'; delete it.",
            fixed="""\
extern "C" int printf(const char*, ...);
extern "C" __global__ void scale(float* o) {
  if (threadIdx.x == 0) {}
    // what is it
  o[0] = 1.f;
}
""",
        ),
        Example(
            code="""\
__host__ __device__ inline void trace(int i) {
  ::printf("%d",
    ~~~~~~
         i);
  (void)std::puts("x");
             ~~~~
}
""",
            fixed="__host__ __device__ inline void trace(int i) {\n}\n",
        ),
        Example(
            code="""\
void host(int* p) {
  auto f = [=] __device__(int i) { return printf("%d", i) + *p; };
                                          ~~~~~~
  (void)f;
}
""",
        ),
        Example(
            code="""\
#define SHOW(x) \\
  do { \\
    printf("%d", (x)); \\
    ~~~~~~
  } while (0)
#define STREAM(x) std::cerr << (x)
                  ~~~~~~~~~
template <typename T> __device__ void twice(T x) { SHOW(x); SHOW(x); STREAM(x); STREAM(x); }
void host() { SHOW(3); }
""",
            message="'printf' prints from device code, in 'twice'; delete it.",
        ),
        Example(
            code="""\
#ifdef TRACE
#define SHOW(...) printf(__VA_ARGS__)
                  ~~~~~~
#else
#define SHOW(...) ((void)0)
#endif
extern "C" __global__ void scale(float* o) { SHOW("%f", o[0]); }
""",
            message="'printf' prints from device code when macro 'SHOW' is switched on;",
        ),
        Example(
            code="""\
#ifndef NDEBUG
#define SHOW(...) printf(__VA_ARGS__)
                  ~~~~~~
#else
#define SHOW(...)
#endif
extern "C" __global__ void scale(float* o) { SHOW("%f", o[0]); }
""",
            message="'printf' prints from device code, in 'scale';",
        ),
        Example(
            code="""\
extern "C" __global__ void scale(float* o, int n) {
  for (int i = 0; i < n; ++i)
    assert(o[i] > 0.f);
    ~~~~~~
  std::cout << o[0] << '\\n';
  ~~~~~~~~~
  int printed = vprintf("%d", &n);
                ~~~~~~~
  o[0] = printed;
}
""",
            message="'assert' stays in 'scale', which is device code,",
            fixed="""\
extern "C" __global__ void scale(float* o, int n) {
  for (int i = 0; i < n; ++i)
    {}
  int printed = vprintf("%d", &n);
  o[0] = printed;
}
""",
        ),
        Example(
            path="trace.cuh",
            code="""\
#pragma once
#define SHOW(x) printf("%d", x)
                ~~~~~~
""",
            files={
                "scale.cu": '#include "trace.cuh"\n'
                'extern "C" __global__ void scale(float* o) { SHOW(3); *o = 1.f; }\n'
            },
            message="'printf' prints from device code, in 'scale';",
        ),
        Example(
            code="""\
#define KERNEL_ASSERT assert
extern "C" __global__ void scale(float* o) { KERNEL_ASSERT(o); }
                                             ~~~~~~~~~~~~~
""",
            message="'assert' stays in 'scale', which is device code,",
        ),
        Example(
            code="""\
#define PRINT printf
__device__ void trace(int i) {
  PRINT("%d", i);
  ~~~~~
  switch (i) { case 1: puts("one"); break; default: break; }
                       ~~~~
}
""",
            fixed="""\
#define PRINT printf
__device__ void trace(int i) {
  switch (i) { case 1: ; break; default: break; }
}
""",
        ),
    )
    VALID = (
        Example(
            code=_SPDX
            + """\
extern "C" int printf(const char*, ...);
void host() { printf("host code\\n"); }
auto log_later = [] { printf("host lambda\\n"); };
""",
        ),
        Example(
            code=_SPDX
            + """\
struct Log {
  __device__ void printf(const char*) {}
  __device__ void both() { printf("ours"); }
};
extern "C" __global__ void __launch_bounds__(64) scale(float* o, Log l) {
  l.printf("a method");
  *o = 1.f;  // printf("a comment")
}
""",
        ),
        Example(
            code=_SPDX
            + """\
extern "C" __global__ void __launch_bounds__(64) scale(float* o) {
#if 0
  printf("%f\\n", o[0]);
#endif
  const char* text = "printf(\\"no\\")";
  const char* raw = R"(printf("raw");)";
  o[0] = text[0] + raw[0];
}
""",
        ),
        Example(
            code=_SPDX
            + """\
extern "C" int printf(const char*, ...);
__host__ __device__ inline float half_of(float x) {
#ifndef __CUDA_ARCH__
  printf("on the host\\n");
#endif
  return 0.5f * x;
}
""",
        ),
        Example(
            code=_SPDX
            + """\
#define SHOW(x) printf("%d", x)
extern "C" int printf(const char*, ...);
void host(int n) { SHOW(n); }
extern "C" __global__ void __launch_bounds__(64) scale(float* o) { *o = 1.f; }
""",
        ),
        Example(
            code=_SPDX
            + """\
extern "C" __global__ void __launch_bounds__(64) scale(float* o) {
  static_assert(sizeof(float) == 4);
  float cout = 2.f;
  *o = cout;
}
""",
        ),
        Example(
            code=_SPDX
            + """\
namespace fmt { __device__ inline void printf(const char*, float) {} }
extern "C" __global__ void __launch_bounds__(64) scale(float* o) { fmt::printf("%f", *o); }
""",
        ),
    )

    def check(self, project: Project, context: Context, options: NoOptions) -> Iterator[Finding]:
        """Judge the calls and stream uses of the device code of all files."""
        judge = PrintJudge(project)
        for place in places(judge.calls(), judge.verdict, lambda call: True, alone=False):
            yield self._call(place, project.models[place.record.span.path], context)
        for model in project.models.values():
            streams: dict[Span, list[Identifier]] = {}
            for use in model.console:
                if _is_console(use, model) and on_device(model, use.function):
                    streams.setdefault(use.span, []).append(use)
            for uses in streams.values():
                yield self._stream(uses, model, context)

    def _call(self, place: Place[Call, str], model: FileModel, context: Context) -> Finding:
        call = place.record
        extents = (call.statement, *place.uses)
        if call.name == "assert":
            return self.report(
                "assert",
                place.span,
                place.verdict,
                level=Level.NOTE,
                related=place.related,
                fix=_fix(call.statement, call, model, context, safe=False),
                extents=extents,
            )
        if place.uses and _is_debug_macro(call, model, context):
            return self.report(
                "debug",
                place.span,
                call.name,
                call.via_macro,
                level=Level.NOTE,
                related=place.related,
                extents=extents,
            )
        harmless = not any(re.search(_EFFECT, argument.text) for argument in call.arguments)
        return self.report(
            "print",
            place.span,
            call.name,
            place.verdict,
            related=place.related,
            fix=_fix(call.statement, call, model, context, safe=harmless),
            extents=extents,
        )

    def _stream(self, uses: list[Identifier], model: FileModel, context: Context) -> Finding:
        """One finding for a stream, however many uses a macro that holds it has."""
        first = uses[0]
        return self.report(
            "stream",
            first.span,
            first.name,
            model.functions[enclosing(model, first.function)].name or "a lambda",
            fix=_fix(first.statement, first, model, context, safe=False),
            extents=(first.statement, *(use.use for use in uses if use.use is not None)),
        )


def _is_console(use: Identifier, model: FileModel) -> bool:
    """Whether it is the standard stream; a bare `cout` is where the header is included."""
    return use.name.startswith(("std::", "::std::")) or any(
        include.path == "iostream" for include in model.includes
    )


def _is_debug_macro(call: Call, model: FileModel, context: Context) -> bool:
    """Whether the macro around `call` is off, and something harmless instead, by default."""
    others = [m for m in model.macros if m.name == call.via_macro and not _around(m, call)]
    if not any(re.fullmatch(_EMPTY, macro.body.strip()) for macro in others):
        return False
    from cudalint.project.conditions import every_build

    return every_build(context.project, model, default_build=True).leave_out(call.span)


def _around(macro: Macro, call: Call) -> bool:
    return macro.span.start <= call.span.start < macro.span.end


def _fix(
    statement: Span, record: Call | Identifier, model: FileModel, context: Context, *, safe: bool
) -> Fix | None:
    """Deletes the statement, where the record is all of it."""
    if record.via_macro or not record.expression_statement:
        return None
    from cudalint.wording.statements import deletion

    edit = deletion(statement, model, context.sources[model.path].data)
    return Fix(f"Delete the '{record.name}' statement", (edit,), safe=safe)
