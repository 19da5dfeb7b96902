"""CU307 event-on-other-stream."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cudalint.context import Context
from cudalint.finding import Confidence, Finding, Level, Related
from cudalint.hostcode.streamorder import RECORDS, Ordered, at, functions_with
from cudalint.hostcode.streams import null_stream
from cudalint.project.project import Project
from cudalint.regex import regex
from cudalint.rule import Example, NoOptions, ProjectRule
from cudalint.syntax.model import Call, Launch

_SPDX = "// SPDX-License-Identifier: MIT OR Apache-2.0\n"
_KERNEL = f"""\
{_SPDX}extern "C" __global__ void __launch_bounds__(32) k(float* o) {{ *o = 1.f; }}
"""
_NAMED = regex(r"[A-Za-z_][\w.>\[\]-]*")
_LIFE = regex(r"(?:Stream|Event)(?:Create|Destroy)")


class EventOnOtherStream(ProjectRule):
    """An event is recorded on another stream than the work that it should mark.

    What it does
        Reports `cudaEventRecord(e, b)` after a launch on a stream `a`, in a
        function that does nothing else on `b`: no work, no wait, no other use of
        the name. Where the function makes `a` wait for the event, or passes `b`
        on, it is left alone. Records on a null stream are CU302's business.

    Why it matters
        The event is complete before the kernel is. What waits for it reads
        results that are not there yet; what is timed with it is nothing.

    Example
            scale<<<grid, block, 0, compute>>>(out);
            cudaEventRecord(done, copy);

    How to fix
        Record on the stream of the launch: `cudaEventRecord(done, compute)`; or
        make the other stream wait first, with `cudaStreamWaitEvent`.

    Sources
        The CUDA Runtime API, `cudaEventRecord`. Llaminar, profiling guide, on
        events.
    """

    code = "CU307"
    name = "event-on-other-stream"
    level = Level.ERROR
    messages = {
        "other": "'{0}' marks '{1}' on stream '{2}', on which '{3}' has no work, after a launch "
        "on '{4}'; record on the stream of the launch.",
    }

    INVALID = (
        Example(
            code=_KERNEL
            + """\
void step(float* o, cudaEvent_t done, cudaStream_t compute, cudaStream_t copy) {
  k<<<1, 32, 0, compute>>>(o);
  cudaEventRecord(done, copy);
  ~~~~~~~~~~~~~~~
}
""",
            message="'cudaEventRecord' marks 'done' on stream 'copy', on which 'step' has no work,",
        ),
        Example(
            code=_KERNEL
            + """\
#define CHECK(x) do { if ((x) != cudaSuccess) throw 1; } while (0)
float time_it(float* o, cudaEvent_t a, cudaEvent_t b, cudaStream_t s, cudaStream_t timer) {
  CHECK(cudaEventRecord(a, timer));
  k<<<1, 32, 0, s>>>(o);
  CHECK(::cudaEventRecord(b, timer));
          ~~~~~~~~~~~~~~~
  return 0.f;
}
""",
        ),
        Example(
            code=_KERNEL
            + """\
struct Op {
  cudaStream_t main_, side_;
  cudaEvent_t e_;
  void run(float* o) {
    k<<<dim3(1, 1), 32, 0, this->main_>>>(o);
    auto mark = [this] { cudaEventRecord(e_, side_); };
                         ~~~~~~~~~~~~~~~
    mark();
  }
};
""",
        ),
        Example(
            code=_KERNEL
            + """\
#define RUN(o, s) k<<<1, 32, 0, s>>>(o)
void step(float* o, cudaEvent_t e, cudaStream_t s) {
  cudaStream_t side;
  cudaStreamCreate(&side);
  RUN(o, s);
  cudaEventRecordWithFlags(e, side, 0);
  ~~~~~~~~~~~~~~~~~~~~~~~~
  cudaStreamDestroy(side);
}
""",
            settings='ignore = ["CU306"]\n',
        ),
        Example(
            path="step.cpp",
            code="""\
void run(CUfunction f, void** a, CUstream s, CUstream t, CUevent e) {
  cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, s, a, nullptr);
  cuEventRecord(e, t);
  ~~~~~~~~~~~~~
}
""",
            message="'cuEventRecord' marks 'e' on stream 't', on which 'run' has no work, after a",
        ),
        Example(
            code=_KERNEL
            + """\
template <typename T> void step(T* o, cudaEvent_t e, cudaStream_t a, cudaStream_t b) {
  if (o) { k<<<1, 32, 0, a>>>(o); }
  // on b
  (void)cudaEventRecord(e, /* stream */ b);
        ~~~~~~~~~~~~~~~
}
""",
        ),
    )
    VALID = (
        Example(
            code=_KERNEL
            + """\
void step(float* o, cudaEvent_t e, cudaStream_t s) {
  k<<<1, 32, 0, s>>>(o);
  cudaEventRecord(e, s);
}
""",
        ),
        Example(
            code=_KERNEL
            + """\
void step(float* o, cudaEvent_t a, cudaEvent_t b, cudaStream_t s, cudaStream_t t) {
  k<<<1, 32, 0, s>>>(o);
  cudaEventRecord(a, s);
  cudaStreamWaitEvent(t, a, 0);
  cudaEventRecord(b, t);
}
""",
            also=("CU312",),
        ),
        Example(
            code=_KERNEL
            + """\
void enqueue(float* o, cudaStream_t s);
void step(float* o, cudaEvent_t e, cudaStream_t s, cudaStream_t t) {
  k<<<1, 32, 0, s>>>(o);
  enqueue(o, t);
  cudaEventRecord(e, t);
}
""",
        ),
        Example(
            code=_KERNEL
            + """\
struct Parameters { cudaStream_t stream; };
void step(float* o, cudaEvent_t e, Parameters& p, cudaStream_t s) {
  p.stream = s;
  k<<<1, 32, 0, p.stream>>>(o);
  cudaEventRecord(e, s);
}
""",
        ),
        Example(
            code=_KERNEL
            + """\
void step(float* o, cudaEvent_t e, cudaStream_t s, cudaStream_t t) {
  k<<<1, 32, 0, s>>>(o);
  cudaEventRecord(e, t);
  cudaStreamWaitEvent(s, e, 0);
}
""",
        ),
        Example(
            code=_KERNEL
            + """\
void step(float* o, cudaEvent_t e, cudaStream_t* all, int i, cudaStream_t t) {
  k<<<1, 32, 0, all[i]>>>(o);
  cudaEventRecord(e, all[0]);
  // k<<<1, 32, 0, all[0]>>>(o); cudaEventRecord(e, t);
#if 0
  cudaEventRecord(e, t);
#endif
}
""",
        ),
    )

    def check(self, project: Project, context: Context, options: NoOptions) -> Iterator[Finding]:
        """Judge the functions that record events."""
        for ordered in functions_with(project, RECORDS):
            yield from self._function(ordered, context)

    def _function(self, ordered: Ordered, context: Context) -> Iterator[Finding]:
        launched: list[tuple[Call | Launch, str]] = [
            *ordered.launched(),
            *_driver_launches(ordered),
        ]
        for record, event, stream in ordered.records():
            if record.via_macro or null_stream(stream) or not _NAMED.fullmatch(stream):
                continue
            before = [pair for pair in launched if at(pair[0]) < at(record)]
            streams = [name for _, name in before]
            if not before or not all(_differ(name, stream) for name in streams):
                continue
            joined = any(waited == event for _, _, waited in ordered.waits())
            if joined or _used_otherwise(stream, record, ordered, context):
                continue
            launch, name = before[-1]
            yield self.report(
                "other",
                record.name_span,
                record.name,
                event,
                stream,
                context.models[ordered.path].functions[ordered.function].name,
                name,
                related=(Related(launch.use or launch.name_span, f"launch on '{name}'"),),
                confidence=Confidence.MEDIUM,
                extents=(record.statement,),
            )


def _driver_launches(ordered: Ordered) -> Iterator[tuple[Call, str]]:
    from cudalint.hostcode.streamorder import bare
    from cudalint.hostcode.streamwork import STREAM_AT

    for call in ordered.calls:
        if "Launch" in call.name and call.name in STREAM_AT:
            arguments = call.arguments
            if len(arguments) > STREAM_AT[call.name]:
                yield call, bare(arguments[STREAM_AT[call.name]].text)


def _differ(a: str, b: str) -> bool:
    """Whether two texts name two streams, and not perhaps the same one."""
    if null_stream(a) or not _NAMED.fullmatch(a):
        return False
    return re.split(r"[\[.>-]", a)[0] != re.split(r"[\[.>-]", b)[0]


def _used_otherwise(stream: str, record: Call, ordered: Ordered, context: Context) -> bool:
    """Whether the function names the stream but to make it, to end it, and to record on it."""
    bindings = context.bindings(ordered.path, ordered.function)
    if bindings is None:
        return True
    local = bindings.find(stream, at(record))
    if (
        local is not None
        and not local.parameter
        and not all("Create" in bindings.code[v.start - 60 : v.start] for v in local.values)
    ):
        return True
    known = [c for c in ordered.calls if c.name in RECORDS or _LIFE.search(c.name)]
    code = bindings.code
    for match in re.finditer(rf"(?<![\w.>]){re.escape(stream)}(?![\w.\[-])", code[: bindings.end]):
        place = match.start()
        if place < bindings.start or (
            local is not None and not local.parameter and place < local.start
        ):
            continue
        if not any(c.span.start <= place < c.span.end for c in known):
            return True
    return False
