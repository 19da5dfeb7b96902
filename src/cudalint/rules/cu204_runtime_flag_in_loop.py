"""CU204 runtime-flag-in-loop."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.context import Context
from cudalint.devicecode.devicecode import enclosing
from cudalint.finding import Finding, Level, Related
from cudalint.rule import Example, FileRule, NoOptions
from cudalint.syntax.model import Branch, FileModel

_SPDX = "// SPDX-License-Identifier: MIT OR Apache-2.0\n"
_LOOPS = frozenset({"for", "while", "do"})
_ONCE = frozenset({"0", "false"})


class RuntimeFlagInLoop(FileRule):
    """A branch in a kernel's loop on a parameter that is the same each time.

    What it does
        Reports an `if` or `switch` inside a loop of a kernel whose condition is
        made of scalar parameters of the kernel (`bool`, integers, enums) and
        constants alone, so that it is the same in each iteration. Parameters
        that the kernel changes, conditions with anything else in them (loop
        variables, thread indexes, loaded data), `if constexpr` and conditions
        of template parameters or constants only are left alone.

    Why it matters
        Each thread tests in each iteration what was known before the launch.
        The test costs instructions and registers, and keeps the compiler from
        unrolling and reordering across it.

    Example
            for (int i = threadIdx.x; i < n; i += blockDim.x) {
              if (use_bias) v += bias[i];
            }

    How to fix
        Make the flag a template parameter and the branch an `if constexpr`, with
        one entry point for each value; or take the branch out of the loop.

    Sources
        Metrale Engine, "CUDA Kernel Engineering": no runtime flags in inner
        loops. CUDA C++ Best Practices Guide, "Branching and Divergence".
    """

    code = "CU204"
    name = "runtime-flag-in-loop"
    level = Level.WARNING
    messages = {
        "branch": "The condition '{0}' in a loop of kernel '{1}' is made of parameters alone and "
        "the same in each iteration; make it a template parameter or test it before the loop."
    }

    INVALID = (
        Example(
            code="""\
extern "C" __global__ void bias(const float* a, float* o, int n, bool use_bias, int mode) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    float v = a[i];
    if (use_bias) v += 1.f;
        ~~~~~~~~
    if (mode == 2) v *= 2.f;
        ~~~~~~~~~
    o[i] = v;
  }
}
""",
            message="The condition 'use_bias' in a loop of kernel 'bias' is made of parameters",
        ),
        Example(
            code="""\
enum class Mode { kSum, kMax };
template <typename T> __global__ void reduce(const T* a, T* o, int n, const Mode mode) {
  int i = threadIdx.x;
  while (i < n) {
    switch (mode) {
            ~~~~
      case Mode::kSum: o[0] += a[i]; break;
      default: break;
    }
    i += 32;
  }
}
""",
        ),
        Example(
            code="""\
#define CAUSAL 1
constexpr unsigned kFull = 3;
extern "C" __global__ void mask(float* o, int n, unsigned flags) {
  do {
    if ((flags & kFull) != CAUSAL && !(n > 4)) { o[n] = 0.f; } else { o[0] = 1.f; }
        ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  } while (o[1] > 0.f);
}
""",
        ),
        Example(
            code="""\
__global__ void scale(float* o, int n, bool twice) {
  auto step = [&](int i) {
    for (int j = 0; j < 4; ++j)
      if (twice)
          ~~~~~
        o[i + j] *= 2.f;
  };
  step(threadIdx.x);
}
""",
        ),
        Example(
            code="""\
extern "C" __global__ void copy(const float* a, float* o, int rows, int cols, uint32_t flags) {
  for (int r = 0; r < rows; ++r) {
    for (int c = threadIdx.x; c < cols; c += 32) {
      if (static_cast<bool>(flags)) { o[r * cols + c] = a[c]; }
          ~~~~~~~~~~~~~~~~~~~~~~~~
      else if (flags == 0u || rows == 1) { o[c] = 0.f; }
               ~~~~~~~~~~~~~~~~~~~~~~~~
    }
  }
}
""",
        ),
        Example(
            code="""\
extern "C" __global__ void copy(const float* a, float* o, int n,
                                bool /* whether the last row counts */ last) {
  for (int i = 0; i < n; ++i) {
    if (  // a comment
        last == true) { o[i] = a[i]; }
        ~~~~~~~~~~~~
  }
}
""",
        ),
    )
    VALID = (
        Example(
            code=_SPDX
            + """\
extern "C" __global__ void __launch_bounds__(64) bias(
    const float* a, float* o, int n, bool use_bias) {
  for (int i = threadIdx.x; i < n; i += 64) {
    if (i < n - 1) o[i] = a[i + 1];
    if (a[i] > 0.f) o[i] = 0.f;
    if (use_bias && i > 3) o[i] += 1.f;
    if (threadIdx.x < n) o[0] = 1.f;
  }
  if (use_bias) o[0] = 0.f;
}
""",
        ),
        Example(
            code=_SPDX
            + """\
template <bool kBias, int kMode>
__global__ void __launch_bounds__(64) bias(float* o, int n, bool use_bias) {
  for (int i = threadIdx.x; i < n; i += 64) {
    if constexpr (kBias) o[i] += 1.f;
    if (kMode == 2) o[i] *= 2.f;
    if (sizeof(float) == 4) o[i] += 2.f;
  }
  if (use_bias) o[0] = 1.f;
}
template __global__ void bias<true, 2>(float*, int, bool);
""",
            also=("CU104",),
        ),
        Example(
            code=_SPDX
            + """\
extern "C" __global__ void __launch_bounds__(64) drain(float* o, int left, bool more) {
  while (more) {
    if (left == 3) o[left] = 1.f;
    left -= 1;
    if (more) o[0] = 1.f;
    more = o[left] > 0.f;
  }
}
""",
        ),
        Example(
            code=_SPDX
            + """\
extern "C" __global__ void __launch_bounds__(64) scale(float* o, int n, int mode) {
  for (int i = 0; i < n; ++i) {
    const int mode = static_cast<int>(o[i]);
    if (mode == 2) o[i] = 0.f;
  }
}
""",
        ),
        Example(
            code=_SPDX
            + """\
void host(float* o, int n, bool twice) {
  for (int i = 0; i < n; ++i)
    if (twice) o[i] *= 2.f;
}
__device__ inline void device(float* o, int n, bool twice) {
  for (int i = 0; i < n; ++i)
    if (twice) o[i] *= 2.f;
}
""",
        ),
        Example(
            code=_SPDX
            + """\
struct Params { bool causal; };
extern "C" __global__ void __launch_bounds__(64) mask(
    float* o, const float* bias, int n, Params p, float limit) {
  for (int i = 0; i < n; ++i) {
    // if (n == 3) o[i] = 1.f;
    if (bias != nullptr) o[i] += bias[i];
    if (p.causal) o[i] = 0.f;
    if (limit > 0.f) o[i] = fminf(o[i], limit);
#if 0
    if (n == 3) o[i] = 1.f;
#endif
  }
}
""",
        ),
    )

    def check(self, file: FileModel, context: Context, options: NoOptions) -> Iterator[Finding]:
        """Judge the branches of the kernels' loops, in the order of the text."""
        loops: list[Branch] = []
        for branch in file.branches:
            while loops and loops[-1].span.end <= branch.head.start:
                loops.pop()
            if branch.keyword in _LOOPS:
                if branch.condition not in _ONCE:
                    loops.append(branch)
                continue
            if not loops or branch.keyword == "else":
                continue
            index = enclosing(file, branch.function)
            kernel = file.functions[index] if index >= 0 else None
            if kernel is None or kernel.space != "global" or kernel.body is None:
                continue
            if not kernel.body.covers(loops[-1].head.start):
                continue
            from cudalint.devicecode.runtimeflags import flag_condition

            span = flag_condition(branch, kernel, context)
            if span is not None:
                yield self.report(
                    "branch",
                    span,
                    branch.condition,
                    kernel.name,
                    related=(Related(loops[-1].head, "the loop"),),
                    extents=(branch.head,),
                )
