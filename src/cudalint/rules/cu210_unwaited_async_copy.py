"""CU210 unwaited-async-copy."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.context import Context
from cudalint.finding import Confidence, Finding, Level, Related, Span
from cudalint.project.project import Project
from cudalint.rule import Example, NoOptions, ProjectRule

_SPDX = "// SPDX-License-Identifier: MIT OR Apache-2.0\n"


class UnwaitedAsyncCopy(ProjectRule):
    """An asynchronous copy into shared memory that is read before anyone waits for it.

    What it does
        Reports `cp.async`, `__pipeline_memcpy_async` and `memcpy_async`, direct
        or in a function of the run, whose shared destination is read further
        down in the same function with no wait in between; and waits for groups
        where the copy was never committed to one. Waits in functions that are
        called count, and so does a call of an unknown function whose name says
        that it waits. Copies in a loop with a wait, and bulk copies, are left
        alone.

    Why it matters
        A barrier of the block does not wait for asynchronous copies. What is read
        is whatever was there before, mostly: the fault comes and goes.

    Example
            __pipeline_memcpy_async(&tile[t], a + t, 4);
            __syncthreads();
            o[t] = tile[t ^ 1];

    How to fix
        Commit the copies, wait for the group (`cp.async.wait_group`,
        `__pipeline_wait_prior`), then let the block meet at a barrier.

    Sources
        PTX ISA, "Data Movement and Conversion Instructions: Asynchronous copy".
        The CUDA C++ Programming Guide, "Asynchronous Data Copies".
    """

    code = "CU210"
    name = "unwaited-async-copy"
    level = Level.ERROR
    preview = True
    messages = {
        "wait": "'{0}' copies to '{1}', which is read before anyone waits for the copy; "
        "commit it and wait first.",
        "commit": "'{0}' copies to '{1}', and the wait before it is read is for groups that the "
        "copy was not committed to; commit it first.",
    }

    INVALID = (
        Example(
            code="""\
extern "C" __global__ void scale(const float* a, float* o) {
  __shared__ float tile[64];
  __pipeline_memcpy_async(&tile[threadIdx.x], a + threadIdx.x, 4);
  ~~~~~~~~~~~~~~~~~~~~~~~
  __pipeline_commit();
  __syncthreads();
  o[threadIdx.x] = tile[threadIdx.x ^ 1];
}
""",
            message="'__pipeline_memcpy_async' copies to 'tile', which is read before anyone",
        ),
        Example(
            code="""\
extern "C" __global__ void scale(const float4* a, float4* o) {
  __shared__ float4 tile[64];
  const unsigned s = static_cast<unsigned>(__cvta_generic_to_shared(&tile[threadIdx.x]));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\\n" :: "r"(s), "l"(a + threadIdx.x));
  ~~~
  asm volatile("cp.async.wait_group 0;\\n" ::: "memory");
  __syncthreads();
  o[threadIdx.x] = tile[threadIdx.x ^ 1];
}
""",
            message="'cp.async' copies to 'tile', and the wait before it is read is for groups",
        ),
        Example(
            path="scale.cu",
            files={
                "copy.cuh": "#pragma once\n"
                "__device__ inline void copy16(void* to, const void* from) {\n"
                "  unsigned s = __cvta_generic_to_shared(to);\n"
                '  asm("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(s), "l"(from));\n'
                "}\n"
            },
            code="""\
#include "copy.cuh"
extern "C" __global__ void scale(const float* a, float* o) {
  extern __shared__ float pool[];
  float* tile = pool + 64;
  for (int i = 0; i < 4; ++i) copy16(tile + 4 * i, a + 4 * i);
                              ~~~~~~
  __syncthreads();
  o[threadIdx.x] = tile[threadIdx.x];
}
""",
            message="'copy16' copies to 'pool'",
        ),
        Example(
            code="""\
template <typename T> __global__ void scale(const T* a, T* o) {
  __shared__ T tile[32];
  auto block = cooperative_groups::this_thread_block();
  cooperative_groups::memcpy_async(block, tile, a, sizeof(T) * 32);
                      ~~~~~~~~~~~~
  block.sync();
  T x = tile[0];
  *o = x;
}
""",
        ),
        Example(
            code="""\
#define COPY(to, from) __pipeline_memcpy_async(to, from, 16)
                       ~~~~~~~~~~~~~~~~~~~~~~~
extern "C" __global__ void sum(const float* a, float* o, int n) {
  __shared__ float tile[2][64];
  float all = 0.f;
  for (int i = 0; i < n; ++i) {
    COPY(&tile[i & 1][threadIdx.x], a + i);
    __pipeline_commit();
    __syncthreads();
    all += tile[i & 1][0];
  }
  *o = all;
}
""",
        ),
        Example(
            code="""\
__device__ void commit() { asm volatile("cp.async.commit_group;"); }
__device__ float first(const float* a) {
  __shared__ float tile[64];
  tile[0] = 0.f;
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;"
  ~~~
               :: "r"((unsigned)__cvta_generic_to_shared(tile)), "l"(a));
  commit();
  return tile[0];
}
""",
        ),
        Example(
            code="""\
struct State { float total; int length; };
extern "C" __global__ void scale(const int* n, float* o) {
  __shared__ State state;
  __pipeline_memcpy_async(&state.length, n, 4);
  ~~~~~~~~~~~~~~~~~~~~~~~
  state.total = 0.f;
  *o = state.total + state.length;
}
""",
        ),
    )
    VALID = (
        Example(
            code=_SPDX
            + """\
extern "C" __global__ void __launch_bounds__(64) scale(const float* a, float* o) {
  __shared__ float tile[64];  // [thread]
  __pipeline_memcpy_async(&tile[threadIdx.x], a + threadIdx.x, 4);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  o[threadIdx.x] = tile[threadIdx.x ^ 1];
}
""",
        ),
        Example(
            code=_SPDX
            + """\
__device__ inline void arrived() { asm volatile("cp.async.wait_all;" ::: "memory"); }
extern "C" __global__ void __launch_bounds__(64) scale(const float* a, float* o) {
  __shared__ float tile[64];  // [thread]
  const unsigned s = static_cast<unsigned>(__cvta_generic_to_shared(&tile[threadIdx.x]));
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;\\n" ::"r"(s), "l"(a + threadIdx.x));
  arrived();
  __syncthreads();
  o[threadIdx.x] = tile[threadIdx.x ^ 1];
}
""",
        ),
        Example(
            code=_SPDX
            + """\
extern "C" __global__ void __launch_bounds__(64) sum(const float* a, float* o, int n) {
  __shared__ float tile[2][64];  // [stage][thread]
  float all = 0.f;
  for (int i = 0; i < n; ++i) {
    if (i > 0) {
      __pipeline_wait_prior(0);
      __syncthreads();
    }
    __pipeline_memcpy_async(&tile[i & 1][threadIdx.x], a + i, 4);
    __pipeline_commit();
    all += tile[(i + 1) & 1][0];
  }
  *o = all;
}
""",
        ),
        Example(
            code=_SPDX
            + """\
__device__ inline void copy4(float* to, const float* from) {
  __pipeline_memcpy_async(to, from, 4);
  // and cp.async.wait_all is somebody else's business
}
extern "C" __global__ void __launch_bounds__(64) fill(const float* a, float* o) {
  __shared__ float tile[64];  // [thread]
  tile[threadIdx.x] = a[threadIdx.x];
  __syncthreads();
  o[0] = tile[3];
  copy4(&tile[threadIdx.x], a);
  __pipeline_commit();
}
""",
        ),
        Example(
            code=_SPDX
            + """\
extern "C" __global__ void __launch_bounds__(64) scale(const float* a, float* o) {
  __shared__ float tile[64], other[64];  // [thread] each
  __pipeline_memcpy_async(&tile[threadIdx.x], a + threadIdx.x, sizeof(tile[0]));
  other[threadIdx.x] = 1.f;
  o[0] = other[threadIdx.x ^ 1] + sizeof(tile);
  cutlass::arch::cp_async_wait<0>();
  o[1] = tile[0];
}
""",
        ),
        Example(
            code=_SPDX
            + """\
void host(float* a, float* o) {
  float tile[64];
  memcpy_async(tile, a, 4);
  o[0] = tile[0];
}
extern "C" __global__ void __launch_bounds__(64) scale(float* o) {
  const char* text = "cp.async.cg.shared.global [%0], [%1], 16;";
  o[0] = text[0];
}
""",
        ),
        Example(
            code=_SPDX
            + """\
struct State { int length; float total; };
__device__ void begin(State& state);
extern "C" __global__ void __launch_bounds__(64) scale(const int* n, float* o) {
  extern __shared__ char pool[];  // [state]
  State& state = *reinterpret_cast<State*>(pool);
  __pipeline_memcpy_async(&state.length, n, sizeof(int));
  begin(state);
  o[0] = state.total;
  __pipeline_commit();
  __pipeline_wait_prior(0);
  o[1] = o[0] + state.length;
}
""",
        ),
    )

    def check(self, project: Project, context: Context, options: NoOptions) -> Iterator[Finding]:
        """Judge the copies of all files."""
        if not any(
            any("cp.async" in asm.text for asm in model.assembly)
            or any(call.name.endswith("memcpy_async") for call in model.calls)
            for model in project.models.values()
        ):
            return
        from cudalint.devicecode.asynccopies import AsyncCopies

        copies = AsyncCopies(context)
        for path, model in project.models.items():
            seen: set[Span] = set()
            for unwaited in copies.found(model):
                copy = unwaited.copy
                if copy.name_span in seen:
                    continue
                seen.add(copy.name_span)
                yield self.report(
                    "commit" if unwaited.committed else "wait",
                    copy.name_span,
                    unwaited.called,
                    unwaited.shared,
                    related=(Related(Span(path, *unwaited.read), "read here"),),
                    confidence=Confidence.MEDIUM,
                    extents=(copy.span, *((copy.use,) if copy.use else ())),
                )
