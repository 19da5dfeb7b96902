"""CU208 divergent-barrier."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.context import Context
from cudalint.devicecode.devicecode import on_device
from cudalint.finding import Confidence, Finding, Level, Related, Span
from cudalint.rule import Example, FileRule, NoOptions
from cudalint.syntax.model import FileModel

_SPDX = "// SPDX-License-Identifier: MIT OR Apache-2.0\n"
_LABELS = {"condition": "the condition", "loop": "the loop", "return": "some leave here"}


class DivergentBarrier(FileRule):
    """A barrier of the whole block that some of its threads may not reach.

    What it does
        Reports `__syncthreads` and its kin, `sync` of a cooperative block and
        `bar.sync` for all threads, where a branch or loop around it depends on
        the thread's index, or where threads may have left the function before,
        by a `return` that depends on it (said at the first barrier behind it).
        What is computed from a thread's index, what it loads with it included,
        depends on it; parameters, block indexes and what the whole block voted
        on do not. `if constexpr`, an `if` with barriers on both of its sides,
        barriers of a warp and named barriers with a count are left alone.

    Why it matters
        The barrier waits for threads that never come: the kernel hangs, or goes
        on with data that is not there. It may work for the size that was tested.

    Example
            extern "C" __global__ void scale(float* o, int n) {
              if (threadIdx.x >= n) return;
              __syncthreads();
            }

    How to fix
        Let every thread of the block reach the barrier: put the work under the
        condition and the barrier behind it, or make the condition one that is
        the same for the block.

    Sources
        The CUDA C++ Programming Guide, "Synchronization Functions":
        `__syncthreads` in conditional code. PTX ISA, `bar` and `barrier`.
    """

    code = "CU208"
    name = "divergent-barrier"
    level = Level.ERROR
    preview = True
    messages = {
        "condition": "'{0}' in '{1}' is under a condition on '{2}', which differs between the "
        "threads of a block; let all of them reach it.",
        "loop": "'{0}' in '{1}' is in a loop whose end depends on '{2}', which differs between "
        "the threads of a block; let all of them reach it as often.",
        "return": "'{0}' in '{1}' comes after a return that depends on '{2}', which differs "
        "between the threads of a block; let all of them reach it.",
    }

    INVALID = (
        Example(
            code="""\
__global__ void pick(float* o) {
  extern __shared__ int scalars[];
  int& mine = scalars[threadIdx.x];
  mine = threadIdx.x;
  if (mine > 3) __syncthreads();
                ~~~~~~~~~~~~~
}
""",
        ),
        Example(
            code="""\
extern "C" __global__ void scale(float* o, int n) {
  int t = threadIdx.x;
  if (t < 64) { o[t] = 0; __syncthreads(); }
                          ~~~~~~~~~~~~~
  if (t >= n) return;
  __syncthreads();
  ~~~~~~~~~~~~~
}
""",
            message="'__syncthreads' in 'scale' is under a condition on 't', which differs",
        ),
        Example(
            code="""\
extern "C" __global__ void scale(float* o, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    o[i] = 1.f;
    __syncthreads();
    ~~~~~~~~~~~~~
  }
}
""",
            message="'__syncthreads' in 'scale' is in a loop whose end depends on 'i', which",
        ),
        Example(
            code="""\
namespace cg = cooperative_groups;
template <typename T> __global__ void scale(T* o, const int* length) {
  auto block = cg::this_thread_block();
  const int mine = length[block.thread_rank()];
  if (mine == 0) {
    o[0] = 0;
  } else {
    block.sync();
          ~~~~
    cg::sync(block);
        ~~~~
  }
}
""",
            message="'block.sync' in 'scale' is under a condition on 'mine', which differs",
        ),
        Example(
            code="""\
#define BARRIER() __syncthreads()
                  ~~~~~~~~~~~~~
__device__ void sum(float* o) {
  const unsigned lane = threadIdx.x & 31u, warp = threadIdx.x >> 5;
  bool first = false;
  first = lane == 0u;
  if (first)
    BARRIER();
  while (o[warp] > 0.f) { o[warp] -= 1.f; }
}
""",
            message="'__syncthreads' in 'sum' is under a condition on 'first', which differs",
        ),
        Example(
            code="""\
extern "C" __global__ void scale(float* o, int n) {
  unsigned lane;
  asm("mov.u32 %0, %laneid;" : "=r"(lane));
  switch (lane) {
    case 0: asm volatile("bar.sync 0;" ::: "memory"); break;
            ~~~
    default: o[0] = 1.f;
  }
}
""",
            message="'bar.sync' in 'scale' is under a condition on 'lane', which differs",
        ),
        Example(
            code="""\
extern "C" __global__ void scale(float* o, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (n > 3) {
    if (i >= n) { return; }
  }
  auto rest = [&](float x) {
    o[i] = x;
    __syncthreads_or(x > 0.f);
    ~~~~~~~~~~~~~~~~
  };
  rest(1.f);
}
""",
            message="'__syncthreads_or' in 'scale' comes after a return that depends on 'i',",
        ),
    )
    VALID = (
        Example(
            code=_SPDX
            + """\
extern "C" __global__ void __launch_bounds__(128) pick(float* o, int n) {
  extern __shared__ char pool[];  // ints from byte 16 on: [count, bin, rows…]
  int* scalars = reinterpret_cast<int*>(pool + 16);  // [count, bin, rows…]
  int& bin = scalars[1];
  if (threadIdx.x < n) bin = threadIdx.x;
  __syncthreads();
  const int chosen = bin;
  if (n - scalars[chosen] == 0) {
    o[chosen] = 1.f;
    __syncthreads();
  }
}
""",
        ),
        Example(
            code=_SPDX
            + """\
extern "C" __global__ void __launch_bounds__(64) scale(float* o, int n, bool twice) {
  if (n > 3) __syncthreads();
  if (blockIdx.x == 0 && twice) __syncthreads();
  for (int i = 0; i < n; ++i) __syncthreads();
  if (blockIdx.x * 64 >= n) return;
  __syncthreads();
}
""",
            also=("CU204",),
        ),
        Example(
            code=_SPDX
            + """\
extern "C" __global__ void __launch_bounds__(64) scale(float* o, int n) {
  for (int i = threadIdx.x; i < n; i += 64) o[i] = 1.f;
  __syncthreads();
  for (int i = 0; i < n; i += 64) {
    if (i + threadIdx.x < n) o[i + threadIdx.x] += 1.f;
    __syncthreads();
  }
}
""",
        ),
        Example(
            code=_SPDX
            + """\
extern "C" __global__ void __launch_bounds__(64) scale(float* o, int n) {
  const bool mine = threadIdx.x < n;
  const int all = __syncthreads_and(mine);
  if (all) __syncthreads();
  if (mine) __syncwarp(__activemask());
}
""",
        ),
        Example(
            code=_SPDX
            + """\
extern "C" __global__ void __launch_bounds__(64) scale(float* o) {
  if (threadIdx.x < 32) asm volatile("bar.sync 1, 32;");
  // if (threadIdx.x == 0) __syncthreads();
#if 0
  if (threadIdx.x == 0) __syncthreads();
#endif
  const char* text = "if (threadIdx.x == 0) __syncthreads();";
  o[0] = text[0];
}
""",
        ),
        Example(
            code=_SPDX
            + """\
extern "C" __global__ void __launch_bounds__(64) scale(float* o) {
  __shared__ int done;
  if (threadIdx.x == 0) done = o[0] > 0.f;
  __syncthreads();
  if (done) __syncthreads();
  auto leave = [&](int i) { if (i == threadIdx.x) return; o[i] = 2.f; };
  leave(3);
  __syncthreads();
}
""",
        ),
        Example(
            code=_SPDX
            + """\
extern "C" __global__ void __launch_bounds__(64) scale(float* o, int n) {
  const int turns = (n + 63) / 64 * blockDim.x;
  for (int i = threadIdx.x; i < turns; i += blockDim.x) {
    if (i < n) o[i] = 1.f;
    __syncthreads();
  }
  int padded = 64 * ((n + 63) / 64);
  for (int i = threadIdx.x; i < padded; i += 64) __syncthreads();
  int end = (n + WIDTH - 1) / WIDTH * WIDTH;
  for (int i = threadIdx.x; i < end; i += blockDim.x) __syncthreads();
  end = n;
  for (int i = threadIdx.x; i < round_up(n, 64); i += 64) {
    if (i >= 64) __syncthreads();
  }
  int lane = threadIdx.x;
  for (int i = blockIdx.x * n + lane; i < (blockIdx.x + 1) * n + lane; i += 64) __syncthreads();
  __shared__ float highest;
  float mine = o[threadIdx.x];
  do {
    mine = o[threadIdx.x] - mine;
    if (threadIdx.x == 0) highest = mine;
    __syncthreads();
    mine = highest;
  } while (mine > 0.f);
  if (threadIdx.x < 32) {
    o[0] = 1.f;
    __syncthreads();
  } else {
    __syncthreads();
    o[1] = 1.f;
  }
}
""",
        ),
        Example(
            code=_SPDX
            + """\
template <bool kStaged>
__global__ void __launch_bounds__(64) scale(float* o, int n) {
  if constexpr (kStaged) __syncthreads();
  if (n == 1) {
    if (threadIdx.x > 0) return;
    o[0] = 1.f;
  } else {
    __syncthreads();
  }
}
extern "C" __global__ void __launch_bounds__(64) scale_staged(float* o, int n) {
  namespace cg = cooperative_groups;
  cg::thread_block_tile<32> warp = cg::tiled_partition<32>(cg::this_thread_block());
  if (threadIdx.x < 32) warp.sync();
}
template __global__ void scale<true>(float*, int);
""",
            also=("CU104", "CU102"),
        ),
    )

    def check(self, file: FileModel, context: Context, options: NoOptions) -> Iterator[Finding]:
        """Judge the barriers of a file; what follows one return is said once."""
        from cudalint.devicecode.barriers import barriers
        from cudalint.devicecode.divergence import Divergence

        reported: set[Span] = set()
        found = list(barriers(file, context))
        places = [(barrier.use or barrier.span).start for barrier, _ in found]
        for (barrier, called), at in zip(found, places, strict=True):
            if barrier.name_span in reported or not on_device(file, barrier.function):
                continue
            bindings = context.bindings(file.path, barrier.function)
            if bindings is None:
                continue
            cause = Divergence(file, bindings, places).cause(at)
            if cause is None or cause.span in reported:
                continue
            if cause.kind == "return":
                reported.add(cause.span)
            reported.add(barrier.name_span)
            yield self.report(
                cause.kind,
                barrier.name_span,
                called,
                bindings.function.name,
                cause.name,
                related=(Related(cause.span, _LABELS[cause.kind]),),
                confidence=Confidence.MEDIUM,
                extents=(barrier.span, *((barrier.use,) if barrier.use else ())),
            )
