"""CU312 unjoined-fork."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.context import Context
from cudalint.finding import Confidence, Finding, Level, Related, Span
from cudalint.hostcode.streamorder import RECORDS, WAITS, Ordered, at, bare, functions_with
from cudalint.project.project import Project
from cudalint.regex import regex
from cudalint.rule import Example, NoOptions, ProjectRule
from cudalint.syntax.model import Call

_SPDX = "// SPDX-License-Identifier: MIT OR Apache-2.0\n"
_KERNEL = f"""\
{_SPDX}extern "C" __global__ void __launch_bounds__(32) k(float* o) {{ *o = 1.f; }}
"""
_LEAVES = regex(r"\b(?:return|throw)\b")
_LIFE = regex(r"Event(?:Create|Destroy|Query|ElapsedTime)")
_WAITING = (*WAITS, "cudaEventSynchronize", "cuEventSynchronize", "cudaEventQuery", "cuEventQuery")
_NAMES = regex(r"[A-Za-z_]\w*")
_INDEX = regex(r"\[[^\[\]]*\]")
_WAITS_FOR_ALL = ("cudaDeviceSynchronize", "cuCtxSynchronize")


class UnjoinedFork(ProjectRule):
    """Work that was forked to a side stream is not waited for on every way out.

    What it does
        Looks at functions in which a side stream waits for an event of the main
        stream, and an event is then recorded on the side stream. Reports the
        record when nothing waits for that event, and when the function can
        return or throw between the fork and the wait. Passing the event or the
        side stream to a function of the project afterwards counts as a wait.

    Why it matters
        The main stream goes on while the side stream still works on the same
        buffers, on the way that nobody tests. A capture that is not joined ends
        in an error.

    Example
            cudaEventRecord(fork, stream);
            cudaStreamWaitEvent(side, fork, 0);
            gate<<<grid, block, 0, side>>>(out);
            cudaEventRecord(join, side);
            if (n == 0) return;
            cudaStreamWaitEvent(stream, join, 0);

    How to fix
        Wait for the event before each return, or decide before the fork. A guard
        whose destructor waits covers errors too.

    Sources
        The CUDA C++ Programming Guide, "Cross-stream Dependencies and Events".
        Llaminar, profiling guide, on side streams.
    """

    code = "CU312"
    name = "unjoined-fork"
    level = Level.WARNING
    preview = True
    messages = {
        "never": "'{0}' marks work on the side stream '{1}' with '{2}', for which '{3}' never "
        "waits; let the main stream wait for it.",
        "early": "'{0}' marks work on the side stream '{1}' with '{2}', but '{3}' can leave before "
        "the main stream waits for it; wait on every way out.",
    }

    INVALID = (
        Example(
            code=_KERNEL
            + """\
void step(float* o, cudaStream_t s, cudaStream_t side, cudaEvent_t a, cudaEvent_t b) {
  cudaEventRecord(a, s);
  cudaStreamWaitEvent(side, a, 0);
  k<<<1, 32, 0, side>>>(o);
  cudaEventRecord(b, side);
  ~~~~~~~~~~~~~~~
}
""",
            message="'cudaEventRecord' marks work on the side stream 'side' with 'b', for which",
        ),
        Example(
            code=_KERNEL
            + """\
int step(float* o, int n, cudaStream_t s, cudaStream_t side, cudaEvent_t a, cudaEvent_t b) {
  cudaEventRecord(a, s);
  cudaStreamWaitEvent(side, a, 0);
  k<<<1, 32, 0, side>>>(o);
  cudaEventRecord(b, side);
  ~~~~~~~~~~~~~~~
  if (n == 0) return 1;
  cudaStreamWaitEvent(s, b, 0);
  return 0;
}
""",
            message="but 'step' can leave before the main stream waits for it; wait on every way",
        ),
        Example(
            code=_KERNEL
            + """\
#define CHECK(x) do { if ((x) != cudaSuccess) return; } while (0)
struct Op {
  cudaStream_t side_;
  cudaEvent_t a_, b_;
  void run(float* o, cudaStream_t s) {
    cudaEventRecord(a_, s);
    cudaStreamWaitEvent(this->side_, a_);
    k<<<1, 32, 0, side_>>>(o);
    if (cudaGetLastError() != cudaSuccess) throw 1;
    ::cudaEventRecord(b_, side_);
      ~~~~~~~~~~~~~~~
    cudaStreamWaitEvent(s, b_);
  }
};
""",
        ),
        Example(
            path="step.cpp",
            code="""\
void run(CUfunction f, void** a, CUstream s, CUstream t, CUevent e, CUevent d) {
  cuEventRecord(e, s);
  cuStreamWaitEvent(t, e, 0);
  cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, t, a, nullptr);
  cuEventRecord(d, t);
  ~~~~~~~~~~~~~
  cuEventDestroy(d);
}
""",
        ),
        Example(
            code=_KERNEL
            + """\
template <typename T>
void step(T* o, cudaStream_t s, cudaStream_t side, cudaEvent_t a, cudaEvent_t b, cudaEvent_t c) {
  (void)cudaEventRecord(a, s);
  (void)cudaStreamWaitEvent(side, a, 0);
  k<<<1, 32, 0, side>>>(o);
  (void)cudaEventRecord(b, side);
        ~~~~~~~~~~~~~~~
  (void)cudaStreamWaitEvent(s, c, 0);
}
""",
        ),
        Example(
            code=_KERNEL
            + """\
void step(float* o, cudaStream_t s, cudaStream_t* all, cudaEvent_t a, cudaEvent_t* done) {
  cudaEventRecord(a, s);
  cudaStreamWaitEvent(all[0], a, 0);
  k<<<1, 32, 0, all[0]>>>(o);
  cudaEventRecord(done[0], all[0]);
  ~~~~~~~~~~~~~~~
  // cudaStreamWaitEvent(s, done[0], 0);
}
""",
        ),
    )
    VALID = (
        Example(
            code=_KERNEL
            + """\
void step(float* o, int n, cudaStream_t s, cudaStream_t side, cudaEvent_t a, cudaEvent_t b) {
  if (n == 0) return;
  cudaEventRecord(a, s);
  cudaStreamWaitEvent(side, a, 0);
  k<<<1, 32, 0, side>>>(o);
  cudaEventRecord(b, side);
  cudaStreamWaitEvent(s, b, 0);
}
""",
        ),
        Example(
            code=_KERNEL
            + """\
struct Pool { cudaEvent_t done[4], freed; };
void acquire(Pool* p, int i) { cudaEventSynchronize(p->done[i]); }
void copy(float* o, Pool* p, cudaStream_t s, cudaStream_t side, cudaEvent_t a) {
  cudaStreamWaitEvent(side, p->freed, 0);
  cudaEventRecord(a, s);
  cudaStreamWaitEvent(side, a, 0);
  k<<<1, 32, 0, side>>>(o);
  cudaEventRecord(p->freed, side);
  cudaEventRecord(p->done[0], side);
}
static void join(cudaStream_t s, cudaEvent_t e) { cudaStreamWaitEvent(s, e, 0); }
void step(float* o, cudaStream_t s, cudaStream_t side, cudaEvent_t a, cudaEvent_t b) {
  cudaEventRecord(a, s);
  cudaStreamWaitEvent(side, a, 0);
  k<<<1, 32, 0, side>>>(o);
  cudaEventRecord(b, side);
  join(s, b);
  static cudaEvent_t kept = first();
  cudaEventRecord(kept, side);
}
""",
        ),
        Example(
            code=_KERNEL
            + """\
void mark(cudaStream_t s, cudaEvent_t e) { cudaEventRecord(e, s); }
void follow(cudaStream_t side, cudaEvent_t e) { cudaStreamWaitEvent(side, e, 0); }
""",
        ),
        Example(
            code=_KERNEL
            + """\
void step(float* o, cudaStream_t s, cudaStream_t side, cudaEvent_t a, cudaEvent_t b) {
  auto size = [](int n) { return n + 1; };
  cudaEventRecord(a, s);
  cudaStreamWaitEvent(side, a, 0);
  auto more = [&](int n) { return size(n); };
  k<<<more(1), 32, 0, side>>>(o);
  cudaEventRecord(b, side);
  cudaStreamWaitEvent(s, b, 0);
}
""",
        ),
        Example(
            code=_KERNEL
            + """\
#define WAIT(s, e) cudaStreamWaitEvent(s, e, 0)
void step(float* o, cudaStream_t s, cudaStream_t side, cudaEvent_t a, cudaEvent_t b) {
  cudaEventRecord(a, s);
  WAIT(side, a);
  k<<<1, 32, 0, side>>>(o);
  cudaEventRecord(b, side);
  WAIT(s, b);
}
""",
        ),
        Example(
            code=_KERNEL
            + """\
void chain(float* o, cudaStream_t s, cudaStream_t t, cudaEvent_t a, cudaEvent_t b, int n) {
  cudaEventRecord(a, s);
  cudaEventRecord(b, t);
  cudaStreamWaitEvent(s, b, 0);
  cudaStreamWaitEvent(t, b, 0);
  k<<<1, 32, 0, t>>>(o);
}
""",
        ),
        Example(
            code=_KERNEL
            + """\
struct Step {
  std::vector<cudaEvent_t> done_;
  cudaStream_t sides_[2];
  cudaEvent_t begin_;
  void run(float* o, cudaStream_t s) {
    cudaEventRecord(begin_, s);
    for (int i = 0; i < 2; ++i) {
      cudaStream_t side = sides_[i];
      cudaEvent_t done = done_[i];
      cudaStreamWaitEvent(side, begin_, 0);
      k<<<1, 32, 0, side>>>(o);
      cudaEventRecord(done, side);
    }
    for (auto& event : done_) {
      cudaStreamWaitEvent(s, event, 0);
    }
  }
};
void run(float* o, cudaStream_t s, cudaStream_t* side, cudaEvent_t a, cudaEvent_t* done, int n) {
  cudaEventRecord(a, s);
  for (int i = 0; i < n; ++i) {
    cudaStreamWaitEvent(side[i], a, 0);
    k<<<1, 32, 0, side[i]>>>(o);
    cudaEventRecord(done[i], side[i]);
  }
  for (int j = 0; j < n; ++j) cudaStreamWaitEvent(s, done[j], 0);
}
""",
        ),
    )

    def check(self, project: Project, context: Context, options: NoOptions) -> Iterator[Finding]:
        """Judge the functions in which a stream waits for an event."""
        for ordered in functions_with(project, WAITS):
            yield from self._function(ordered, context)

    def _function(self, ordered: Ordered, context: Context) -> Iterator[Finding]:
        records, waits = list(ordered.records()), list(ordered.waits())
        forks = [
            (wait, side)
            for wait, side, event in waits
            if any(e == event and s != side and at(r) < at(wait) for r, e, s in records)
        ]
        for record, event, stream in records:
            earlier = [w for w, side in forks if side == stream and at(w) < at(record)]
            if not earlier or record.via_macro or _outlives(event, record, ordered, context):
                continue
            joins = [at(c) for c in ordered.calls if _joins(c, record, event, stream)]
            joins += _joins_of_all(event, record, ordered, context)
            left = _way_out(ordered, at(earlier[0]), min(joins), context) if joins else None
            if left is None and (joins or _is_awaited(event, record, ordered, context)):
                continue
            yield self.report(
                "never" if left is None else "early",
                record.name_span,
                record.name,
                stream,
                event,
                context.models[ordered.path].functions[ordered.function].name,
                related=() if left is None else (Related(left, "leaves here"),),
                confidence=Confidence.MEDIUM,
                extents=(record.statement,),
            )


def _outlives(event: str, record: Call, ordered: Ordered, context: Context) -> bool:
    """Whether the next call of the function may wait for the event.

    For a local static, and where the function has waited for it before.
    """
    if any(waited == event and at(wait) < at(record) for wait, _, waited in ordered.waits()):
        return True
    bindings = context.bindings(ordered.path, ordered.function)
    named = _NAMES.findall(event)
    local = bindings.find(named[0], at(record)) if bindings and named else None
    return local is not None and "static" in local.type.split()


def _joins_of_all(event: str, record: Call, ordered: Ordered, context: Context) -> list[int]:
    """Where a loop makes somebody wait for all events of the container that `event` is out of."""
    containers = {_last(event)} if "[" in event else set()
    bindings = context.bindings(ordered.path, ordered.function)
    local = bindings.find(_NAMES.findall(event)[0], at(record)) if bindings else None
    if bindings and local is not None:
        values = [bindings.code[value.start : value.end] for value in local.values]
        containers |= {_last(value) for value in values if "[" in value}
    if not containers:
        return []
    found = []
    for branch in context.models[ordered.path].branches:
        if branch.keyword not in ("for", "while", "do"):
            continue
        of_all = branch.condition.rpartition(":")[2] if branch.keyword == "for" else ""
        for wait, _, waited in ordered.waits():
            if at(wait) > at(record) and branch.span.covers(at(wait)):
                over = _last(waited) if "[" in waited else _last(of_all)
                found += [at(wait)] if over in containers else []
    return found


def _is_awaited(event: str, record: Call, ordered: Ordered, context: Context) -> bool:
    """Whether another function waits for the member that the event is."""
    bindings = context.bindings(ordered.path, ordered.function)
    local = bindings.find(_NAMES.findall(event)[0], at(record)) if bindings else None
    if local is not None and "." not in event and "->" not in event:
        return False
    return any(
        call.function >= 0
        and (call.span.path, call.function) != (record.span.path, record.function)
        and any(_last(argument.text) == _last(event) for argument in call.arguments)
        for call in context.project.hot_path.calls(_WAITING)
    )


def _last(expression: str) -> str:
    """The member that an expression ends in: `done` of `p->pool[i].done`, of `done[i]` too."""
    names = _NAMES.findall(_INDEX.sub("", expression))
    return names[-1] if names else ""


def _joins(call: Call, record: Call, event: str, stream: str) -> bool:
    """Whether `call` makes somebody wait for the event, or may do so."""
    if at(call) <= at(record) or call.name in RECORDS or _LIFE.search(call.name):
        return False
    if call.name in _WAITS_FOR_ALL:
        return True
    given = {bare(argument.text).lstrip("&*") for argument in call.arguments}
    if call.name in WAITS:
        return event in given and bare(call.arguments[0].text) != stream
    return event in given or ("ynchronize" in call.name and stream in given)


def _way_out(ordered: Ordered, start: int, end: int, context: Context) -> Span | None:
    """The first `return` or `throw` of the function, lambdas aside, between two places."""
    model = context.models[ordered.path]
    lambdas = [f.span for f in model.functions if f.lambda_ and start <= f.span.start < end]
    for match in _LEAVES.finditer(context.code(ordered.path), start, end):
        if not any(span.covers(match.start()) for span in lambdas):
            return Span(ordered.path, match.start(), match.end())
    return None
