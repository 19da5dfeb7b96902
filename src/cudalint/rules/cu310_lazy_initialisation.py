"""CU310 lazy-initialisation."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.context import Context
from cudalint.finding import Finding, Level
from cudalint.hostcode.allocations import expressions
from cudalint.hostcode.hotpath import OnPath
from cudalint.hostcode.memorycalls import GIVING, HOST_GIVING, HOST_TAKING, MAKING, TAKING
from cudalint.hostcode.pathreport import path_finding, path_messages
from cudalint.hostcode.transfers import COPIES, function_text, read_transfer
from cudalint.project.expansion import Place, places
from cudalint.project.project import Project
from cudalint.rule import Example, NoOptions, ProjectRule
from cudalint.syntax.model import Call

_SPDX = "// SPDX-License-Identifier: MIT OR Apache-2.0\n"
_KERNEL = f"""\
{_SPDX}extern "C" __global__ void __launch_bounds__(32) k(float* o) {{ *o = 1.f; }}
"""
_NAMES = TAKING | GIVING | MAKING | COPIES | HOST_TAKING | HOST_GIVING


class LazyInitialisation(ProjectRule):
    """A launch path makes a resource when it finds it absent or too small.

    What it does
        Reports, in a function on a launch path, what a branch does that tests
        whether a resource is absent (`if (!buf_)`) or too small (`if (cap < n)`)
        and makes it: memory that is taken or freed, uploads, streams, events and
        library handles that are created. So it does for what the functions do
        that such a branch calls, where nothing else on a launch path calls them.
        It is a note, instead of CU205, CU304, CU305 and CU306.

    Why it matters
        The first step, or the first longer one, takes milliseconds more than the
        others, and it can't be captured into a graph. A buffer that grows moves:
        graphs captured before hold its old address.

    Example
            void step(float* out, size_t n, cudaStream_t stream) {
              if (cap_ < n) {
                cudaFree(buf_);
                cudaMalloc(&buf_, n);
                cap_ = n;
              }
              scale<<<grid, block, 0, stream>>>(out, buf_);
            }

    How to fix
        Make the resource at load time, at the largest size that a step needs.

    Sources
        Llaminar, profiling guide, on lazily made resources. The CUDA C++
        Programming Guide, "CUDA Graphs".
    """

    code = "CU310"
    name = "lazy-initialisation"
    level = Level.NOTE
    messages = {
        **path_messages("'{0}' takes memory at the first need", "take it at load time"),
        **path_messages(
            "'{0}' frees memory that was too small", "take enough at load time", prefix="free-"
        ),
        **path_messages("'{0}' uploads at the first need", "upload at load time", prefix="copy-"),
        **path_messages(
            "'{0}' makes a handle at the first need", "make it at load time", prefix="make-"
        ),
    }

    INVALID = (
        Example(
            code=_KERNEL
            + """\
struct Op {
  float* buf_ = nullptr;
  size_t cap_ = 0;
  void run(size_t n, cudaStream_t s) {
    if (cap_ < n) {
      cudaFree(buf_);
      ~~~~~~~~
      cudaMalloc(&buf_, n);
      ~~~~~~~~~~
      cap_ = n;
    }
    k<<<1, 32, 0, s>>>(buf_);
  }
};
""",
            message="'cudaFree' frees memory that was too small in 'run', which launches 'k'",
        ),
        Example(
            code=_KERNEL
            + """\
static cudaStream_t streams[8][2];
cudaStream_t stream_of(int device, int i) {
  if (streams[device][i] == nullptr) cudaStreamCreate(&streams[device][i]);
                                     ~~~~~~~~~~~~~~~~
  return streams[device][i];
}
void step(float* o, int device) { k<<<1, 32, 0, stream_of(device, 0)>>>(o); }
""",
        ),
        Example(
            code=_KERNEL
            + """\
#define CHECK(x) do { if ((x) != cudaSuccess) throw 1; } while (0)
static float* table = nullptr;
void step(const float* h, cudaStream_t s) {
  if (!table) {
    CHECK(cudaMallocAsync(&table, 16, s));
          ~~~~~~~~~~~~~~~
    CHECK(cudaMemcpyAsync(table, h, 16, cudaMemcpyHostToDevice, s));
          ~~~~~~~~~~~~~~~
  }
  k<<<1, 32, 0, s>>>(table);
}
""",
            message="'cudaMallocAsync' takes memory at the first need in 'step'",
        ),
        Example(
            code=_KERNEL
            + """\
static cudaEvent_t done = nullptr;
static void mark(cudaStream_t s) {
  if (done == nullptr) cudaEventCreateWithFlags(&done, cudaEventDisableTiming);
                       ~~~~~~~~~~~~~~~~~~~~~~~~
  cudaEventRecord(done, s);
}
void step(float* o, cudaStream_t s) { k<<<1, 32, 0, s>>>(o); mark(s); }
""",
            message="'cudaEventCreateWithFlags' makes a handle at the first need in 'mark'",
        ),
        Example(
            code=_KERNEL
            + """\
struct Op {
  float* host_ = nullptr;
  void run(float* o, size_t n, cudaStream_t s) {
    if (nullptr == host_) { host_ = (float*)malloc(n); }
                                            ~~~~~~
    k<<<1, 32, 0, s>>>(o);
  }
};
""",
        ),
        Example(
            code=_KERNEL
            + """\
#define GROW(p, n) cudaMalloc(&p, n)
                   ~~~~~~~~~~
void step(float*& buf, size_t& cap, size_t n, cudaStream_t s) {
  if (n > cap) { GROW(buf, n); cap = n; }
  k<<<1, 32, 0, s>>>(buf);
}
""",
        ),
        Example(
            code=_KERNEL
            + """\
struct Op {
  float* buf_ = nullptr;
  size_t cap_ = 0;
  void grow(size_t n) {
    if (cap_ >= n) return;
    cudaFree(buf_);
    ~~~~~~~~
    cudaMalloc(&buf_, n);
    ~~~~~~~~~~
    cap_ = n;
  }
  void run(size_t n, cudaStream_t s) { grow(n); k<<<1, 32, 0, s>>>(buf_); }
};
""",
        ),
        Example(
            path="step.cpp",
            code="""\
struct Runner {
  CUstream side_ = nullptr;
  CUdeviceptr buf_ = 0;
  void run(CUfunction f, void** a) {
    if (!side_) { cuStreamCreate(&side_, 1); }
                  ~~~~~~~~~~~~~~
    if (buf_ == 0) cuMemAlloc(&buf_, 16);
                   ~~~~~~~~~~
    cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, side_, a, nullptr);
  }
};
""",
        ),
        Example(
            code=_KERNEL
            + """\
struct Op {
  float* buf_ = nullptr;
  float* out_ = nullptr;
  float* made() { float* p; cudaMalloc(&p, 4); return p; }
                            ~~~~~~~~~~
  void allocBuffers();
  void run(cudaStream_t s) {
    if (!buf_) allocBuffers();
    if (out_ == nullptr) { out_ = this->made(); }
    k<<<1, 32, 0, s>>>(buf_);
  }
};
void Op::allocBuffers() { cudaMalloc((void**)&buf_, 16); }
                          ~~~~~~~~~~
""",
            message="'cudaMalloc' takes memory at the first need in 'made', which is called by",
        ),
        Example(
            code=_KERNEL
            + """\
static void enlarge(float*& buf, size_t& cap, size_t n) {
  delete[] buf;
  ~~~~~~
  cudaMalloc(&buf, n);
  ~~~~~~~~~~
  cap = n;
}
void step(float*& buf, size_t& cap, size_t n, cudaStream_t s) {
  if (cap < n) enlarge(buf, cap, n);
  k<<<1, 32, 0, s>>>(buf);
}
""",
        ),
    )
    VALID = (
        Example(
            code=_KERNEL
            + """\
struct Op {
  float* buf_ = nullptr;
  void take() { cudaMalloc(&buf_, 4); }  // NOLINT(CU304): of each step
  void run(cudaStream_t s) {
    if (!buf_) take();
    take();
    k<<<1, 32, 0, s>>>(buf_);
  }
  void other(float* o, cudaStream_t s, bool more) {
    if (!more) finish(o);
    k<<<1, 32, 0, s>>>(o);
  }
  void finish(float* o) { cudaFree(o); }  // NOLINT(CU304): of each step
};
""",
        ),
        Example(
            code=_KERNEL
            + """\
struct Op {
  float* buf_ = nullptr;
  void setup(size_t n) { if (!buf_) cudaMalloc(&buf_, n); }
  void run(cudaStream_t s) { k<<<1, 32, 0, s>>>(buf_); }
};
""",
        ),
        Example(
            code=_KERNEL
            + """\
static void take(void** p, size_t n) {
  if (getenv("SHARED") != nullptr) {
    auto managed = cudaMallocManaged(p, n);  // NOLINT(CU304): every time, a choice of the user
  }
}
void step(float* o, cudaStream_t s) { take((void**)&o, 4); k<<<1, 32, 0, s>>>(o); }
""",
        ),
        Example(
            code=_KERNEL
            + """\
struct Pool { float* take(size_t n); };
void step(Pool& pool, float*& buf, cudaStream_t s) {
  if (!buf) buf = pool.take(4);
  k<<<1, 32, 0, s>>>(buf);
}
""",
        ),
        Example(
            code=_KERNEL
            + """\
void step(float* a, float* b, bool swap, cudaStream_t s) {
  if (swap) cudaMemcpyAsync(a, b, 4, cudaMemcpyDeviceToDevice, s);
  if (!a) return;
  k<<<1, 32, 0, s>>>(a);
}
""",
        ),
        Example(
            code=_KERNEL
            + """\
void step(float* o, float* copy, cudaStream_t s, bool debug) {
  k<<<1, 32, 0, s>>>(o);
  if (debug) { if (!copy) cudaMalloc(&copy, 4); }
#if 0
  if (!copy) cudaMalloc(&copy, 4);
#endif
}
""",
        ),
        Example(
            path="bench/step.cu",
            code=_KERNEL
            + "void step(float* p, cudaStream_t s) { if (!p) cudaMalloc(&p, 4); "
            + "k<<<1, 32, 0, s>>>(p); }\n",
        ),
        Example(
            code=_KERNEL
            + """\
float* make(size_t n) { static float* p; if (!p) cudaMalloc(&p, n); return p; }
void step(float* o, cudaStream_t s) { k<<<1, 32, 0, s>>>(o); }
""",
        ),
    )

    def check(self, project: Project, context: Context, options: NoOptions) -> Iterator[Finding]:
        """Judge what takes, frees, fills or makes something, where it is lazy."""
        hot = project.hot_path

        def judge(call: Call) -> OnPath | None:
            place = hot.lazy_place(call)
            return place if place is not None and _uploads(call, context) else None

        for place in places(hot.api_calls(_NAMES), judge, lambda c: True, alone=False):
            yield self._found(place)
        for path in sorted(project.models):
            model = project.models[path]

            def wanted(function: int, path: str = path) -> bool:
                node = project.graph.node_at(path, function)
                return node is not None and (
                    project.launch_paths.is_on_path(node.id)
                    or project.lazy_paths.witness(node) is not None
                )

            for call in expressions(model, context, wanted):
                on_path = judge(call)
                if on_path is not None:
                    yield self._found(Place(call, on_path, call.name_span))

    def _found(self, place: Place[Call, OnPath]) -> Finding:
        name = place.record.name
        if name in GIVING | HOST_GIVING | {"delete"}:
            return path_finding(type(self), place, "frees memory", prefix="free-")
        if name in COPIES:
            return path_finding(type(self), place, "uploads", prefix="copy-")
        if name in MAKING:
            return path_finding(type(self), place, "makes a handle", prefix="make-")
        return path_finding(type(self), place, "takes memory")


def _uploads(call: Call, context: Context) -> bool:
    """Whether a copy brings data from the host; true for what is no copy."""
    if call.name not in COPIES:
        return True
    transfer = read_transfer(call, function_text(call, context))
    return transfer.direction in ("to device", "default")
