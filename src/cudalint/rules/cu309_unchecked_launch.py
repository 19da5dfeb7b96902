"""CU309 unchecked-launch."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from cudalint.context import Context
from cudalint.devicecode.devicecode import device_only
from cudalint.finding import Finding, Level
from cudalint.hostcode.followup import CHECKS, FollowUp
from cudalint.project.expansion import places
from cudalint.project.project import Project
from cudalint.regex import regex
from cudalint.rule import Example, ProjectRule
from cudalint.syntax.model import Call, FileModel, Launch

_SPDX = "// SPDX-License-Identifier: MIT OR Apache-2.0\n"
_KERNEL = f"""\
{_SPDX}extern "C" __global__ void __launch_bounds__(32) k(float* o) {{ *o = 1.f; }}
"""
_API = regex(r"(?:cuda|cu|cublas|cudnn|nccl|cusparse|cufft|curand|cusolver)[A-Z]\w*")
_NO_STATUS = regex(r"Error(?:String|Name)|(?i:check)|ChannelDesc|GetStatus|cudaProfiler|Err[A-Z]")


class UncheckedLaunchOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`handlers` are functions of the project that check for errors, by name."""

    handlers: tuple[str, ...] = ()


class UncheckedLaunch(ProjectRule):
    """Nobody asks whether a launch or an API call went well.

    What it does
        Reports launches that no `cudaGetLastError`, `cudaPeekAtLastError`, check
        macro or configured handler follows in the next statement, and calls of
        the CUDA libraries whose status is dropped and that none follows either.
        What is passed to a macro counts as handled, and so does a status cast to
        `void`. The rule is off unless it is selected.

    Why it matters
        A launch that fails does nothing and says nothing: the error shows up at
        some later call, in some other place, or in the results.

    Example
            scale<<<grid, block, 0, stream>>>(out);
            cudaMemsetAsync(out, 0, bytes, stream);

    How to fix
        Follow each launch with `CHECK(cudaGetLastError());`, and pass calls to
        the same macro. Name functions that check in the option `handlers`.

    Options
        `handlers`: functions of the project that check for errors, such as
        `check_launch`.

    Sources
        The CUDA C++ Programming Guide, "Error Checking". Llaminar, profiling
        guide, on errors.
    """

    code = "CU309"
    name = "unchecked-launch"
    level = Level.NOTE
    default = False
    messages = {
        "launch": "Nothing checks whether the launch of '{0}' went well; "
        "follow it with 'cudaGetLastError'.",
        "status": "The status of '{0}' is dropped; check it.",
    }
    options = UncheckedLaunchOptions

    INVALID = (
        Example(
            code=_KERNEL
            + """\
void step(float* o, cudaStream_t s) {
  k<<<1, 32, 0, s>>>(o);
  ~
  cudaMemsetAsync(o, 0, 4, s);
  ~~~~~~~~~~~~~~~
}
""",
            message="Nothing checks whether the launch of 'k' went well; follow it with",
        ),
        Example(
            code=_KERNEL
            + """\
#define CHECK(x) do { if ((x) != cudaSuccess) throw 1; } while (0)
void step(float* o, cudaStream_t s, int n) {
  if (n) {
    k<<<1, 32, 0, s>>>(o);
    ~
    n = 3;
  }
  CHECK(cudaGetLastError());
  for (int i = 0; i < n; ++i) k<<<1, 32, 0, s>>>(o);
                              ~
  n = 4;
}
""",
        ),
        Example(
            code=_KERNEL
            + """\
#define RUN(o, s) k<<<1, 32, 0, s>>>(o)
                  ~
void step(float* o, cudaStream_t s) { RUN(o, s); o = nullptr; }
""",
        ),
        Example(
            path="calls.cpp",
            code="""\
void step(float* p, cublasHandle_t h, cudaStream_t s) {
  ::cublasSetStream(h, s);
    ~~~~~~~~~~~~~~~
  if (p) cudaFree(p);
         ~~~~~~~~
  p = nullptr;
}
""",
            message="The status of 'cublasSetStream' is dropped; check it.",
        ),
        Example(
            code=_KERNEL
            + """\
void step(float* o, cudaStream_t s) {
  auto body = [&] { k<<<1, 32, 0, s>>>(o); };
                    ~
  body();
  // CHECK(cudaGetLastError());
}
""",
        ),
        Example(
            code=_KERNEL
            + """\
void step(float* o, cudaStream_t s, int n) {
  switch (n) {
    case 1: k<<<1, 32, 0, s>>>(o); break;
            ~
    default: break;
  }
  done();
}
""",
        ),
    )
    VALID = (
        Example(
            code=_KERNEL
            + """\
#define CHECK(x) do { if ((x) != cudaSuccess) throw 1; } while (0)
void step(float* o, cudaStream_t s) {
  k<<<1, 32, 0, s>>>(o);
  CHECK(cudaGetLastError());
  CHECK(cudaMemsetAsync(o, 0, 4, s));
  k<<<1, 32, 0, s>>>(o);  // once more
  if (cudaPeekAtLastError() != cudaSuccess) throw 2;
}
""",
        ),
        Example(
            code=_KERNEL
            + """\
cudaError_t step(float* o, cudaStream_t s) {
  k<<<1, 32, 0, s>>>(o);
  return cudaGetLastError();
}
""",
        ),
        Example(
            code=_KERNEL
            + """\
#define CHECK_LAUNCH() check_launch(__FILE__, __LINE__)
#define RUN(o, s) do { k<<<1, 32, 0, s>>>(o); CHECK_LAUNCH(); } while (0)
void step(float* o, cudaStream_t s, int n) {
  RUN(o, s);
  if (n == 1) {
    k<<<1, 32, 0, s>>>(o);
  } else {
    k<<<2, 32, 0, s>>>(o);
  }
  CHECK_LAUNCH();
}
""",
        ),
        Example(
            code=_KERNEL
            + """\
void step(float* o, cudaStream_t s) {
  k<<<1, 32, 0, s>>>(o);
  after_launch("k");
}
""",
            settings='[rules.CU309]\nhandlers = ["after_launch"]\n',
        ),
        Example(
            path="calls.cpp",
            code=_SPDX
            + """\
#define cudaCheckError() check(cudaGetLastError())
int step(float* p, Pool& pool) {
  cudaCheckError();
  cuErrCheck(cuCtxSynchronize());
  cudaFree(p);
  getLastCudaError("free");
  cudaError_t status = cudaFree(p);
  (void)cudaFree(p);
  pool.cudaFree(p);
  if (cudaFree(p) != cudaSuccess) return 1;
  cudaGetLastError();
  return status == cudaSuccess ? 0 : 1;
}
""",
        ),
        Example(
            code=_KERNEL
            + """\
#define TRY(...) do { __VA_ARGS__; } while (0)
void step(float* o, cudaStream_t s) {
  TRY(k<<<1, 32, 0, s>>>(o));
  // k<<<1, 32, 0, s>>>(o);
#if 0
  k<<<1, 32, 0, s>>>(o);
#endif
}
""",
        ),
    )

    def check(
        self, project: Project, context: Context, options: UncheckedLaunchOptions
    ) -> Iterator[Finding]:
        """Judge file by file; functions and macros of the project are no API calls."""
        models = [project.models[path] for path in sorted(project.models)]
        ours = {f.name for model in models for f in model.functions}
        ours |= {macro.name for model in models for macro in model.macros}
        for model in models:
            if model.launches or any(_API.match(call.name) for call in model.calls):
                yield from self._file(model, context, options, ours)

    def _file(
        self, file: FileModel, context: Context, options: UncheckedLaunchOptions, ours: set[str]
    ) -> Iterator[Finding]:
        follow = FollowUp(file, context.code(file.path), options.handlers)
        bodies = {macro.name: macro.body for macro in file.macros}
        covering = [c.span for c in file.calls if not c.via_macro and follow.checks(f"{c.name}(")]

        def unchecked(launch: Launch) -> bool | None:
            if launch.function < 0 or device_only(file, launch.function):
                return None
            if launch.use is not None:
                rest = bodies.get(launch.via_macro, "").rpartition(">>>")[2]
                return None if follow.checks(rest) or follow.after(launch.use) else True
            inside = any(s.start <= launch.span.start < s.end for s in covering)
            return None if inside or follow.after(launch.statement) else True

        for place in places(file.launches, unchecked, lambda launch: True, alone=False):
            launch = place.record
            yield self.report(
                "launch",
                place.span,
                launch.kernel,
                related=place.related,
                extents=(launch.statement, *place.uses),
            )
        for call in file.calls:
            if call.name in ours or not _drops(call, file, context):
                continue
            if not follow.after(call.statement):
                yield self.report("status", call.name_span, call.name, extents=(call.statement,))


def _drops(call: Call, file: FileModel, context: Context) -> bool:
    """Whether a call returns a status that nobody takes."""
    if not call.expression_statement or call.via_macro or call.receiver or call.function < 0:
        return False
    if call.name in CHECKS or not _API.fullmatch(call.name) or _NO_STATUS.search(call.name):
        return False
    plain = call.callee.partition("<")[0].removeprefix("::") == call.name
    text = context.text(call.statement).lstrip()
    return plain and not text.startswith("(void)") and not device_only(file, call.function)
