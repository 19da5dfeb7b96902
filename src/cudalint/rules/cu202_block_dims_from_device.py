"""CU202 block-dims-from-device."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.context import Context
from cudalint.finding import Finding, Level, Related
from cudalint.project.project import Project
from cudalint.rule import Example, NoOptions, ProjectRule

_SPDX = "// SPDX-License-Identifier: MIT OR Apache-2.0\n"
_QUERIES = (
    "cudaGetDeviceProperties",
    "cudaDeviceGetAttribute",
    "cuDeviceGetAttribute",
    "cuDeviceGetProperties",
    "cudaOccupancyMaxPotentialBlockSize",
    "cuOccupancyMaxPotentialBlockSize",
    "getCurrentDeviceProperties",
    "getDeviceProperties",
)


class BlockDimsFromDevice(ProjectRule):
    """Launch dimensions that come from what the device says of itself.

    What it does
        Follows what device properties, attributes and
        `cudaOccupancyMaxPotentialBlockSize` return through the variables of a
        function, and through functions that return it, and reports the launches
        whose grid or block is made of it. In device code, reports reading of
        `%nsmid`, `%smid` and the like where it decides a loop or a branch.
        `blockDim` and `gridDim` in a kernel are how it reads what the launch
        passed, and left alone; so are other uses of properties.

    Why it matters
        The order of a reduction, and so its bits, follows the launch's
        dimensions. When these follow the machine, a kernel that was verified on
        one runs with others elsewhere, and its launch can't be written down in
        the tree.

    Example
            cudaGetDeviceProperties(&p, 0);
            scale<<<p.multiProcessorCount, 256, 0, stream>>>(x);

    How to fix
        Take the dimensions from the problem's shape and from constants, one set
        for each target.

    Sources
        Metrale Engine, "CUDA Kernel Engineering": launch dimensions belong to
        the kernel's contract.
    """

    code = "CU202"
    name = "block-dims-from-device"
    level = Level.ERROR
    messages = {
        "launch": "The launch dimensions of '{0}' come from '{1}'; take them from the problem's "
        "shape and constants of the target.",
        "register": "'{1}' decides '{0}'; let the launch say how the work is cut.",
    }

    INVALID = (
        Example(
            code="""\
__global__ void scale(float* x);
void host(float* x, cudaStream_t s) {
  cudaDeviceProp p;
  cudaGetDeviceProperties(&p, 0);
  scale<<<p.multiProcessorCount * 2, 256, 0, s>>>(x);
  ~~~~~
}
""",
            message="The launch dimensions of 'scale' come from 'cudaGetDeviceProperties';",
        ),
        Example(
            code="""\
#define CHECK(x) do { if ((x) != cudaSuccess) abort(); } while (0)
template <typename T> __global__ void scale(T* x);
void host(float* x, int n, cudaStream_t s) {
  int sms = 0, device = 0;
  CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device));
  const dim3 grid(std::min(sms, n)), block(128);
  auto launch = [&] { scale<float><<<grid, block, 0, s>>>(x); };
                      ~~~~~
  launch();
}
""",
            message="The launch dimensions of 'scale' come from 'cudaDeviceGetAttribute';",
        ),
        Example(
            code="""\
__global__ void scale(float* x, int n);
void host(float* x, int n, cudaStream_t s) {
  int least, block;
  cudaOccupancyMaxPotentialBlockSize(&least, &block, scale, 0, 0);
  int grid = (n + block - 1) / block;
  void* arguments[] = {&x, &n};
  cudaLaunchKernel((void*)scale, grid, 128, arguments, 0, s);
  ~~~~~~~~~~~~~~~~
}
""",
            message="The launch dimensions of 'scale' come from "
            "'cudaOccupancyMaxPotentialBlockSize';",
        ),
        Example(
            path="launch.cu",
            files={
                "sms.h": "inline int sm_count(int device) {\n  int n = 0;\n"
                "  cudaDeviceGetAttribute(&n, cudaDevAttrMultiProcessorCount, device);\n"
                "  return n > 0 ? n : 1;\n}\n"
            },
            code="""\
#include "sms.h"
__global__ void scale(float* x);
void host(float* x, cudaStream_t s) {
  const int blocks = 2 * sm_count(0);
  scale<<<dim3(blocks, 1), 64, 0, s>>>(x);
  ~~~~~
}
""",
            message="The launch dimensions of 'scale' come from 'sm_count';",
        ),
        Example(
            code="""\
__global__ void scale(float* x);
void host(float* x, cudaStream_t s) {
  cudaLaunchConfig_t config = {};
  const auto* p = at::cuda::getCurrentDeviceProperties();
  config.gridDim = p->multiProcessorCount;
  config.blockDim = 64;
  cudaLaunchKernelEx(&config, scale, x);
  ~~~~~~~~~~~~~~~~~~
}
""",
        ),
        Example(
            code="""\
__device__ unsigned sms() {
  unsigned n;
  asm("mov.u32 %0, %nsmid;" : "=r"(n));
  ~~~
  return n;
}
extern "C" __global__ void scale(float* x, int n) {
  for (int i = blockIdx.x; i < n; i += sms()) x[i] = 1.f;
}
""",
            message="'%nsmid' decides 'a loop of scale';",
        ),
        Example(
            code="""\
__global__ void scale(float* x);
void host(float* x, cudaStream_t s) {
  int shared = 0, blocks = 0, threads = 0;
  cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0);
  cudaOccupancyMaxPotentialBlockSize(&blocks, &threads, scale, 0, 0);
  scale<<<64, threads, shared, s>>>(x);
  ~~~~~
}
""",
            message="'cudaOccupancyMaxPotentialBlockSize'",
        ),
    )
    VALID = (
        Example(
            code=_SPDX
            + """\
__global__ void scale(float* x, int n);
void host(float* x, int n, cudaStream_t s) {
  cudaDeviceProp p;
  cudaGetDeviceProperties(&p, 0);
  if (p.major < 8) return;
  scale<<<(n + 255) / 256, 256, 0, s>>>(x, n);
}
""",
            also=("CU104",),
        ),
        Example(
            code=_SPDX
            + """\
extern "C" __global__ void __launch_bounds__(64) scale(float* x, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    x[i] = 1.f;
}
""",
        ),
        Example(
            code=_SPDX
            + """\
extern "C" __global__ void __launch_bounds__(64) trace(unsigned* x) {
  unsigned sm;
  asm volatile("mov.u32 %0, %smid;" : "=r"(sm));
  x[blockIdx.x] = sm;  // which SM ran it
}
""",
        ),
        Example(
            code=_SPDX
            + """\
extern "C" __global__ void scale(float* x);
void host(float* x, cudaStream_t s) {
  int shared = 0;
  cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0);
  scale<<<64, 128, shared, s>>>(x);
}
""",
        ),
        Example(
            code=_SPDX
            + """\
extern "C" __global__ void scale(float* x);
void host(float* x, cudaStream_t s) {
  int blocks = 0;
  cudaDeviceGetAttribute(&blocks, cudaDevAttrMultiProcessorCount, 0);
  blocks = 64;
  scale<<<blocks, 128, 0, s>>>(x);
}
int sms() {
  int n;
  cudaDeviceGetAttribute(&n, cudaDevAttrMultiProcessorCount, 0);
  return n;
}
""",
        ),
        Example(
            code=_SPDX
            + """\
extern "C" __global__ void scale(float* x);
struct Device { int properties; int getDeviceProperties; };
void host(float* x, const Device& d, cudaStream_t s) {
  // cudaGetDeviceProperties(&p, 0);
  const char* text = "cudaDeviceGetAttribute(&n, a, 0)";
  scale<<<d.properties, d.getDeviceProperties, 0, s>>>(x + text[0]);
}
""",
        ),
    )

    def check(self, project: Project, context: Context, options: NoOptions) -> Iterator[Finding]:
        """Judge the launches and special registers of all files."""
        if not any(
            any("sm" in asm.text.lower() or "%nwarpid" in asm.text for asm in model.assembly)
            or any(call.name.startswith(_QUERIES) for call in model.calls)
            for model in project.models.values()
        ):
            return
        from cudalint.hostcode.deviceproperties import DeviceProperties

        properties = DeviceProperties(context)
        for message, found in (
            ("launch", properties.launches()),
            ("register", properties.registers()),
        ):
            for taken in found:
                label = "asked for here" if message == "launch" else "decided here"
                yield self.report(
                    message,
                    taken.place,
                    taken.kernel,
                    taken.query,
                    related=(Related(taken.asked, label),) if taken.asked else (),
                    extents=taken.extents,
                )
