"""CU313 nullable-stream."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cudalint.context import Context
from cudalint.devicecode.devicecode import device_only
from cudalint.finding import Finding, Level, Related, Span
from cudalint.hostcode.streams import is_stream_type, null_stream
from cudalint.regex import regex
from cudalint.rule import Example, FileRule, NoOptions
from cudalint.syntax.model import FileModel, Function

_SPDX = "// SPDX-License-Identifier: MIT OR Apache-2.0\n"
_RETURN = regex(r"\breturn\b(?P<value>[^;{}]{0,120}(?:\{\s*\}\s*)?);")
_CHOICE = regex(
    r"(?<![\w.>])(?P<name>[A-Za-z_][\w.]*(?:->\w+)*)\s*(?:!=\s*(?:nullptr|NULL|0)\s*)?\?\s*"
    r"(?P=name)\s*:\s*(?P<other>(?:\(\s*[\w:]+\s*\)\s*)?[\w:]+(?:\s*[({][^;(){}]*[)}])?)"
)
_STREAMS = (b"cudaStream_t", b"CUstream")


class NullableStream(FileRule):
    """A stream may be null without anyone having said so.

    What it does
        Reports a stream parameter whose default argument is the null stream, a
        function that returns a stream and may return a null one, and
        `s ? s : 0`. A function that throws where it has no stream is left alone,
        and so is a fallback to a stream that has a name.

    Why it matters
        Whoever leaves the argument out, or asks before the stream is there, gets
        the legacy stream, which makes all streams take turns, and nothing tells
        him.

    Example
            void scale(float* out, int n, cudaStream_t stream = 0);

    How to fix
        Ask for the stream: no default argument. Let a function that finds none
        throw, or fall back to a stream that the program made.

    Sources
        Llaminar, profiling guide, on streams. The CUDA Runtime API, "Stream
        synchronization behavior".
    """

    code = "CU313"
    name = "nullable-stream"
    level = Level.NOTE
    messages = {
        "default": "The stream '{0}' of '{1}' is '{2}', the null stream, when it is left out; "
        "ask for it.",
        "returned": "'{0}' may return '{1}', the null stream; throw, or return a stream that the "
        "program made.",
        "choice": "'{0}' falls back to '{1}', the null stream; throw, or fall back to a stream "
        "that the program made.",
    }

    INVALID = (
        Example(
            path="scale.h",
            code="""\
#pragma once
void scale(float* out, int n, cudaStream_t stream = 0);
                              ~~~~~~~~~~~~~~~~~~~~~~~
struct Op { void run(float* out, const cudaStream_t s = nullptr) const; };
                                 ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
""",
            message="The stream 'stream' of 'scale' is '0', the null stream, when it is left out;",
        ),
        Example(
            code="""\
struct Pool {
  cudaStream_t streams[4];
  cudaStream_t at(int i) {
               ~~
    if (i >= 4) return nullptr;
    return streams[i];
  }
};
""",
            message="'at' may return 'nullptr', the null stream; throw, or return a stream that",
        ),
        Example(
            code="""\
void use(cudaStream_t s);
void step(cudaStream_t stream, cudaStream_t other) {
  use(stream ? stream : 0);
      ~~~~~~~~~~~~~~~~~~~
  cudaStream_t chosen = other != nullptr ? other : cudaStreamLegacy;
                        ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  use(chosen);
}
""",
            message="'stream ? stream : 0' falls back to '0', the null stream; throw, or fall",
        ),
        Example(
            code="""\
template <typename T>
void scale(T* out, CUstream stream = (CUstream) 0, int n = 0) { (void)out; }
                   ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
""",
        ),
        Example(
            code="""\
struct Context { cudaStream_t s; bool ready; };
static inline cudaStream_t resolve(const Context* c) {
                           ~~~~~~~
  // nothing yet
  if (c == NULL || !c->ready) { return static_cast<cudaStream_t>(0); }
  return c->s;
}
cudaStream_t none() { return {}; }
             ~~~~
""",
        ),
        Example(
            code="""\
struct Op {
  explicit Op(int n, cudaStream_t stream = cudaStreamDefault) : s_(stream ? stream : nullptr) {}
                     ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
                                                                   ~~~~~~~~~~~~~~~~~~~~~~~~~
  cudaStream_t s_;
  cudaStream_t get() const { return s_ ? s_ : nullptr; }
                                    ~~~~~~~~~~~~~~~~~
};
""",
        ),
    )
    VALID = (
        Example(
            path="scale.h",
            code=_SPDX
            + """\
#pragma once
void scale(float* out, int n, cudaStream_t stream);
void fill(float* out, int n = 0, cudaStream_t stream = cudaStreamPerThread);
void both(float* out = nullptr, cudaEvent_t e = nullptr, cudaStream_t* all = nullptr);
""",
        ),
        Example(
            path="pool.h",
            code=_SPDX
            + """\
#pragma once
struct Pool {
  cudaStream_t s_, fallback_;
  cudaStream_t get() const { if (!s_) throw 1; return s_; }
  cudaStream_t pick(cudaStream_t s) const { return s ? s : fallback_; }
};
""",
        ),
        Example(
            path="other.h",
            code=_SPDX
            + """\
#pragma once
inline float* pointer(bool ok, float* p) { if (!ok) return nullptr; return p; }
inline int choose(int n, cudaStream_t s) { return n ? n : 0; }
""",
        ),
        Example(
            path="pick.h",
            code=_SPDX
            + """\
#pragma once
inline cudaStream_t pick(cudaStream_t s) {
  auto count = [](float* p) -> float* { if (!p) return nullptr; return p; };
  (void)count;
  return s;
}
""",
        ),
        Example(
            path="text.h",
            code=_SPDX
            + """\
#pragma once
// void scale(float* out, cudaStream_t stream = 0);
inline cudaStream_t same(cudaStream_t s) {
  // return nullptr;
  const char* text = "return nullptr;";
#if 0
  return nullptr;
#endif
  return text ? s : s;
}
""",
        ),
        Example(
            path="checked.h",
            code=_SPDX
            + """\
#pragma once
cudaStream_t find(int device);
inline cudaStream_t stream_of(int device, cudaStream_t s) {
  if (device < 0) throw device;
  return s ? s : find(device);
}
""",
        ),
    )

    def check(self, file: FileModel, context: Context, options: NoOptions) -> Iterator[Finding]:
        """Judge parameters, then the bodies of functions that have to do with streams."""
        data = context.sources[file.path].data
        if not any(word in data for word in _STREAMS):
            return
        for function in file.functions:
            if function.via_macro or device_only(file, function.index):
                continue
            yield from self._parameters(function)
            body = function.body
            if body is None or function.lambda_:
                continue
            choices = list(self._choices(function, file, context))
            yield from choices
            if is_stream_type(function.return_type) and not choices:
                yield from self._returns(function, body, file, context)

    def _parameters(self, function: Function) -> Iterator[Finding]:
        for parameter in function.parameters:
            default = (parameter.default or "").strip()
            if default and is_stream_type(parameter.type) and null_stream(default):
                yield self.report(
                    "default",
                    parameter.span,
                    parameter.name,
                    function.name,
                    default,
                    extents=(function.head,),
                )

    def _returns(
        self, function: Function, body: Span, file: FileModel, context: Context
    ) -> Iterator[Finding]:
        lambdas = [f.span for f in file.functions if f.lambda_ and body.covers(f.span.start)]
        for match in _RETURN.finditer(context.code(file.path), body.start, body.end):
            value = " ".join(match["value"].split())
            inside = any(span.covers(match.start()) for span in lambdas)
            if value and not inside and null_stream(value):
                place = Span(file.path, match.start(), match.end())
                yield self.report(
                    "returned",
                    function.name_span,
                    function.name,
                    value,
                    related=(Related(place, "returned here"),),
                    extents=(function.head, place),
                )
                return

    def _choices(self, function: Function, file: FileModel, context: Context) -> Iterator[Finding]:
        body = function.body
        data = context.sources[file.path].data
        if body is None or data.find(b"?", function.head.start, body.end) < 0:
            return
        streams = {p.name for p in function.parameters if is_stream_type(p.type)}
        streams |= {v.name for v in file.variables if is_stream_type(v.type)}
        streams |= {m.name for s in file.structs for m in s.members if is_stream_type(m.type)}
        # The code is read only where one of them is spoken of.
        start, end = function.head.start, body.end
        if all(data.find(name.encode(), start, end) < 0 for name in streams):
            return
        code = context.code(file.path)
        for match in _CHOICE.finditer(code, function.head.start, body.end):
            last = re.split(r"\.|->", match["name"])[-1]
            if last in streams and null_stream(match["other"]):
                place = Span(file.path, match.start(), match.end())
                text = " ".join(match.group().split())
                yield self.report("choice", place, text, match["other"], extents=(place,))
