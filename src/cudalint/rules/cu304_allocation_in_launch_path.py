"""CU304 allocation-in-launch-path."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.context import Context
from cudalint.devicecode.devicecode import device_only
from cudalint.finding import Finding, Level
from cudalint.hostcode.allocations import GROWING, expressions, grows, is_deleter
from cudalint.hostcode.hotpath import OnPath
from cudalint.hostcode.memorycalls import GIVING, HOST_GIVING, HOST_TAKING, TAKING
from cudalint.hostcode.pathreport import path_finding, path_messages
from cudalint.project.expansion import Place, places
from cudalint.project.headermacros import home
from cudalint.project.project import Project
from cudalint.rule import Example, NoOptions, ProjectRule
from cudalint.syntax.model import Call

_SPDX = "// SPDX-License-Identifier: MIT OR Apache-2.0\n"
_KERNEL = f"""\
{_SPDX}extern "C" __global__ void __launch_bounds__(32) k(float* o) {{ *o = 1.f; }}
"""
_HOST = HOST_TAKING | HOST_GIVING | {"std::malloc", "std::calloc", "std::realloc", "std::free"}
_FREES = GIVING | HOST_GIVING | {"delete"}
_NAMES = TAKING | GIVING | HOST_TAKING | HOST_GIVING


class AllocationInLaunchPath(ProjectRule):
    """Memory is taken or freed on the way to or from a launch.

    What it does
        Reports in each function on a launch path the calls of the runtime and
        the driver that take or free memory (`cudaMalloc…`, `cudaFree…`,
        `cudaHostAlloc`, `cuMemAlloc…`, `cuMemFree…`), the host's `new`,
        `delete`, `malloc` and `free`, and, as a note, methods that make a
        standard container grow. In device code it reports `new`, `delete`,
        `malloc` and `free`. Cold code is left alone, as for CU301. A branch that
        takes memory because it is absent or too small is CU310's business.
        Placement `new`, and methods of arenas and workspaces, take nothing and
        are not reported.

    Why it matters
        `cudaMalloc` and `cudaFree` wait for the device and cannot be captured
        into a graph; the host's allocator takes locks, and its time varies. In a
        kernel the heap is small, slow and shared by all threads.

    Example
            void step(float* out, int n, cudaStream_t stream) {
              float* scratch;
              cudaMalloc(&scratch, n * sizeof(float));
              scale<<<grid, block, 0, stream>>>(out, scratch);
              cudaFree(scratch);
            }

    How to fix
        Take memory once, when the model is loaded, at the largest size that a
        step needs, and pass it down; or take it from an arena that lives longer
        than the step.

    Sources
        Metrale Engine, "CUDA Kernel Engineering", and Llaminar, profiling guide,
        on allocations. The CUDA C++ Programming Guide, "CUDA Graphs" and
        "Dynamic Global Memory Allocation".
    """

    code = "CU304"
    name = "allocation-in-launch-path"
    level = Level.ERROR
    messages = {
        **path_messages("'{0}' takes memory", "take it once, at load time"),
        **path_messages("'{0}' frees memory", "free it after the last step", prefix="free-"),
        **path_messages(
            "'{0}' may make a container take memory", "reserve it at load time", prefix="grow-"
        ),
        "device": "'{0}' in device code, in '{1}', uses the device's heap; "
        "pass memory to the kernel.",
    }

    INVALID = (
        Example(
            code=_KERNEL
            + """\
void step(float* o, cudaStream_t s) {
  float* p;
  cudaMalloc(&p, 64);
  ~~~~~~~~~~
  k<<<1, 32, 0, s>>>(p);
  (void)::cudaFree(p);
          ~~~~~~~~
}
""",
            message="'cudaMalloc' takes memory in 'step', which launches 'k'; take it once",
        ),
        Example(
            code=_KERNEL
            + """\
#define CHECK(x) do { if ((x) != cudaSuccess) throw 1; } while (0)
template <typename T> static T* scratch(size_t n) {
  T* p = nullptr;
  CHECK(cudaMallocAsync<T>(&p, n, cudaStreamPerThread));
        ~~~~~~~~~~~~~~~
  return p;
}
struct Op { void run(cudaStream_t s) { k<<<1, 32, 0, s>>>(scratch<float>(4)); } };
""",
            message="in 'scratch', which is called by 'run' on the launch path of 'k'",
        ),
        Example(
            code=_KERNEL
            + """\
#include <vector>
struct Op {
  std::vector<int> sizes_;
  void run(float* o, cudaStream_t s, std::vector<float*>& all) {
    k<<<1, 32, 0, s>>>(o);
    sizes_.push_back(3);
           ~~~~~~~~~
    all.emplace_back(o);
        ~~~~~~~~~~~~
    std::vector<int> local;
    local.reserve(3);
          ~~~~~~~
  }
};
""",
            message="'push_back' may make a container take memory in 'run', which launches 'k'",
        ),
        Example(
            code=_KERNEL
            + """\
void step(float* o, cudaStream_t s, int n) {
  int* list = new int[n];
              ~~~
  void* raw = malloc(4);
              ~~~~~~
  std::free(raw);
       ~~~~
  k<<<1, 32, 0, s>>>(o);
  delete[] list;
  ~~~~~~
}
""",
            message="'new' takes memory in 'step'",
        ),
        Example(
            code=_SPDX
            + """\
extern "C" __global__ void __launch_bounds__(32) k(float** o) {
  *o = new float[4];
       ~~~
  void* p = malloc(4);
            ~~~~~~
  free(p);
  ~~~~
}
__device__ void drop(float* p) { delete[] p; }
                                 ~~~~~~
""",
            message="'new' in device code, in 'k', uses the device's heap; pass memory",
        ),
        Example(
            code=_KERNEL
            + """\
#define TAKE(p, n) cudaMallocHost(p, n)
                   ~~~~~~~~~~~~~~
void step(float* o, cudaStream_t s) {
  auto body = [&] { float* h; TAKE(&h, 3); };
  body();
  k<<<1, 32, 0, s>>>(o);
}
""",
        ),
        Example(
            path="step.cpp",
            code="""\
void run(CUfunction f, CUstream s, void** a) {
  CUdeviceptr p;
  if (cuMemAlloc_v2(&p, 8) != CUDA_SUCCESS) return;
      ~~~~~~~~~~~~~
  cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, s, a, nullptr);
  cuMemFree(p);
  ~~~~~~~~~
}
""",
        ),
    )
    VALID = (
        Example(
            code=_KERNEL
            + """\
struct Arena {
  float* base;
  Arena() { cudaMalloc(&base, 1 << 20); }
  ~Arena() { cudaFree(base); }
  float* malloc(size_t n) { return base + n; }
  float* again(size_t n) { return malloc(n); }
};
void step(Arena& arena, cudaStream_t s) { k<<<1, 32, 0, s>>>(arena.malloc(4) + *arena.again(4)); }
""",
        ),
        Example(
            code=_KERNEL
            + """\
float* create_buffer(size_t n) { float* p; cudaMalloc(&p, n); return p; }
int main() {
  float* p = create_buffer(4);
  k<<<1, 32, 0, cudaStreamPerThread>>>(p);
  cudaFree(p);
}
""",
        ),
        Example(
            code=_KERNEL
            + """\
bool step(float* o, float* half_done, cudaStream_t s) {
  k<<<1, 32, 0, s>>>(o);
  if (cudaGetLastError() != cudaSuccess) {
    cudaFree(half_done);
    return false;
  }
  return true;
}
""",
        ),
        Example(
            code=_KERNEL
            + """\
struct Task {
  Task(const Task&) = delete;
  void* operator new(size_t n) = delete;
  void operator delete(void* p) = delete;
};
void step(float* o, void* place, cudaStream_t s) {
  int* p = ::new (static_cast<void*>(place)) int(3);
  std::shared_ptr<float> own(o, [](float* q) { delete q; cudaFree(q); });
  *p = 4;  // a new value, and malloc(3) in a comment
  const char* text = "new int";
  k<<<1, 32, 0, s>>>(o + *p + text[0]);
}
""",
        ),
        Example(
            code=_KERNEL
            + """\
struct Ring { void push_back(int) {} void resize(int) {} };
struct Op {
  Ring ring_;
  void run(float* o, cudaStream_t s, Ring& other) {
    ring_.push_back(3);
    other.resize(4);
    pool().insert(3);
    k<<<1, 32, 0, s>>>(o);
  }
  Ring& pool();
};
""",
        ),
        Example(
            path="benchmarks/step.cu",
            code=_KERNEL
            + "void step(cudaStream_t s) { float* p; cudaMalloc(&p, 4); "
            + "k<<<1, 32, 0, s>>>(p); cudaFree(p); }\n",
        ),
        Example(
            code=_KERNEL
            + """\
// cudalint: cold
void grow(float** p, size_t n) { cudaFree(*p); cudaMalloc(p, n); }
void step(float* o, cudaStream_t s, bool debug) {
  k<<<1, 32, 0, s>>>(o);
#if 0
  cudaMalloc(&o, 4);
#endif
  if (debug) { float* copy = new float[4]; delete[] copy; }
  grow(&o, 4);
}
""",
        ),
    )

    def check(self, project: Project, context: Context, options: NoOptions) -> Iterator[Finding]:
        """Judge API calls, the host's allocator, expressions and containers, in this order."""
        hot = project.hot_path
        calls = [c for c in hot.calls(_NAMES) if hot.is_api(c) or _is_standard(c)]

        def on_path(call: Call) -> OnPath | None:
            place = hot.place(call)
            if place is None or place.lazy:
                return None
            later = call.name in _FREES and is_deleter(call, project.models[home(call)], context)
            return None if later else place

        for place in places(calls, on_path, lambda call: True, alone=False):
            yield self._on_path(place)
        host = [c for c in calls if c.name in _HOST]
        for fault in places(host, lambda c: _on_device(c, project), lambda c: True, alone=False):
            yield self._in_device(fault)
        yield from self._expressions(project, context)
        methods = [c for c in hot.calls(GROWING) if c.receiver]

        def grown(call: Call) -> OnPath | None:
            place = on_path(call)
            known = place is not None and grows(call, project.models[home(call)], context)
            return place if known else None

        for place in places(methods, grown, lambda call: True, alone=False):
            yield path_finding(
                type(self), place, "may take memory", prefix="grow-", level=Level.NOTE
            )

    def _on_path(self, place: Place[Call, OnPath]) -> Finding:
        if place.record.name in _FREES:
            return path_finding(type(self), place, "frees memory", prefix="free-")
        return path_finding(type(self), place, "takes memory")

    def _expressions(self, project: Project, context: Context) -> Iterator[Finding]:
        for path in sorted(project.models):
            model = project.models[path]

            def wanted(function: int, path: str = path) -> bool:
                node = project.graph.node_at(path, function)
                on_path = node is not None and project.launch_paths.witness(node) is not None
                return on_path or device_only(project.models[path], function)

            for call in expressions(model, context, wanted):
                name = _on_device(call, project)
                if name is not None:
                    yield self._in_device(Place(call, name, call.name_span))
                    continue
                on_path = project.hot_path.place(call)
                later = call.name == "delete" and is_deleter(call, model, context)
                if on_path is not None and not on_path.lazy and not later:
                    yield self._on_path(Place(call, on_path, call.name_span))

    def _in_device(self, place: Place[Call, str]) -> Finding:
        call = place.record
        return self.report(
            "device",
            place.span,
            call.name,
            place.verdict,
            related=place.related,
            extents=(call.statement, *place.uses),
        )


def _is_standard(call: Call) -> bool:
    """Whether it is `std::malloc` or one like it; the bare names are the API's, as others are."""
    callee = call.callee.removeprefix("::")
    return callee.startswith("std::") and not call.receiver and callee in _HOST


def _on_device(call: Call, project: Project) -> str | None:
    model = project.models[home(call)]
    if not device_only(model, call.function):
        return None
    return model.functions[call.function].name or "a lambda"
