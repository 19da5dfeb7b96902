"""CU305 host-transfer-in-launch-path."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.context import Context
from cudalint.finding import Finding, Level
from cudalint.hostcode.hotpath import OnPath
from cudalint.hostcode.pathreport import path_finding, path_messages
from cudalint.hostcode.transfers import COPIES, Transfer, function_text, read_transfer
from cudalint.project.constantsymbols import ConstantSymbols
from cudalint.project.expansion import Place, places
from cudalint.project.project import Project
from cudalint.rule import Example, NoOptions, ProjectRule
from cudalint.syntax.model import Call

_SPDX = "// SPDX-License-Identifier: MIT OR Apache-2.0\n"
_KERNEL = f"""\
{_SPDX}extern "C" __global__ void __launch_bounds__(32) k(float* o) {{ *o = 1.f; }}
"""
_ADVICE = "keep the data on the device, or move it outside the launch path"


class HostTransferInLaunchPath(ProjectRule):
    """Data moves between host and device on the way to or from a launch.

    What it does
        Reports in each function on a launch path the blocking `cudaMemcpy`,
        copies from host to device and from device to host (`cudaMemcpyAsync`,
        2D and 3D copies, `cudaMemcpyFromSymbol`, the driver's `cuMemcpyHtoD…`
        and `cuMemcpyDtoH…`), and, as a note, copies of the kind
        `cudaMemcpyDefault`. Cold code is left alone, as for CU301. Copies to
        `__constant__` memory are CU205's business, uploads into what has just
        been made CU310's, the fetching of a result CU311's.

    Why it matters
        A copy of pageable memory makes the host wait for the device. A captured
        one reads the host's address again at each replay, whatever is there by
        then. Each costs more than the small kernels around it.

    Example
            void step(float* out, const float* scale, cudaStream_t stream) {
              cudaMemcpy(d_scale, scale, 4, cudaMemcpyHostToDevice);
              apply<<<grid, block, 0, stream>>>(out, d_scale);
            }

    How to fix
        Pass small values as kernel parameters, compute them on the device, or
        upload them at load time. Copies from device to device on a stream are
        fine.

    Sources
        Metrale Engine, "CUDA Kernel Engineering", and Llaminar, profiling guide,
        on transfers. The CUDA Runtime API, "API synchronization behavior".
    """

    code = "CU305"
    name = "host-transfer-in-launch-path"
    level = Level.ERROR
    messages = {
        **path_messages("'{0}' copies from the host", _ADVICE, prefix="to-device-"),
        **path_messages("'{0}' copies to the host", _ADVICE, prefix="to-host-"),
        **path_messages(
            "'{0}' makes the host wait for a copy", "copy on a stream", prefix="blocking-"
        ),
        **path_messages(
            "'{0}' copies in a direction that only the pointers tell",
            "say the direction, and keep host memory out of it",
            prefix="default-",
        ),
    }

    INVALID = (
        Example(
            code=_KERNEL
            + """\
void step(float* d, float* h, cudaStream_t s) {
  cudaMemcpyAsync(d, h, 4, cudaMemcpyHostToDevice, s);
  ~~~~~~~~~~~~~~~
  k<<<1, 32, 0, s>>>(d);
  cudaMemcpy(h, d, 4, cudaMemcpyDeviceToHost);
  ~~~~~~~~~~
}
""",
            message="'cudaMemcpyAsync' copies from the host in 'step', which launches 'k'",
        ),
        Example(
            code=_KERNEL
            + """\
static void mirror(float* a, float* b) { cudaMemcpy(a, b, 4, cudaMemcpyDeviceToDevice); }
                                         ~~~~~~~~~~
void step(float* a, float* b, cudaStream_t s) { mirror(a, b); k<<<1, 32, 0, s>>>(a); }
""",
            message="'cudaMemcpy' makes the host wait for a copy in 'mirror', which is called by",
        ),
        Example(
            code=_KERNEL
            + """\
#define CHECK(x) do { if ((x) != cudaSuccess) throw 1; } while (0)
__device__ float total;
void step(float* d, float* h, cudaStream_t s, cudaMemcpyKind kind) {
  k<<<1, 32, 0, s>>>(d);
  CHECK(cudaMemcpyFromSymbolAsync(h, total, 4, 0, cudaMemcpyDeviceToHost, s));
        ~~~~~~~~~~~~~~~~~~~~~~~~~
  CHECK(::cudaMemcpyFromSymbol(h, total, 4));
          ~~~~~~~~~~~~~~~~~~~~
  cudaMemcpy(h, d, 4, kind);
  ~~~~~~~~~~
}
""",
            message="'cudaMemcpyFromSymbolAsync' copies to the host in 'step'",
        ),
        Example(
            code=_KERNEL
            + """\
void step(float* d, float* h, cudaStream_t s) {
  cudaMemcpyAsync(d, h, 4, cudaMemcpyDefault, s);
  ~~~~~~~~~~~~~~~
  cudaMemcpy2DAsync(d, 8, h, 8, 4, 2, cudaMemcpyHostToDevice, s);
  ~~~~~~~~~~~~~~~~~
  k<<<1, 32, 0, s>>>(d);
}
""",
        ),
        Example(
            path="step.cpp",
            code="""\
void run(CUfunction f, CUstream s, void** a, CUdeviceptr d, void* h) {
  auto status = cuMemcpyHtoDAsync_v2(d, h, 8, s);
                ~~~~~~~~~~~~~~~~~~~~
  cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, s, a, nullptr);
  cuMemcpyDtoH(h, d, 8);
  ~~~~~~~~~~~~
}
""",
        ),
        Example(
            code=_KERNEL
            + """\
#define FETCH(h, d) cudaMemcpy(h, d, 4, cudaMemcpyDeviceToHost)
                    ~~~~~~~~~~
#define MOVE(d, h, kind, s) cudaMemcpyAsync(d, h, 4, kind, s)
void step(float* d, float* h, cudaStream_t s) {
  auto after = [&] { FETCH(h, d); };
  k<<<1, 32, 0, s>>>(d);
  after();
  MOVE(d, d + 4, cudaMemcpyDeviceToDevice, s);
  MOVE(d, h, cudaMemcpyHostToDevice, s);
  ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
}
""",
        ),
        Example(
            code=_KERNEL
            + """\
__device__ float scale[4];
void step(float* d, const float* h, cudaStream_t s) {
  cudaMemcpyToSymbolAsync(scale, h, 16, 0, cudaMemcpyHostToDevice, s);
  ~~~~~~~~~~~~~~~~~~~~~~~
  k<<<1, 32, 0, s>>>(d);
  cudaMemcpy3DParms p = {};
  p.kind = cudaMemcpyDeviceToHost;
  cudaMemcpy3DAsync(&p, s);
  ~~~~~~~~~~~~~~~~~
}
""",
        ),
    )
    VALID = (
        Example(
            code=_KERNEL
            + """\
void step(float* d, float* d2, cudaStream_t s, cudaMemcpyKind kind) {
  cudaMemcpyAsync(d2, d, 4, cudaMemcpyDeviceToDevice, s);
  cudaMemcpyAsync(d2, d, 4, kind, s);
  cudaMemcpy2DAsync(d2, 8, d, 8, 4, 2, ::cudaMemcpyDeviceToDevice, s);
  k<<<1, 32, 0, s>>>(d);
}
""",
        ),
        Example(
            code=_KERNEL
            + """\
void uploadWeights(float* d, const float* h) { cudaMemcpy(d, h, 4, cudaMemcpyHostToDevice); }
struct Op {
  float* d;
  explicit Op(const float* h) { cudaMemcpy(d, h, 4, cudaMemcpyHostToDevice); }
  void run(cudaStream_t s) { k<<<1, 32, 0, s>>>(d); }
};
void step(Op& op, const float* h, cudaStream_t s) { uploadWeights(op.d, h); op.run(s); }
""",
        ),
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
struct Copier { void cudaMemcpy(float*, float*, int, int); };
namespace mock { inline void cudaMemcpy(float*, float*, int, int) {} }
void step(float* a, float* b, Copier& c, cudaStream_t s) {
  c.cudaMemcpy(a, b, 4, cudaMemcpyHostToDevice);
  mock::cudaMemcpy(a, b, 4, cudaMemcpyHostToDevice);
  k<<<1, 32, 0, s>>>(a);  // cudaMemcpy(h, a, 4, cudaMemcpyDeviceToHost);
#if 0
  cudaMemcpy(b, a, 4, cudaMemcpyDeviceToHost);
#endif
}
""",
        ),
        Example(
            code=_KERNEL
            + """\
void step(float* d, float* h, cudaStream_t s, bool trace_values) {
  k<<<1, 32, 0, s>>>(d);
  if (trace_values) { cudaMemcpy(h, d, 4, cudaMemcpyDeviceToHost); }
#ifdef DEBUG_STEP
  cudaMemcpy(h, d, 4, cudaMemcpyDeviceToHost);
#endif
}
""",
        ),
        Example(
            path="tests/step.cu",
            code=_KERNEL
            + "void step(float* d, float* h, cudaStream_t s) { k<<<1, 32, 0, s>>>(d); "
            + "cudaMemcpy(h, d, 4, cudaMemcpyDeviceToHost); }\n",
        ),
        Example(
            code=_KERNEL
            + """\
void fetch(float* h, const float* d) { cudaMemcpy(h, d, 4, cudaMemcpyDeviceToHost); }
void step(float* d, cudaStream_t s) { k<<<1, 32, 0, s>>>(d); }
""",
        ),
    )

    def check(self, project: Project, context: Context, options: NoOptions) -> Iterator[Finding]:
        """Judge every copy; the call graph is built only if there is one."""
        hot = project.hot_path
        symbols = ConstantSymbols(project, context)

        def judge(call: Call) -> OnPath | None:
            if not _fault(read_transfer(call, function_text(call, context))):
                return None
            place = hot.place(call)
            fine = place is None or place.lazy or project.terminal_results.holds(call)
            return None if fine or symbols.changed_by(call) else place

        copies = hot.api_calls(COPIES)
        for place in places(copies, judge, lambda c: bool(_fault(read_transfer(c))), alone=False):
            yield self._found(place, context)

    def _found(self, place: Place[Call, OnPath], context: Context) -> Finding:
        fault = _fault(read_transfer(place.record, function_text(place.record, context)))
        level = Level.NOTE if fault == "default" else None
        return path_finding(type(self), place, "copies", prefix=f"{fault}-", level=level)


def _fault(transfer: Transfer) -> str:
    """What is wrong with a copy on a launch path, "" for nothing."""
    if transfer.direction in ("to device", "to host"):
        return transfer.direction.replace(" ", "-")
    if transfer.direction == "default":
        return "default"
    return "blocking" if transfer.linear and transfer.blocking else ""
