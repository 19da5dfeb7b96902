"""CU207 order-dependent-atomic."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cudalint.context import Context
from cudalint.finding import Finding, Level, Span
from cudalint.rule import Example, FileRule, NoOptions
from cudalint.syntax.model import FileModel

if TYPE_CHECKING:
    from cudalint.devicecode.atomics import Arrival

_SPDX = "// SPDX-License-Identifier: MIT OR Apache-2.0\n"


class OrderDependentAtomic(FileRule):
    """An atomic whose result depends on the order in which threads arrive.

    What it does
        Reports additions to floating-point memory by `atomicAdd`, `atomicSub`,
        `fetch_add` of `cuda::atomic`, PTX `red` and `atom`, and loops around
        `atomicCAS` that compute with floats; types are seen through aliases,
        casts, members and `auto`. Reports integer atomics whose returned value
        is used. Integer atomics whose result is discarded, atomic reads (adding
        a literal 0) and loops that take a minimum or maximum are left alone.

    Why it matters
        Floating-point addition is not associative, and the order changes from
        run to run: the same input gives other bits, and at temperature 0 other
        tokens. The value that an integer atomic returns is the order itself.

    Example
            extern "C" __global__ void sum(const float* a, float* o) {
              atomicAdd(o, a[threadIdx.x]);
            }

    How to fix
        Reduce within the block in a fixed order, write one partial result for
        each block, and add these in a second kernel. For slots, count first and
        take a prefix sum. Where any order is right, say so beside a suppression.

    Sources
        Metrale Engine, "CUDA Kernel Engineering": bitwise reproducible results.
        The CUDA C++ Programming Guide, "Atomic Functions".
    """

    code = "CU207"
    name = "order-dependent-atomic"
    level = Level.WARNING
    messages = {
        "float": "'{0}' adds '{1}' values in the order in which threads arrive, "
        "and rounds differently in each run; reduce in a fixed order.",
        "cas": "This loop around '{0}' computes with '{1}' values in the order in which threads "
        "arrive, and rounds differently in each run; reduce in a fixed order.",
        "slot": "The result of '{0}' is the order in which threads arrive, and it is used; "
        "derive it from indexes or a prefix sum.",
    }

    INVALID = (
        Example(
            code="""\
typedef float acc_t;
extern "C" __global__ void sum(float* f, int* n, acc_t* a, __nv_bfloat16* b) {
  atomicAdd(f, 1.0f);
  ~~~~~~~~~
  atomicAdd(&a[threadIdx.x], 1.0f);
  ~~~~~~~~~
  atomicAdd(b, __float2bfloat16(1.f));
  ~~~~~~~~~
  unsigned slot = atomicAdd(n + 1, 1);
                  ~~~~~~~~~
  f[slot] = 0;
}
""",
            message="'atomicAdd' adds 'float' values in the order in which threads arrive,",
        ),
        Example(
            code="""\
__device__ void add(double* address, double value) {
  unsigned long long* bits = (unsigned long long*)address;
  unsigned long long old = *bits, assumed;
  do {
    assumed = old;
    old = atomicCAS(bits, assumed,
          ~~~~~~~~~
                    __double_as_longlong(value + __longlong_as_double(assumed)));
  } while (assumed != old);
}
""",
            message="This loop around 'atomicCAS' computes with 'double' values",
        ),
        Example(
            code="""\
struct Stats { unsigned count; float sum; };
__device__ Stats stats;
__device__ float total[4];
extern "C" __global__ void gather(Stats* all, const float* a) {
  __shared__ half2 part[32];
  auto* mine = part + threadIdx.x;
  atomicAdd(mine, __floats2half2_rn(a[0], a[1]));
  ~~~~~~~~~
  atomicAdd(&all->count, 1u);
  atomicAdd(&all[3].sum, a[0]);
  ~~~~~~~~~
  ::atomicAdd_block(reinterpret_cast<float*>(all) + 1, a[2]);
    ~~~~~~~~~~~~~~~
  atomicSub(total + 1, a[3]);
  ~~~~~~~~~
}
""",
            message="'atomicAdd' adds 'half2' values",
        ),
        Example(
            code="""\
extern "C" __global__ void sum(float* o, float v, unsigned* n) {
  asm volatile("red.global.add.f32 [%0], %1;" :: "l"(o), "f"(v) : "memory");
  ~~~
  cuda::atomic_ref<float, cuda::thread_scope_device> all(*o);
  all.fetch_add(v, cuda::memory_order_relaxed);
      ~~~~~~~~~
  cuda::atomic_ref<unsigned> count{*n};
  if (count.fetch_add(1u) == 7u) o[1] = v;
            ~~~~~~~~~
}
""",
            message="'red.global.add.f32' adds 'f32' values",
        ),
        Example(
            code="""\
#define TAKE(counter) atomicAdd(counter, 1)
                      ~~~~~~~~~
template <typename T> __global__ void compact(T* o, int* n, const T* a) {
  if (a[threadIdx.x] > T(0)) o[TAKE(n)] = a[threadIdx.x];
}
""",
            message="The result of 'atomicAdd' is the order in which threads arrive,",
        ),
        Example(
            code="""\
__device__ int slot(int* n) { return atomicAdd(n, 1); }
                                     ~~~~~~~~~
extern "C" __global__ void last(unsigned* n, float* o, int* m) {
  bool is_last = atomicInc(n, gridDim.x) == gridDim.x - 1;
                 ~~~~~~~~~
  if (is_last || (atomicOr(n, 1u) & 1u)) o[slot(m)] = 1.f;
                  ~~~~~~~~
}
""",
        ),
    )
    VALID = (
        Example(
            code=_SPDX
            + """\
using count_t = unsigned int;
extern "C" __global__ void __launch_bounds__(64) count(int* n, count_t* m, float* f) {
  atomicAdd(n, 1);
  atomicMax(m, 3u);
  (void)atomicAdd(m, 1u);
  if (f[0] > 0.f) atomicOr(m, 1u);
  else atomicSub(n, 2);
  atomicMax((int*)f, __float_as_int(1.f));
}
""",
        ),
        Example(
            code=_SPDX
            + """\
extern "C" __global__ void __launch_bounds__(64) read(unsigned* n, float* o) {
  // atomicAdd(o, 1.f) would depend on the order
  if (atomicAdd(n, 0) == 3u) o[0] = 1.f;
#if 0
  atomicAdd(o, 1.f);
#endif
  const char* text = "atomicAdd(o, 1.f)";
  o[1] = text[0];
}
""",
        ),
        Example(
            code=_SPDX
            + """\
__device__ inline float highest(float* address, float value) {
  int* bits = reinterpret_cast<int*>(address);
  int old = *bits, assumed;
  do {
    assumed = old;
    old = atomicCAS(bits, assumed, __float_as_int(fmaxf(value, __int_as_float(assumed))));
  } while (assumed != old);
  return __int_as_float(old);
}
""",
        ),
        Example(
            code=_SPDX
            + """\
__device__ inline float raise_to(float* o, float v) {
  if (v >= 0.f) {
    unsigned old = atomicMax((unsigned*)o, __float_as_uint(v));
    return __uint_as_float(old);
  } else {
    unsigned old = atomicMin((unsigned*)o, __float_as_uint(v));
    return __uint_as_float(old);
  }
}
extern "C" __global__ void __launch_bounds__(64) top(float* o, float v) { raise_to(o, v); }
""",
        ),
        Example(
            code=_SPDX
            + """\
struct Queue { int fetch_add(int); };
int host(Queue& q, std::atomic<int>& n) { return q.fetch_add(1) + n.fetch_add(1); }
void atomicAdd(float* o, float v) { *o += v; }
void on_host(float* o) { atomicAdd(o, 1.f); }
""",
        ),
        Example(
            code=_SPDX
            + """\
#define COUNT(n) atomicAdd(n, 1)
template <typename T>
__device__ inline void tally(T* n, int* m) {
  COUNT(m);
  atomicAdd(n, T(1));
  asm volatile("red.global.add.u32 [%0], 1;" ::"l"(m));
}
""",
        ),
        Example(
            code=_SPDX
            + """\
__device__ inline void lock(int* mutex) {
  while (atomicCAS(mutex, 0, 1) != 0) {}
}
__device__ inline int add_to(int* n, int v) { return atomicAdd(n, v); }
__device__ inline float raise(float* p, float v) {
  float old;
  old = v >= 0 ? __int_as_float(atomicMax((int*)p, __float_as_int(v)))
               : __uint_as_float(atomicMin((unsigned*)p, __float_as_uint(v)));
  return old;
}
extern "C" __global__ void __launch_bounds__(64) count(int* n, float* f) {
  float value = 2.f;
  int* counters = n + 4;
  add_to(n, 1);
  raise(f, 2.f);
  atomicAdd(&counters[threadIdx.x], static_cast<int>(value + f[0]));
}
""",
        ),
    )

    def check(self, file: FileModel, context: Context, options: NoOptions) -> Iterator[Finding]:
        """Judge the atomics of a file; one in a macro's body is one finding."""
        if not file.assembly and not any(
            call.name.startswith(("atomic", "fetch_")) for call in file.calls
        ):
            return
        from cudalint.devicecode.atomics import Atomics

        seen: dict[Span, list[Arrival]] = {}
        for arrival in Atomics(file, context).found():
            seen.setdefault(arrival.record.name_span, []).append(arrival)
        for span, arrivals in sorted(seen.items()):
            first = arrivals[0]
            uses = [a.record.use for a in arrivals if a.record.use is not None]
            arguments = (first.called,) if first.kind == "slot" else (first.called, first.type)
            yield self.report(
                first.kind,
                span,
                *arguments,
                extents=(first.record.span, *uses),
            )
