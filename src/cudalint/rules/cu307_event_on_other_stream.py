"""CU307 event-on-other-stream."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cudalint.context import Context
from cudalint.finding import Confidence, Finding, Level, Related
from cudalint.hostcode.streamorder import (
    RECORDS,
    Ordered,
    Work,
    api_alone,
    at,
    functions_with,
)
from cudalint.hostcode.streams import null_stream
from cudalint.project.project import Project
from cudalint.regex import regex
from cudalint.rule import Example, NoOptions, ProjectRule
from cudalint.syntax.model import Call

_SPDX = "// SPDX-License-Identifier: MIT OR Apache-2.0\n"
_KERNEL = f"""\
{_SPDX}extern "C" __global__ void __launch_bounds__(32) k(float* o) {{ *o = 1.f; }}
"""
_NAMED = regex(r"[A-Za-z_][\w.>\[\]-]*")
_JUMPS = regex(r"[{}]|\b(?:if|else|for|while|do|switch|case|default|goto|return|break|continue)\b")
_LIFE = regex(r"(?:Stream|Event)(?:Create|Destroy)")


class EventOnOtherStream(ProjectRule):
    """An event is recorded on another stream than the work that it should mark.

    What it does
        Reports `cudaEventRecord(e, b)` after a launch or a copy on a stream `a`, in
        a function that does nothing else on `b`: no work, no wait, no other use of
        the name. Where the function makes `a` wait for the event, or passes `b`
        on, it is left alone. Also reports it where `b` has waited for an event,
        and all that follows up to the record is work on `a`: the new event is no
        later than the old one. Records on a null stream are CU302's business.

    Why it matters
        The event is complete before the kernel is. What waits for it reads
        results that are not there yet; what is timed with it is nothing.

    Example
            scale<<<grid, block, 0, compute>>>(out);
            cudaEventRecord(done, copy);

    How to fix
        Record on the stream of the work: `cudaEventRecord(done, compute)`; or
        make the other stream wait first, with `cudaStreamWaitEvent`.

    Sources
        The CUDA Runtime API, `cudaEventRecord`. Llaminar, profiling guide, on
        events.
    """

    code = "CU307"
    name = "event-on-other-stream"
    level = Level.ERROR
    messages = {
        "other": "'{0}' marks '{1}' on stream '{2}', on which '{3}' has no work, after work "
        "on '{4}'; record on the stream of the work.",
        "waited": "'{0}' marks '{1}' on stream '{2}', which has had no work since it waited for "
        "'{3}'; the work in between is on '{4}': put it on '{2}', or record there.",
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
            message="'cuEventRecord' marks 'e' on stream 't', on which 'run' has no work, after",
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
        Example(
            code=_KERNEL
            + """\
#define CHECK(x) do { if ((x) != cudaSuccess) throw 1; } while (0)
void step(float* a, float* o, cudaEvent_t ready, cudaEvent_t pushed, cudaStream_t main,
          cudaStream_t push) {
  k<<<1, 32, 0, main>>>(o);
  CHECK(cudaEventRecord(ready, main));
  CHECK(cudaStreamWaitEvent(push, ready, 0));
  CHECK(cudaMemcpyAsync(a, o, 4, cudaMemcpyDeviceToDevice, main));
  CHECK(cudaEventRecord(pushed, push));
        ~~~~~~~~~~~~~~~
  CHECK(cudaStreamWaitEvent(main, pushed, 0));
}
""",
            message="'push', which has had no work since it waited for 'ready'; the work in",
        ),
        Example(
            code=_KERNEL
            + """\
void fill(float* a, size_t n, cudaEvent_t done, cudaStream_t s, cudaStream_t t) {
  cudaMemsetAsync(a, 0, n, s);
  cudaEventRecord(done, t);
  ~~~~~~~~~~~~~~~
}
""",
        ),
    )
    VALID = (
        Example(
            code=_KERNEL
            + """\
struct Pipe {
  cudaStream_t compute_, copy_;
  cudaEvent_t done_;
  void upload(float* d, const float* h) { cudaMemcpyAsync(d, h, 4, cudaMemcpyDefault, copy_); }
  void run(float* o, const float* h) {
    k<<<1, 32, 0, compute_>>>(o);
    upload(o, h);
    cudaEventRecord(done_, copy_);
  }
};
""",
        ),
        Example(
            code=_KERNEL
            + """\
struct Op {
  cudaStream_t main_;
  cudaEvent_t e_;
  void run(float* o) {
    Op* self = this;
    k<<<1, 32, 0, self->main_>>>(o);
    cudaEventRecord(e_, main_);
  }
};
""",
        ),
        Example(
            code=_KERNEL
            + """\
void step(float* a, float* o, cudaEvent_t e, cudaEvent_t d, cudaStream_t s, cudaStream_t t,
          Library& library, bool both) {
  cudaEventRecord(e, s);
  cudaStreamWaitEvent(t, e, 0);
  k<<<1, 32, 0, s>>>(o);
  cudaMemcpyAsync(a, o, 4, cudaMemcpyDeviceToDevice, t);
  cudaEventRecord(d, t);
  cudaStreamWaitEvent(t, e, 0);
  k<<<1, 32, 0, s>>>(o);
  library.run(a);
  cudaEventRecord(d, t);
  cudaStreamWaitEvent(t, e, 0);
  if (both) k<<<1, 32, 0, s>>>(o);
  cudaEventRecord(d, t);
  cudaStreamWaitEvent(s, d, 0);
}
""",
        ),
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
        worked = [*ordered.launched(), *ordered.given_work()]
        for record, event, stream in ordered.records():
            if record.via_macro or null_stream(stream) or not _NAMED.fullmatch(stream):
                continue
            wait = _last_wait(stream, record, ordered)
            if wait is not None:
                between = [pair for pair in worked if at(wait[0]) < at(pair[0]) < at(record)]
                if _only_elsewhere(between, stream, wait[0], record, ordered, context):
                    yield self._found("waited", record, event, stream, wait[1], between[-1])
                continue
            before = [pair for pair in worked if at(pair[0]) < at(record)]
            if not before or not all(_differ(name, stream) for _, name in before):
                continue
            joined = any(waited == event for _, _, waited in ordered.waits())
            if joined or _used_otherwise(stream, record, ordered, context):
                continue
            name = context.models[ordered.path].functions[ordered.function].name
            last = max(before, key=lambda pair: at(pair[0]))
            yield self._found("other", record, event, stream, name, last)

    def _found(
        self, message: str, record: Call, event: str, stream: str, other: str, last: Work
    ) -> Finding:
        work, name = last
        return self.report(
            message,
            record.name_span,
            record.name,
            event,
            stream,
            other,
            name,
            related=(Related(work.use or work.name_span, f"work on '{name}'"),),
            confidence=Confidence.MEDIUM,
            extents=(record.statement,),
        )


def _last_wait(stream: str, record: Call, ordered: Ordered) -> tuple[Call, str] | None:
    """The last wait of a stream before a record, with the event that it waits for."""
    found = [
        (call, event)
        for call, waiting, event in ordered.waits()
        if waiting == stream and at(call) < at(record)
    ]
    return max(found, key=lambda pair: at(pair[0]), default=None)


def _only_elsewhere(
    between: list[Work],
    stream: str,
    wait: Call,
    record: Call,
    ordered: Ordered,
    context: Context,
) -> bool:
    """Whether what stands between a wait and a record, one after the other, is on other streams."""
    bindings = context.bindings(ordered.path, ordered.function)
    if bindings is None or not between or wait.via_macro:
        return False
    if not all(_differ(name, stream) for _, name in between):
        return False
    start, end = wait.statement.end, record.statement.start
    code = bindings.code[start:end]
    if _JUMPS.search(code) or re.search(rf"(?<![\w.>]){re.escape(stream)}(?!\w)", code):
        return False
    return api_alone([call for call in ordered.calls if start <= call.span.start < end])


def _differ(a: str, b: str) -> bool:
    """Whether two texts name two streams, and not perhaps the same one."""
    if null_stream(a) or not _NAMED.fullmatch(a):
        return False
    # `self->main` and `main` may be one member.
    one, other = (re.split(r"[\[.>-]+", text.partition("[")[0]) for text in (a, b))
    return one[0] != other[0] and one[-1] != other[-1]


def _used_otherwise(stream: str, record: Call, ordered: Ordered, context: Context) -> bool:
    """Whether the stream may be used otherwise than to make it, to end it, and to record on it.

    By name in this function; of a stream that is none of its own, by any function that it calls.
    """
    bindings = context.bindings(ordered.path, ordered.function)
    if bindings is None:
        return True
    local = bindings.find(stream, at(record))
    if (
        local is not None
        and not local.parameter
        and not all("Create" in bindings.code[max(v.start - 60, 0) : v.start] for v in local.values)
    ):
        return True
    earlier = [call for call in ordered.calls if at(call) < at(record)]
    if local is None and not api_alone(earlier):
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
