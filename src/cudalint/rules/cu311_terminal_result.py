"""CU311 terminal-result."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.context import Context
from cudalint.finding import Finding, Level
from cudalint.hostcode.pathreport import path_finding, path_messages
from cudalint.project.expansion import Place
from cudalint.project.project import Project
from cudalint.rule import Example, NoOptions, ProjectRule

_SPDX = "// SPDX-License-Identifier: MIT OR Apache-2.0\n"
_KERNEL = f"""\
{_SPDX}extern "C" __global__ void __launch_bounds__(32) k(float* o) {{ *o = 1.f; }}
"""


class TerminalResult(ProjectRule):
    """A function on a launch path ends by fetching a result to the host.

    What it does
        Reports an asynchronous copy from the device into memory that the caller
        gave, one wait for its stream, and then the return, in a function on a
        launch path: one note at the copy and one at the wait, instead of CU305
        and CU301. A comment `cudalint: terminal` before the function, or at the
        copy or the wait, says that it is meant, and silences both.

    Why it matters
        Somebody has to wait for the result, and here is the place that does. But
        a wait inside a step that other work could overlap is as dear as any, and
        only who knows the callers can tell the two apart.

    Example
            bool best(int* out, const int* d_best, cudaStream_t stream) {
              argmax<<<1, 1024, 0, stream>>>(logits, d_best);
              cudaMemcpyAsync(out, d_best, 4, cudaMemcpyDeviceToHost, stream);
              return cudaStreamSynchronize(stream) == cudaSuccess;
            }

    How to fix
        Where it is the end of a step, write `// cudalint: terminal` above the
        copy. Where it isn't, keep the result on the device and let the next
        kernel read it.

    Sources
        Llaminar, profiling guide, on results that leave the device.
    """

    code = "CU311"
    name = "terminal-result"
    level = Level.NOTE
    messages = {
        **path_messages("'{0}' fetches a result", "mark it 'cudalint: terminal' if it ends a step"),
        **path_messages(
            "'{0}' waits for a result",
            "mark it 'cudalint: terminal' if it ends a step",
            prefix="wait-",
        ),
    }

    INVALID = (
        Example(
            code=_KERNEL
            + """\
bool best(int* out, const int* d, float* o, cudaStream_t s) {
  k<<<1, 32, 0, s>>>(o);
  cudaMemcpyAsync(out, d, 4, cudaMemcpyDeviceToHost, s);
  ~~~~~~~~~~~~~~~
  cudaStreamSynchronize(s);
  ~~~~~~~~~~~~~~~~~~~~~
  return true;
}
""",
            message="'cudaMemcpyAsync' fetches a result in 'best', which launches 'k'; mark it",
        ),
        Example(
            code=_KERNEL
            + """\
#define CHECK(x) do { if ((x) != cudaSuccess) throw 1; } while (0)
static void fetch(float* host, const float* d, cudaStream_t s) {
  CHECK(cudaMemcpyAsync(host, d, 4, cudaMemcpyDeviceToHost, s));
        ~~~~~~~~~~~~~~~
  CHECK(cudaStreamSynchronize(s));
        ~~~~~~~~~~~~~~~~~~~~~
}
void step(float* o, float* host, cudaStream_t s) { k<<<1, 32, 0, s>>>(o); fetch(host, o, s); }
""",
            message="in 'fetch', which is called by 'step' on the launch path of 'k'",
        ),
        Example(
            code=_KERNEL
            + """\
struct Op {
  bool run(float& out, float* d, cudaStream_t s) {
    k<<<1, 32, 0, s>>>(d);
    cudaMemcpyAsync(&out, d, 4, cudaMemcpyDeviceToHost, s);
    ~~~~~~~~~~~~~~~
    return cudaStreamSynchronize(s) == cudaSuccess;
           ~~~~~~~~~~~~~~~~~~~~~
  }
};
""",
        ),
        Example(
            path="step.cpp",
            code="""\
bool run(CUfunction f, CUstream s, void** a, CUdeviceptr d, void* h) {
  cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, s, a, nullptr);
  cuMemcpyDtoHAsync(h, d, 8, s);
  ~~~~~~~~~~~~~~~~~
  return cuStreamSynchronize(s) == CUDA_SUCCESS;
         ~~~~~~~~~~~~~~~~~~~
}
""",
        ),
        Example(
            code=_KERNEL
            + """\
// The mark of another function, cudalint: terminal
void other(float* o, cudaStream_t s) { k<<<1, 32, 0, s>>>(o); }
template <typename T> void fetch(T* out, const T* d, cudaStream_t s) {
  other(nullptr, s);
  ::cudaMemcpyAsync(out, d, sizeof(T), cudaMemcpyDeviceToHost, s);
    ~~~~~~~~~~~~~~~
  ::cudaStreamSynchronize(s);
    ~~~~~~~~~~~~~~~~~~~~~
  if (cudaGetLastError() != cudaSuccess) throw 1;
}
""",
            message="'cudaMemcpyAsync' fetches a result in 'fetch', which launches 'k' through",
        ),
        Example(
            code=_KERNEL
            + """\
void fetch(float* out, float* d, size_t pitch, cudaStream_t s) {
  // cudalint: terminal
  k<<<1, 32, 0, s>>>(d);
  other(d);
  cudaMemcpy2DAsync(out, 8, d, pitch, 8, 2, cudaMemcpyDeviceToHost, s);
  ~~~~~~~~~~~~~~~~~
  cudaStreamSynchronize(s);
  ~~~~~~~~~~~~~~~~~~~~~
}
""",
        ),
    )
    VALID = (
        Example(
            code=_KERNEL
            + """\
bool best(int* out, const int* d, float* o, cudaStream_t s) {
  k<<<1, 32, 0, s>>>(o);
  // cudalint: terminal
  cudaMemcpyAsync(out, d, 4, cudaMemcpyDeviceToHost, s);
  return cudaStreamSynchronize(s) == cudaSuccess;
}
""",
        ),
        Example(
            code=_KERNEL
            + """\
/* The end of a step.
   cudalint: terminal */
void fetch(float* out, float* d, cudaStream_t s) {
  k<<<1, 32, 0, s>>>(d);
  cudaMemcpyAsync(out, d, 4, cudaMemcpyDeviceToHost, s);
  cudaStreamSynchronize(s);
}
""",
        ),
        Example(
            code=_KERNEL
            + """\
void fetch(float* out, float* d, cudaStream_t s) {
  k<<<1, 32, 0, s>>>(d);
  cudaMemcpyAsync(out, d, 4, cudaMemcpyDeviceToHost, s);
  cudaStreamSynchronize(s);  // cudalint: terminal
}
""",
        ),
        Example(
            code=_KERNEL
            + """\
void fetch(float* out, float* d, cudaStream_t s) {
  cudaMemcpyAsync(out, d, 4, cudaMemcpyDeviceToHost, s);
  cudaStreamSynchronize(s);
}
void step(float* o, cudaStream_t s) { k<<<1, 32, 0, s>>>(o); }
""",
        ),
        Example(
            path="tests/step.cu",
            code=_KERNEL
            + "void step(float* h, float* d, cudaStream_t s) { k<<<1, 32, 0, s>>>(d); "
            + "cudaMemcpyAsync(h, d, 4, cudaMemcpyDeviceToHost, s); cudaStreamSynchronize(s); }\n",
        ),
        Example(
            code=_KERNEL
            + """\
void step(float* a, float* b, cudaStream_t s, cudaStream_t side, cudaEvent_t e) {
  cudaMemcpyAsync(a, b, 4, cudaMemcpyDeviceToDevice, s);
  cudaStreamWaitEvent(side, e, 0);
  k<<<1, 32, 0, s>>>(a);  // cudaStreamSynchronize(s);
}
""",
        ),
    )

    def check(self, project: Project, context: Context, options: NoOptions) -> Iterator[Finding]:
        """Two notes for each pair on a launch path that is not marked."""
        for copy, wait in project.terminal_results.pairs:
            on_path = project.hot_path.place(wait)
            if on_path is None or on_path.lazy or project.terminal_results.is_marked(copy, wait):
                continue
            yield path_finding(type(self), Place(copy, on_path, copy.name_span), "fetches")
            yield path_finding(
                type(self), Place(wait, on_path, wait.name_span), "waits", prefix="wait-"
            )
