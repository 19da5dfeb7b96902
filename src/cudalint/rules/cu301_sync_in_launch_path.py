"""CU301 sync-in-launch-path."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from cudalint.context import Context
from cudalint.devicecode.devicecode import device_only
from cudalint.finding import Finding, Level
from cudalint.hostcode.hotpath import OnPath
from cudalint.hostcode.pathreport import path_finding, path_messages
from cudalint.hostcode.waits import waits_of
from cudalint.project.expansion import places
from cudalint.project.headermacros import home
from cudalint.project.project import Project
from cudalint.rule import Example, ProjectRule
from cudalint.syntax.model import Call

_SPDX = "// SPDX-License-Identifier: MIT OR Apache-2.0\n"
_KERNEL = f"""\
{_SPDX}extern "C" __global__ void __launch_bounds__(32) k(float* o) {{ *o = 1.f; }}
"""


class SyncInLaunchPathOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`functions` are further functions that wait, by name (`ns::wait`, or `wait` for any)."""

    functions: tuple[str, ...] = ()


class SyncInLaunchPath(ProjectRule):
    """The host waits for the GPU on the way to or from a launch.

    What it does
        Reports `cudaDeviceSynchronize`, `cudaThreadSynchronize`,
        `cudaStreamSynchronize`, `cudaEventSynchronize` and the driver's
        `cuCtxSynchronize`, `cuStreamSynchronize` and `cuEventSynchronize` in each
        function from which a launch is reachable, and in each that such a one
        calls; also `cudaDeviceSynchronize` in device code. The message names the
        launch. Cold code is left alone: files and functions that the settings
        `cold-paths` and `cold-functions` name, constructors and destructors,
        functions marked `cudalint: cold`, and inside a hot function branches for
        debugging, tracing or profiling, error branches that free and leave,
        blocks that end the program or throw, handlers of exceptions,
        `std::call_once`, initialisers of local statics, a branch that makes a
        resource that is absent or too small, and the wait for a result that the
        function is there to fetch.

    Why it matters
        While the host waits it launches nothing, so the GPU runs dry after each
        wait, and the launch path can't be captured into a graph.

    Example
            void step(float* out, cudaStream_t stream) {
              scale<<<grid, block, 0, stream>>>(out);
              cudaStreamSynchronize(stream);
            }

    How to fix
        Order the work with streams and events (`cudaStreamWaitEvent`), and wait
        once, where the host needs the result. Mark a function that is no part
        of the launch path with a comment `cudalint: cold` before it, and one
        that is in spite of its name with `cudalint: hot`.

    Options
        `functions`: further functions that wait, such as
        `torch::cuda::synchronize`.

    Sources
        Metrale Engine, "CUDA Kernel Engineering", and Llaminar, profiling guide,
        on synchronisation. The CUDA C++ Programming Guide, "Asynchronous
        Concurrent Execution".
    """

    code = "CU301"
    name = "sync-in-launch-path"
    level = Level.ERROR
    messages = {
        **path_messages("'{0}' waits for the GPU", "order the work with streams and events"),
        "device": "'{0}' in device code, in '{1}', is gone from sm_90 on; split the kernel there.",
    }
    options = SyncInLaunchPathOptions

    INVALID = (
        Example(
            code=_KERNEL
            + """\
void step(float* o, cudaStream_t s) {
  k<<<1, 32, 0, s>>>(o);
  cudaStreamSynchronize(s);
  ~~~~~~~~~~~~~~~~~~~~~
}
""",
            message="'cudaStreamSynchronize' waits for the GPU in 'step', which launches 'k';",
        ),
        Example(
            code=_KERNEL
            + """\
#define CHECK(x) do { if ((x) != cudaSuccess) throw 1; } while (0)
static void wait_for(cudaEvent_t e) { CHECK(::cudaEventSynchronize(e)); }
                                              ~~~~~~~~~~~~~~~~~~~~
static void enqueue(float* o, cudaStream_t s) { k<<<1, 32, 0, s>>>(o); }
static void pass(float* o, cudaStream_t s, cudaEvent_t e) { enqueue(o, s); wait_for(e); }
void step(float* o, cudaStream_t s, cudaEvent_t e) { pass(o, s, e); }
""",
            message="in 'wait_for', which is called by 'pass' on the launch path of 'k';",
        ),
        Example(
            code=_KERNEL
            + """\
struct Op {
  void launch(float* o, cudaStream_t s) {
    void* arguments[] = {&o};
    cudaLaunchKernel((void*)k, dim3(1), dim3(32), arguments, 0, s);
  }
  void wait() { auto status = cudaDeviceSynchronize(); (void)status; }
                              ~~~~~~~~~~~~~~~~~~~~~
  void run(float* o, cudaStream_t s) { this->launch(o, s); wait(); }
};
""",
            message="in 'wait', which is called by 'run' on the launch path of 'k';",
        ),
        Example(
            code=_KERNEL
            + """\
#define LAUNCH(o, s) k<<<1, 32, 0, s>>>(o)
#define WAIT() cudaDeviceSynchronize()
               ~~~~~~~~~~~~~~~~~~~~~
void step(float* o, cudaStream_t s) {
  auto body = [&](int n) { if (n) { LAUNCH(o, s); } };
  body(3);
  WAIT();
}
""",
        ),
        Example(
            path="step.cpp",
            code="""\
#include "gpu.h"
void run(CUfunction f, CUstream s, void** a) {
  cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, s, a, nullptr);
  WAIT_AND_CHECK(s);
}
void replay(cudaGraphExec_t g, cudaStream_t s) {
  cudaGraphLaunch(g, s);
  while (cuStreamSynchronize(s) != CUDA_SUCCESS) {}
         ~~~~~~~~~~~~~~~~~~~
}
""",
            files={
                "gpu.h": "#define WAIT_AND_CHECK(s) check(cuStreamSynchronize(s))\n"
                "                                ~~~~~~~~~~~~~~~~~~~\n"
            },
        ),
        Example(
            code=_KERNEL
            + """\
// cudalint: hot
void load_weights(cudaStream_t s) {
  cudaStreamSynchronize(s);
  ~~~~~~~~~~~~~~~~~~~~~
}
// cudalint: hot
void test_step(float* o, cudaStream_t s) {
  k<<<1, 32, 0, s>>>(o);
  cudaStreamSynchronize(s);
  ~~~~~~~~~~~~~~~~~~~~~
}
""",
            message="in 'load_weights', which is on a path marked hot;",
        ),
        Example(
            code="""\
__device__ void join() { cudaDeviceSynchronize(); }
                         ~~~~~~~~~~~~~~~~~~~~~
""",
            message="'cudaDeviceSynchronize' in device code, in 'join',",
        ),
        Example(
            code=_KERNEL
            + """\
void step(float* o, cudaStream_t s) {
  k<<<1, 32, 0, s>>>(o);
  torch::cuda::synchronize();
               ~~~~~~~~~~~
  other::synchronize();
}
""",
            settings='[rules.CU301]\nfunctions = ["torch::cuda::synchronize"]\n',
        ),
        Example(
            code=_KERNEL
            + """\
void step(float* o, cudaStream_t s, bool debug, float* p) {
  k<<<1, 32, 0, s>>>(o);
  if (!debug) cudaStreamSynchronize(s);
              ~~~~~~~~~~~~~~~~~~~~~
  if (debug || p) { cudaStreamSynchronize(s); }
                    ~~~~~~~~~~~~~~~~~~~~~
#ifdef NDEBUG
  cudaDeviceSynchronize();
  ~~~~~~~~~~~~~~~~~~~~~
#endif
  if (cudaGetLastError() != cudaSuccess) { cudaDeviceSynchronize(); return; }
                                           ~~~~~~~~~~~~~~~~~~~~~
}
""",
        ),
        Example(
            code=_KERNEL
            + """\
#define gpuDeviceSynchronize cudaDeviceSynchronize
#define WAIT() gpuDeviceSynchronize()
               ~~~~~~~~~~~~~~~~~~~~
void step(float* o, cudaStream_t s) {
  k<<<1, 32, 0, s>>>(o);
  gpuDeviceSynchronize();
  ~~~~~~~~~~~~~~~~~~~~
  WAIT();
}
""",
            message="'cudaDeviceSynchronize' waits for the GPU in 'step', which launches 'k';",
        ),
    )
    VALID = (
        Example(
            code=_KERNEL
            + """\
void step(float* o, cudaStream_t s) { k<<<1, 32, 0, s>>>(o); }
void finish(cudaStream_t s) { cudaStreamSynchronize(s); }
int main() {
  step(nullptr, cudaStreamPerThread);
  finish(cudaStreamPerThread);
  cudaDeviceSynchronize();
}
""",
        ),
        Example(
            code=_KERNEL
            + """\
#ifdef STEP_DEBUG
#define gpuDeviceSynchronize cudaDeviceSynchronize
#else
#define gpuDeviceSynchronize()
#endif
void step(float* o, cudaStream_t s) {
  k<<<1, 32, 0, s>>>(o);
  gpuDeviceSynchronize();
}
""",
        ),
        Example(
            code=_KERNEL
            + """\
// Runs once for each checkpoint.
// cudalint: cold
void collect(float* o, cudaStream_t s) { k<<<1, 32, 0, s>>>(o); cudaStreamSynchronize(s); }
void warmupKernels(float* o, cudaStream_t s) { k<<<1, 32, 0, s>>>(o); cudaStreamSynchronize(s); }
static bool run_test(float* o, cudaStream_t s) {
  k<<<1, 32, 0, s>>>(o);
  return cudaStreamSynchronize(s) == cudaSuccess;
}
struct Op {
  explicit Op(float* o) { k<<<1, 32, 0, cudaStreamPerThread>>>(o); cudaDeviceSynchronize(); }
  ~Op() { cudaDeviceSynchronize(); }
};
bool both(float* o, cudaStream_t s) { return run_test(o, s); }
""",
        ),
        Example(
            code=_KERNEL
            + """\
struct Options { bool trace; };
void step(float* o, cudaStream_t s, const Options& options, int verbose) {
  const bool slow = options.trace;
  k<<<1, 32, 0, s>>>(o);
  if (slow) cudaStreamSynchronize(s);
  if (verbose > 1 && o) { cudaStreamSynchronize(s); }
#ifndef NDEBUG
  cudaDeviceSynchronize();
#endif
#ifdef STEP_TRACE
  cudaDeviceSynchronize();
#endif
  slow ? cudaStreamSynchronize(s) : cudaSuccess;
  const bool fine = !verbose || cudaStreamSynchronize(s) == cudaSuccess;
  if (!verbose || !fine) return;
  cudaStreamSynchronize(s);
}
""",
        ),
        Example(
            code=_KERNEL
            + """\
bool step(float* o, float* host, cudaStream_t s, float*& scratch, size_t n, size_t cap) {
  if (cap < n) {
    cudaStreamSynchronize(s);
    cudaFree(scratch);
    cudaMalloc(&scratch, n);
  }
  k<<<1, 32, 0, s>>>(o);
  if (cudaGetLastError() != cudaSuccess) {
    cudaStreamSynchronize(s);
    cudaFree(scratch);
    return false;
  }
  return true;
}
bool fetch(float* host, const float* o, cudaStream_t s) {
  k<<<1, 32, 0, s>>>(const_cast<float*>(o));
  cudaMemcpyAsync(host, o, 4, cudaMemcpyDeviceToHost, s);
  return cudaStreamSynchronize(s) == cudaSuccess;
}
""",
            also=("CU310", "CU311"),
        ),
        Example(
            path="tests/step.cu",
            code=_KERNEL
            + "void step(float* o, cudaStream_t s) { k<<<1, 32, 0, s>>>(o); "
            + "cudaStreamSynchronize(s); }\n",
        ),
        Example(
            code=_KERNEL
            + """\
struct Queue { void cudaDeviceSynchronize() {} void flush() { cudaDeviceSynchronize(); } };
namespace mock { inline void cudaStreamSynchronize(cudaStream_t) {} }
void step(float* o, cudaStream_t s, Queue& q) {
  k<<<1, 32, 0, s>>>(o);
  q.cudaDeviceSynchronize();
  q.flush();
  mock::cudaStreamSynchronize(s);  // not cudaStreamSynchronize(s)
  const char* volatile text = "cudaDeviceSynchronize()";
#if 0
  cudaDeviceSynchronize();
#endif
}
""",
        ),
        Example(
            code=_KERNEL
            + """\
#include <mutex>
static std::once_flag once;
static int prepared() { cudaDeviceSynchronize(); return 1; }
void step(float* o, cudaStream_t s) {
  static const int ready = prepared();
  std::call_once(once, [] { cudaDeviceSynchronize(); });
  k<<<ready, 32, 0, s>>>(o);
}
""",
        ),
        Example(
            code=_KERNEL
            + """\
void step(float* o, cudaStream_t s) { k<<<1, 32, 0, s>>>(o); }
void measure(float* o, cudaStream_t s) { step(o, s); cudaStreamSynchronize(s); }
""",
            settings='cold-functions = ["main", "measure"]\n',
        ),
    )

    def check(
        self, project: Project, context: Context, options: SyncInLaunchPathOptions
    ) -> Iterator[Finding]:
        """Judge every wait; the call graph is built only if there is one."""
        waits = list(waits_of(project, options.functions))
        if not waits:
            return

        def on_path(call: Call) -> OnPath | None:
            place = project.hot_path.place(call)
            fine = place is None or place.lazy or project.terminal_results.holds(call)
            return None if fine else place

        def on_device(call: Call) -> str | None:
            model = project.models[home(call)]
            if call.name != "cudaDeviceSynchronize" or not device_only(model, call.function):
                return None
            return model.functions[call.function].name or "a lambda"

        for place in places(waits, on_path, lambda call: True, alone=False):
            yield path_finding(type(self), place, "waits")
        for fault in places(waits, on_device, lambda call: True, alone=False):
            call = fault.record
            yield self.report(
                "device",
                fault.span,
                call.name,
                fault.verdict,
                related=fault.related,
                extents=(call.statement, *fault.uses),
            )
