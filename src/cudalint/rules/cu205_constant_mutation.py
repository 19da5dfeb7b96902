"""CU205 constant-mutation."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.context import Context
from cudalint.finding import Finding, Level
from cudalint.hostcode.hotpath import OnPath
from cudalint.hostcode.pathreport import path_finding, path_messages
from cudalint.project.constantsymbols import CHANGING, ConstantSymbols
from cudalint.project.expansion import places
from cudalint.project.project import Project
from cudalint.rule import Example, NoOptions, ProjectRule
from cudalint.syntax.model import Call

_SPDX = "// SPDX-License-Identifier: MIT OR Apache-2.0\n"
_KERNEL = f"""\
{_SPDX}__constant__ float table[4];
extern "C" __global__ void __launch_bounds__(32) k(float* o) {{ *o = table[0]; }}
"""


class ConstantMutation(ProjectRule):
    """Constant memory is written on the way to or from a launch.

    What it does
        Reports in each function on a launch path `cudaMemcpyToSymbol` and
        `cudaMemcpyToSymbolAsync` to a `__constant__` variable, and the driver's
        `cuMemcpyHtoD` to the address of one that was asked for in the same
        function. A symbol whose declaration is not among the linted files counts
        as constant. Uploads in cold code are left alone, as for CU301.

    Why it matters
        There is one copy of a constant for all streams. Kernels that are still
        running, on whichever stream, see it change, and a captured graph replays
        with whatever was written last.

    Example
            void step(float* out, const float* scale, cudaStream_t stream) {
              cudaMemcpyToSymbolAsync(kScale, scale, 16, 0, cudaMemcpyHostToDevice, stream);
              apply<<<grid, block, 0, stream>>>(out);
            }

    How to fix
        Write constants once, when the model is loaded. Pass what changes from
        step to step as a kernel parameter (a `__grid_constant__` struct is read
        as fast), or in a buffer.

    Sources
        Metrale Engine, "CUDA Kernel Engineering", on constant memory. The CUDA
        Runtime API, `cudaMemcpyToSymbol`.
    """

    code = "CU205"
    name = "constant-mutation"
    level = Level.ERROR
    messages = path_messages(
        "'{0}' changes constant memory", "write it at load time, or pass a kernel parameter"
    )

    INVALID = (
        Example(
            code=_KERNEL
            + """\
void step(float* o, const float* h, cudaStream_t s) {
  cudaMemcpyToSymbol(table, h, 16);
  ~~~~~~~~~~~~~~~~~~
  k<<<1, 32, 0, s>>>(o);
}
""",
            message="'cudaMemcpyToSymbol' changes constant memory in 'step', which launches 'k'",
        ),
        Example(
            code=_KERNEL
            + """\
#define CHECK(x) do { if ((x) != cudaSuccess) throw 1; } while (0)
static void put(const float* h, cudaStream_t s) {
  CHECK(::cudaMemcpyToSymbolAsync(table, h, 16, 0, cudaMemcpyHostToDevice, s));
          ~~~~~~~~~~~~~~~~~~~~~~~
}
void step(float* o, const float* h, cudaStream_t s) { put(h, s); k<<<1, 32, 0, s>>>(o); }
""",
            message="in 'put', which is called by 'step' on the launch path of 'k'",
        ),
        Example(
            path="step.cu",
            code=_SPDX
            + """\
#include "table.cuh"
template <typename T> void step(T* o, const T* h, cudaStream_t s) {
  (void)cudaMemcpyToSymbol<T[4]>(weights, h, 16);
        ~~~~~~~~~~~~~~~~~~
  k<<<1, 32, 0, s>>>(o);
}
""",
            files={"table.cuh": _SPDX + "#pragma once\nextern __constant__ float weights[4];\n"},
        ),
        Example(
            path="driver.cpp",
            code="""\
void run(CUmodule m, CUfunction f, CUstream s, void** a, const void* h) {
  CUdeviceptr at;
  size_t bytes;
  cuModuleGetGlobal(&at, &bytes, m, "table");
  cuMemcpyHtoD(at, h, bytes);
  ~~~~~~~~~~~~
  cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, s, a, nullptr);
}
""",
            files={"table.cu": _SPDX + "__constant__ __align__(16) float table[4];\n"},
        ),
        Example(
            code=_KERNEL
            + """\
#define PUT(h) cudaMemcpyToSymbol(table, h, 16)
               ~~~~~~~~~~~~~~~~~~
void step(float* o, const float* h, cudaStream_t s) {
  auto before = [&] { PUT(h); };
  before();
  k<<<1, 32, 0, s>>>(o);
}
""",
        ),
        Example(
            code=_KERNEL
            + """\
struct Op {
  void scale(const float* h) {
    if (auto e = cudaMemcpyToSymbol(elsewhere, h, 16)) { throw e; }
                 ~~~~~~~~~~~~~~~~~~
  }
  // cudalint: hot
  void load(const float* h) { scale(h); }
};
""",
            message="in 'scale', which is on a path marked hot;",
        ),
    )
    VALID = (
        Example(
            code=_KERNEL
            + """\
void uploadTable(const float* h) { cudaMemcpyToSymbol(table, h, 16); }
void step(float* o, const float* h, cudaStream_t s) { uploadTable(h); k<<<1, 32, 0, s>>>(o); }
""",
        ),
        Example(
            code=_KERNEL
            + """\
struct Op {
  explicit Op(const float* h) { cudaMemcpyToSymbol(table, h, 16); }
  void run(float* o, cudaStream_t s) { k<<<1, 32, 0, s>>>(o); }
};
""",
        ),
        Example(
            code=_KERNEL
            + """\
__device__ float scratch[4];
void step(float* o, const float* h, cudaStream_t s) {
  cudaMemcpyToSymbolAsync(scratch, h, 16, 0, cudaMemcpyDeviceToDevice, s);
  k<<<1, 32, 0, s>>>(o);
}
""",
        ),
        Example(
            code=_KERNEL
            + """\
struct Symbols { void cudaMemcpyToSymbol(const float*, const float*, int); };
void step(float* o, const float* h, cudaStream_t s, Symbols& all) {
  all.cudaMemcpyToSymbol(o, h, 16);
  k<<<1, 32, 0, s>>>(o);
  // cudaMemcpyToSymbol(table, h, 16);
#if 0
  cudaMemcpyToSymbol(table, h, 16);
#endif
}
""",
        ),
        Example(
            code=_KERNEL
            + """\
#include <mutex>
static std::once_flag once;
void step(float* o, const float* h, cudaStream_t s) {
  std::call_once(once, [&] { cudaMemcpyToSymbol(table, h, 16); });
  k<<<1, 32, 0, s>>>(o);
}
""",
        ),
        Example(
            path="driver.cpp",
            code=_SPDX
            + """\
// cudalint: cold
void fill(CUdeviceptr at, const void* h) { cuMemcpyHtoD(at, h, 8); }
void run(CUfunction f, CUstream s, void** a) {
  cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, s, a, nullptr);
}
""",
        ),
    )

    def check(self, project: Project, context: Context, options: NoOptions) -> Iterator[Finding]:
        """Judge every copy that can change constant memory."""
        hot = project.hot_path
        symbols = ConstantSymbols(project, context)

        def judge(call: Call) -> OnPath | None:
            place = hot.place(call)
            changes = place is not None and not place.lazy and symbols.changed_by(call)
            return place if changes else None

        for place in places(hot.api_calls(CHANGING), judge, symbols.changed_by, alone=False):
            yield path_finding(type(self), place, "changes constant memory")
