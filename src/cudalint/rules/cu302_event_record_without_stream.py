"""CU302 event-record-without-stream."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from cudalint.context import Context
from cudalint.finding import Edit, Finding, Fix, Level, Span
from cudalint.project.expansion import Place, places
from cudalint.project.nullnames import NullNames
from cudalint.rule import Example, FileRule, FixSafety, NoOptions
from cudalint.syntax.model import Call, FileModel

_SPDX = "// SPDX-License-Identifier: MIT OR Apache-2.0\n"
_OPTIONAL = frozenset({"cudaEventRecord", "cudaEventRecordWithFlags"})
_RECORDS = _OPTIONAL | {"cuEventRecord", "cuEventRecordWithFlags"}


class _Verdict(msgspec.Struct, frozen=True):
    """What is wrong with one record: a message, the offending text, what a fix replaces."""

    message: str
    written: str
    replaced: Span | None
    inserted_at: int


class EventRecordWithoutStream(FileRule):
    """An event is recorded on no stream, or on the null stream.

    What it does
        Reports `cudaEventRecord` and `cudaEventRecordWithFlags` with the stream
        left out, and these and the driver's `cuEventRecord` with a null stream,
        however that is spelt: `0`, `NULL`, `nullptr`, `{}`,
        `cudaStreamDefault`, `cudaStreamLegacy`, `CU_STREAM_LEGACY`, a cast of one
        of them, or a macro or constant that stands for one. It does so
        everywhere, tests and trainers included, and through check macros.
        Methods and other functions of that name are left alone, and so is
        `cudaStreamPerThread`.

    Why it matters
        The legacy stream waits for all work of the blocking streams and holds
        up what comes after. The event then marks a point that no stream of the
        program has, and what is measured between two such events is not the
        kernel that was launched between them.

    Example
            cudaEventRecord(start);
            scale<<<grid, block, 0, stream>>>(out);
            cudaEventRecord(stop, 0);

    How to fix
        Pass the stream whose work the event marks:
        `cudaEventRecord(start, stream)`. Where exactly one stream variable is in
        scope, the unsafe fix passes it.

    Sources
        The CUDA Runtime API, `cudaEventRecord` and "Stream synchronization
        behavior". Llaminar, profiling guide: `cudaEventRecord(start)` without a
        stream argument is a bug.
    """

    code = "CU302"
    name = "event-record-without-stream"
    level = Level.ERROR
    fix = FixSafety.UNSAFE
    messages = {
        "omitted": "'{0}' leaves out the stream, so the event marks the legacy stream; "
        "pass the stream whose work it marks.",
        "zero": "'{0}' records on stream '{1}', the null stream; "
        "pass the stream whose work the event marks.",
        "null": "'{0}' records on '{1}', a zero that means the null stream; "
        "pass the stream whose work the event marks.",
        "nullptr": "'{0}' records on '{1}', which is the null stream; "
        "pass the stream whose work the event marks.",
        "flag": "'{0}' is given '{1}', a flag for making streams that here means the null stream; "
        "pass the stream whose work the event marks.",
        "braces": "'{0}' is given '{1}', an empty handle, which is the null stream; "
        "pass the stream whose work the event marks.",
        "legacy": "'{0}' records on '{1}', the legacy stream that all blocking streams wait for; "
        "pass the stream whose work the event marks.",
        "cast": "'{0}' is given '{1}', a null stream behind a cast; "
        "pass the stream whose work the event marks.",
    }

    INVALID = (
        Example(
            code="""\
#define CHECK(x) do { if ((x) != cudaSuccess) return; } while (0)
void time_it(cudaEvent_t e, cudaStream_t stream) {
  cudaEventRecord(e);
  ~~~~~~~~~~~~~~~
  CHECK(cudaEventRecord(e, 0));
        ~~~~~~~~~~~~~~~
  (void)::cudaEventRecordWithFlags(
          ~~~~~~~~~~~~~~~~~~~~~~~~
      e);
}
""",
            message="'cudaEventRecord' leaves out the stream, so the event marks the legacy",
            fixed="""\
#define CHECK(x) do { if ((x) != cudaSuccess) return; } while (0)
void time_it(cudaEvent_t e, cudaStream_t stream) {
  cudaEventRecord(e, stream);
  CHECK(cudaEventRecord(e, stream));
  (void)::cudaEventRecordWithFlags(
      e, stream);
}
""",
        ),
        Example(
            code="""\
void time_it(cudaEvent_t e, cudaStream_t a, cudaStream_t b) {
  auto status = cudaEventRecord(e, nullptr);
                ~~~~~~~~~~~~~~~
  status = cudaEventRecord(e, {});
           ~~~~~~~~~~~~~~~
  status = cudaEventRecord(e, cudaStreamDefault);
           ~~~~~~~~~~~~~~~
  if (status == cudaSuccess) cudaEventRecord(e, NULL);
                             ~~~~~~~~~~~~~~~
#define NO_STREAM ((cudaStream_t)0)
  cudaEventRecord(e, NO_STREAM);
  ~~~~~~~~~~~~~~~
}
""",
            message="'cudaEventRecord' records on 'nullptr', which is the null stream;",
        ),
        Example(
            code="""\
void time_it(cudaEvent_t e) {
  cudaEventRecord(e, (cudaStream_t)0);
  ~~~~~~~~~~~~~~~
  cudaEventRecord(e, static_cast<cudaStream_t>(nullptr));
  ~~~~~~~~~~~~~~~
  cudaEventRecord(e, /* stream */ cudaStream_t(0));
  ~~~~~~~~~~~~~~~
  cudaEventRecordWithFlags(e, cudaStream_t{}, cudaEventRecordDefault);
  ~~~~~~~~~~~~~~~~~~~~~~~~
  cudaEventRecord(e, cudaStreamLegacy);
  ~~~~~~~~~~~~~~~
  cuEventRecord(e, CU_STREAM_LEGACY);
  ~~~~~~~~~~~~~
  cuEventRecord(e, (CUstream)0x1);
  ~~~~~~~~~~~~~
}
""",
            message="'cudaEventRecord' is given '(cudaStream_t)0', a null stream behind a cast;",
        ),
        Example(
            code="""\
#include "streams.h"
namespace none { const cudaStream_t kZero(0); }
void time_it(cudaEvent_t e) {
  static constexpr cudaStream_t a = nullptr, b = {};
  cudaEventRecord(e, kNoStream);
  ~~~~~~~~~~~~~~~
  cudaEventRecord(e, none::kZero);
  ~~~~~~~~~~~~~~~
  cudaEventRecord(e, NO_STREAM);
  ~~~~~~~~~~~~~~~
  auto later = [=] { return cudaEventRecord(e, b); };
                            ~~~~~~~~~~~~~~~
  cudaEventRecord(e, __null);
  ~~~~~~~~~~~~~~~
}
""",
            files={
                "streams.h": "#pragma once\n#define NO_STREAM nullptr\n"
                "inline constexpr cudaStream_t kNoStream = nullptr;\n"
            },
            message="'cudaEventRecord' records on 'kNoStream', which is the null stream;",
        ),
        Example(
            code="""\
#define MARK(e) cudaEventRecord(e)
                ~~~~~~~~~~~~~~~
void time_it(cudaEvent_t a, cudaEvent_t b, cudaStream_t s) { MARK(a); MARK(b); }
""",
        ),
        Example(
            code="""\
#define MARK(e, s) cudaEventRecord(e, s)
void time_it(cudaEvent_t e, cudaStream_t s) {
  MARK(e, s);
  MARK(e, 0);
  ~~~~~~~~~~
}
""",
            message="'cudaEventRecord' records on stream '0', the null stream;",
        ),
        Example(
            path="tests/timer.cpp",
            code="""\
struct Timer {
  cudaEvent_t start;
  cudaStream_t stream;
  void begin() {
    { cudaStream_t local = stream; (void)local; }
    auto mark = [this] { cudaEventRecord(start, 0); };
                         ~~~~~~~~~~~~~~~
    mark();
  }
};
""",
            fixed="""\
struct Timer {
  cudaEvent_t start;
  cudaStream_t stream;
  void begin() {
    { cudaStream_t local = stream; (void)local; }
    auto mark = [this] { cudaEventRecord(start, stream); };
    mark();
  }
};
""",
        ),
        Example(
            code="""\
#ifdef TIMING
template <typename F> float time_it(F f, cudaEvent_t a) {
  for (cudaStream_t s : f.streams()) { f(s); }
  cudaEventRecord(a, 0L);
  ~~~~~~~~~~~~~~~
  return 0.f;
}
#endif
""",
            message="'cudaEventRecord' records on stream '0L', the null stream;",
        ),
    )
    VALID = (
        Example(
            code=_SPDX
            + """\
void time_it(cudaEvent_t e, cudaStream_t s) {
  cudaEventRecord(e, s);
  cudaEventRecordWithFlags(e, s, cudaEventRecordExternal);
  cudaEventRecord(e, cudaStreamPerThread);
}
""",
        ),
        Example(
            code=_SPDX
            + """\
constexpr cudaStream_t kStream = nullptr;
cudaStream_t current = nullptr;
const cudaStream_t kOwn = current;
void first(cudaEvent_t e, cudaStream_t kStream) {
  constexpr cudaStream_t none = nullptr;
  cudaEventRecord(e, kStream);
  (void)none;
}
void second(cudaEvent_t e, cudaStream_t none) {
  cudaEventRecord(e, none);
  cudaEventRecord(e, current);
  cudaEventRecord(e, kOwn);
}
""",
        ),
        Example(
            code=_SPDX
            + """\
struct Event { void record() {} };
struct Api { void cudaEventRecord(int) {} void both() { cudaEventRecord(1); } };
void f(Event& e, Api* a) {
  e.record();
  a->cudaEventRecord(1);
}
""",
        ),
        Example(
            path="api.cpp",
            code=_SPDX + '#include "api.h"\nvoid Api::both() { cudaEventRecord(1); }\n',
            files={
                "api.h": _SPDX
                + "#pragma once\nstruct Api { void cudaEventRecord(int); void both(); };\n"
            },
        ),
        Example(
            code=_SPDX
            + """\
namespace mock { inline void cudaEventRecord(int) {} }
void f() { mock::cudaEventRecord(1); }
cudaError_t cudaEventRecord(int e);
""",
        ),
        Example(
            code=_SPDX
            + """\
// cudaEventRecord(e);
const char* kText = "cudaEventRecord(e)";
const char* kRaw = R"(cudaEventRecord(e, 0);)";
#if 0
void old(cudaEvent_t e) { cudaEventRecord(e); }
#endif
""",
        ),
        Example(
            code=_SPDX
            + """\
#define MARK(e, s) cudaEventRecord(e, s)
#define MARK_ALL(...) cudaEventRecord(__VA_ARGS__)
void f(cudaEvent_t e, cudaStream_t s) {
  MARK(e, s);
  MARK_ALL(e, s);
}
""",
        ),
        Example(
            code=_SPDX
            + """\
template <typename... Args> void mark(cudaEvent_t e, Args... args) { cudaEventRecord(e, args...); }
cudaStream_t pick(int);
void f(cudaEvent_t e, cudaStream_t* streams) {
  cudaEventRecord(e, pick(0));
  cudaEventRecord(e, streams[0]);
  cudaEventRecord(e, (cudaStream_t)streams[1]);
}
""",
        ),
    )

    def check(self, file: FileModel, context: Context, options: NoOptions) -> Iterator[Finding]:
        """Judge every call that records an event."""
        calls = [call for call in file.calls if call.name in _RECORDS and not call.receiver]
        if not calls:
            return
        names = NullNames(context)
        seen = (file, *map(context.models.__getitem__, context.project.includes.closure(file.path)))
        methods = {
            (f.owner, f.name)
            for model in seen
            for f in model.functions
            if f.owner and f.name in _RECORDS
        }

        def judge(call: Call) -> _Verdict | None:
            return None if _is_other(call, file, methods) else _verdict(call, names)

        for place in places(calls, judge, lambda call: judge(call) is not None):
            yield self._found(place, file, context)

    def _found(self, place: Place[Call, _Verdict], file: FileModel, context: Context) -> Finding:
        call, verdict = place.record, place.verdict
        arguments = (call.name,) if verdict.message == "omitted" else (call.name, verdict.written)
        return self.report(
            verdict.message,
            place.span,
            *arguments,
            related=place.related,
            fix=None if call.via_macro else _fix(call, verdict, file, context),
            extents=(call.statement, *place.uses),
        )


def _is_other(call: Call, file: FileModel, methods: set[tuple[str, str]]) -> bool:
    """Whether the name means a function of another class or namespace."""
    if call.callee.removeprefix("::") != call.name:
        return True
    owner = file.functions[call.function].owner if call.function >= 0 else ""
    return call.callee == call.name and (owner, call.name) in methods


def _verdict(call: Call, names: NullNames) -> _Verdict | None:
    arguments = call.arguments
    if any(a.text.endswith("...") or a.text == "__VA_ARGS__" for a in arguments):
        return None
    if len(arguments) == 1 and call.name in _OPTIONAL:
        return _Verdict("omitted", "", None, arguments[0].span.end)
    if len(arguments) < 2:
        return None
    stream = arguments[1]
    kind = names.kind(stream.text, call)
    return _Verdict(kind, stream.text, stream.span, stream.span.start) if kind else None


def _fix(call: Call, verdict: _Verdict, file: FileModel, context: Context) -> Fix | None:
    """Passes the only stream in scope."""
    from cudalint.project.scopes import streams_in_scope

    names = streams_in_scope(call, file, context)
    if len(names) != 1:
        return None
    if verdict.replaced is not None:
        edit = Edit(verdict.replaced, names[0])
    else:
        at = verdict.inserted_at
        edit = Edit(Span(file.path, at, at), f", {names[0]}")
    return Fix(f"Record on '{names[0]}'", (edit,), safe=False)
