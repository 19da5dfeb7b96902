"""CU303 default-stream-launch."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.context import Context
from cudalint.finding import Finding, Level
from cudalint.hostcode.streamwork import API_CALLS, NullStream, StreamWork
from cudalint.project.expansion import Place, places
from cudalint.project.project import Project
from cudalint.rule import Example, NoOptions, ProjectRule
from cudalint.syntax.model import Call, Launch

_SPDX = "// SPDX-License-Identifier: MIT OR Apache-2.0\n"
_KERNEL = f"""\
{_SPDX}extern "C" __global__ void __launch_bounds__(32) k(float* o) {{ *o = 1.f; }}
"""


class DefaultStreamLaunch(ProjectRule):
    """Work is given to no stream, or to the null one.

    What it does
        Reports launches `<<<grid, block>>>` without a stream or with a null one
        (`0`, `NULL`, `nullptr`, `{}`, `cudaStreamDefault`, `cudaStreamLegacy`,
        casts of these, a local that is made null and stays so); the same for
        `cudaLaunchKernel`, `cuLaunchKernel`, graph launches, and asynchronous
        copies and fills; for launches with a configuration that the function fills
        itself and leaves without a stream; and a literal null passed as a stream to a function of
        the project. Functions that bind or unbind a stream (`setStream(nullptr)`)
        are left alone, and so is `cudaStreamPerThread`.

    Why it matters
        The legacy stream waits for all work of the blocking streams and holds
        up what comes after, so one such launch makes all streams take turns. It
        can't be captured into a graph.

    Example
            scale<<<grid, block>>>(out);
            cudaMemsetAsync(out, 0, bytes);

    How to fix
        Pass the stream that the function was given:
        `scale<<<grid, block, 0, stream>>>(out)`.

    Sources
        Llaminar, profiling guide, on streams. The CUDA Runtime API, "Stream
        synchronization behavior". nvcc says the same of missing streams with
        `-Wdefault-stream-launch`.
    """

    code = "CU303"
    name = "default-stream-launch"
    level = Level.WARNING
    messages = {
        "launch": "The launch of '{0}' names no stream, so it runs on the legacy one; "
        "pass a stream.",
        "launch-null": "The launch of '{0}' is on '{1}', the null stream; pass a stream.",
        "call": "'{0}' names no stream, so it runs on the legacy one; pass a stream.",
        "call-null": "'{0}' is given '{1}', the null stream; pass a stream.",
        "parameter": "'{0}' is given '{1}', the null stream, as its '{2}'; pass a stream.",
    }

    INVALID = (
        Example(
            code=_KERNEL
            + """\
void step(float* o, cudaStream_t s, dim3 g) {
  k<<<g, 32>>>(o);
  ~
  k<<<g, 32, 0>>>(o);
  ~
  k<<<g, 32, 0, 0>>>(o);
  ~
  k<<<dim3(1, 2),
  ~
      dim3(32, 1, 1)>>>(o);
}
""",
            message="The launch of 'k' names no stream, so it runs on the legacy one; pass a",
        ),
        Example(
            code=_KERNEL
            + """\
void step(float* o, cudaStream_t s) {
  k<<<1, 32, 0, nullptr>>>(o);
  ~
  k<<<1, 32, 0, {}>>>(o);
  ~
  k<<<1, 32, 0, (cudaStream_t)0>>>(o);
  ~
  ::k<<<1, 32, 0, static_cast<cudaStream_t>(NULL)>>>(o);
    ~
  k<<<1, 32, 0, cudaStreamLegacy>>>(o);
  ~
  k<<<1, 32, 0, kNone>>>(o);
  ~
}
constexpr cudaStream_t kNone = nullptr;
""",
            message="The launch of 'k' is on 'nullptr', the null stream; pass a stream.",
        ),
        Example(
            code=_SPDX
            + """\
template <int N> __global__ void __launch_bounds__(32) t(float* o) { *o = N; }
#define RUN(N) t<N><<<1, 32>>>(o)
               ~
#define RUN_ON(N, s) t<N><<<1, 32, 0, s>>>(o)
void step(float* o, cudaStream_t s, int n) {
  if (n == 1) RUN(1); else RUN(2);
  RUN_ON(3, s);
  RUN_ON(4, 0);
  ~~~~~~~~~~~~
  auto fn = t<4>;
  fn<<<1, 32>>>(o);
  ~~
}
""",
        ),
        Example(
            code=_KERNEL
            + """\
#define CHECK(x) do { if ((x) != cudaSuccess) throw 1; } while (0)
void step(float* o, float* h, cudaStream_t s) {
  CHECK(cudaMemsetAsync(o, 0, 4));
        ~~~~~~~~~~~~~~~
  (void)::cudaMemcpyAsync(o, h, 4, cudaMemcpyDeviceToDevice, 0);
          ~~~~~~~~~~~~~~~
  void* a[] = {&o};
  auto status = cudaLaunchKernel((void*)k, dim3(1), dim3(32), a, 0, nullptr);
                ~~~~~~~~~~~~~~~~
}
""",
            message="'cudaMemsetAsync' names no stream, so it runs on the legacy one; pass a",
        ),
        Example(
            code=_KERNEL
            + """\
void enqueue(float* o, cudaStream_t stream) { k<<<1, 32, 0, stream>>>(o); }
struct Op { void forward(float* o, int n, cudaStream_t stream); };
void step(float* o, Op& op) {
  enqueue(o, nullptr);
  ~~~~~~~
  op.forward(o, 0, 0);
     ~~~~~~~
}
""",
            message="'enqueue' is given 'nullptr', the null stream, as its 'stream'; pass a",
        ),
        Example(
            code=_KERNEL
            + """\
void step(float* o) {
  cudaStream_t none = nullptr;
  k<<<1, 32, 0, none>>>(o);
  ~
  const cudaStream_t zero{};
  auto body = [&] { k<<<1, 32, 0, zero>>>(o); };
                    ~
  body();
#define NO_STREAM 0
  k<<<1, 32, 0, NO_STREAM>>>(o);
  ~
}
""",
        ),
        Example(
            path="tests/replay.cpp",
            code="""\
void replay(CUfunction f, cudaGraphExec_t g, void** a) {
  cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, 0, a, nullptr);
  ~~~~~~~~~~~~~~
  cudaGraphLaunch(g, cudaStreamDefault);
  ~~~~~~~~~~~~~~~
}
""",
            message="'cuLaunchKernel' is given '0', the null stream; pass a stream.",
        ),
        Example(
            code=_KERNEL
            + """\
#define CHECK(x) do { if ((x) != cudaSuccess) throw 1; } while (0)
void step(float* o, cudaLaunchAttribute* a, void** args) {
  cudaLaunchConfig_t never = {0};
  never.gridDim = 1;
  never.attrs = a;
  cudaLaunchKernelEx(&never, k, o);
  ~~~~~~~~~~~~~~~~~~
  cudaLaunchConfig_t config;
  memset(&config, 0, sizeof(config));
  config.stream = nullptr;
  CHECK(cudaLaunchKernelExC(&config, (void*)k, args));
        ~~~~~~~~~~~~~~~~~~~
  CUlaunchConfig drivers{1, 1, 1, 32, 1, 1, 0, 0, nullptr, 0};
  cuLaunchKernelEx(&drivers, nullptr, args, nullptr);
  ~~~~~~~~~~~~~~~~
  cudaLaunchConfig_t named{.gridDim = 1, .blockDim = 32};
  cudaLaunchKernelEx(&named, k, o);
  ~~~~~~~~~~~~~~~~~~
}
""",
            message="'cudaLaunchKernelEx' names no stream, so it runs on the legacy one; pass a",
        ),
    )
    VALID = (
        Example(
            code=_KERNEL
            + """\
void step(float* o, cudaStream_t s, dim3 g, cudaStream_t* all) {
  k<<<g, 32, 0, s>>>(o);
  k<<<dim3(1, 2), dim3(32), 0, all[0]>>>(o);
  k<<<g, 32, 0, cudaStreamPerThread>>>(o);
  cudaMemsetAsync(o, 0, 4, s);
}
""",
        ),
        Example(
            code=_KERNEL
            + """\
void pick(cudaStream_t& s);
void step(float* o, cudaStream_t given) {
  cudaStream_t a = nullptr, b = 0;
  a = given;
  pick(b);
  k<<<1, 32, 0, a>>>(o);
  k<<<1, 32, 0, b>>>(o);
}
""",
        ),
        Example(
            code=_KERNEL
            + """\
void fill(cudaLaunchConfig_t* c);
cudaLaunchConfig_t made();
struct Op { cudaLaunchConfig_t config; void run(float* o) { cudaLaunchKernelEx(&config, k, o); } };
void step(float* o, cudaStream_t s, cudaLaunchConfig_t given, bool side) {
  cudaLaunchConfig_t a = {1, 32, 0, s}, b = {0}, c = made(), d = {}, e{.stream = s};
  if (side) b.stream = s;
  fill(&d);
  cudaLaunchKernelEx(&a, k, o);
  cudaLaunchKernelEx(&b, k, o);
  cudaLaunchKernelEx(&c, k, o);
  cudaLaunchKernelEx(&d, k, o);
  cudaLaunchKernelEx(&e, k, o);
  cudaLaunchKernelEx(&given, k, o);
  cudaLaunchConfig_t f{};
  cudaLaunchConfig_t& g = f;
  g.stream = s;
  cudaLaunchKernelEx(&f, k, o);
}
""",
        ),
        Example(
            code=_KERNEL
            + """\
struct Context { void setStream(cudaStream_t s); void bind_stream(cudaStream_t s); };
void step(Context& c) { c.setStream(nullptr); c.bind_stream(0); }
""",
        ),
        Example(
            code=_KERNEL
            + """\
struct Plan { void run(float* o, int n); void run(float* o, cudaStream_t s); };
void other(float* o, int n);
void step(float* o, Plan& plan, cudaStream_t s) {
  plan.run(o, 0);
  other(o, 0);
  plan.run(o, s);
}
""",
        ),
        Example(
            code=_KERNEL
            + """\
#define CONFIG(s) dim3(1), dim3(32), 0, s
#define ON_STREAM 1, 32, 0, s
#define RUN(...) k<<<__VA_ARGS__>>>(o)
void step(float* o, cudaStream_t s) {
  k<<<ON_STREAM>>>(o);
  k<<<CONFIG(s)>>>(o);
  RUN(1, 32, 0, s);
}
""",
        ),
        Example(
            code=_KERNEL
            + """\
struct Api { void cudaMemsetAsync(float*, int, int) {} };
void step(float* o, Api& api) {
  api.cudaMemsetAsync(o, 0, 4);
  // k<<<1, 32>>>(o);
  const char* text = "k<<<1, 32>>>(o)";
#if 0
  k<<<1, 32>>>(o);
#endif
  (void)text;
}
""",
        ),
        Example(
            code=_KERNEL
            + """\
cudaStream_t current();
void enqueue(float* o, cudaStream_t s) { k<<<1, 32, 0, s>>>(o); }
template <typename... Args> void forward(Args... args) { enqueue(args...); }
void run(void* workspace, size_t& bytes, cudaStream_t s);
void step(float* o, size_t& workspace_bytes) {
  enqueue(o, current());
  forward(o, current());
  run(nullptr, workspace_bytes, nullptr);
}
""",
        ),
    )

    def check(self, project: Project, context: Context, options: NoOptions) -> Iterator[Finding]:
        """Judge launches, API calls and the project's own functions, in this order."""
        work = StreamWork(project, context)
        models = [project.models[path] for path in sorted(project.models)]
        launches = [
            launch
            for model in models
            for launch in (*model.launches, *project.header_macros.launches(model))
        ]
        for place in places(launches, work.of_launch, lambda x: work.of_launch(x) is not None):
            yield self._launch(place)
        hot = project.hot_path
        calls = hot.api_calls(API_CALLS)
        for fault in places(calls, work.of_api_call, lambda x: work.of_api_call(x) is not None):
            yield self._call(fault)
        ours = hot.calls(work.functions)
        for fault in places(
            ours, work.of_project_call, lambda x: work.of_project_call(x) is not None
        ):
            yield self._call(fault)

    def _launch(self, place: Place[Launch, NullStream]) -> Finding:
        launch, written = place.record, place.verdict.written
        return self.report(
            "launch" if written is None else "launch-null",
            place.span,
            launch.kernel,
            *(() if written is None else (written,)),
            related=place.related,
            extents=(launch.statement, *place.uses),
        )

    def _call(self, place: Place[Call, NullStream]) -> Finding:
        call, verdict = place.record, place.verdict
        message, arguments = "call", [call.name]
        if verdict.written is not None:
            message, arguments = "call-null", [call.name, verdict.written]
        if verdict.parameter and verdict.written is not None:
            message, arguments = "parameter", [call.name, verdict.written, verdict.parameter]
        return self.report(
            message,
            place.span,
            *arguments,
            related=place.related,
            extents=(call.statement, *place.uses),
        )
