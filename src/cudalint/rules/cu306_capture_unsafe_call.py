"""CU306 capture-unsafe-call."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from cudalint.context import Context
from cudalint.finding import Confidence, Finding, Level
from cudalint.hostcode.hotpath import OnPath
from cudalint.hostcode.pathreport import path_finding, path_messages
from cudalint.hostcode.policies import Policies, local_of
from cudalint.hostcode.streams import is_stream_type, null_stream
from cudalint.hostcode.transfers import COPIES, function_text, read_transfer
from cudalint.project.expansion import Place, places
from cudalint.project.headermacros import home
from cudalint.project.project import Project
from cudalint.regex import regex
from cudalint.rule import Example, NoOptions, ProjectRule
from cudalint.syntax.model import Call

if TYPE_CHECKING:
    pass

_SPDX = "// SPDX-License-Identifier: MIT OR Apache-2.0\n"
_KERNEL = f"""\
{_SPDX}extern "C" __global__ void __launch_bounds__(32) k(float* o) {{ *o = 1.f; }}
"""
_ASKING = frozenset({"cudaEventQuery", "cudaStreamQuery", "cuEventQuery", "cuStreamQuery"})
_LEGACY = frozenset(
    {
        *("cudaMemset", "cudaMemset2D", "cudaMemset3D", "cudaMemcpyPeer", "cudaMemcpy3DPeer"),
        *("cuMemsetD8", "cuMemsetD16", "cuMemsetD32", "cuMemcpyDtoD", "cuMemcpy"),
        *("cuMemsetD8_v2", "cuMemsetD16_v2", "cuMemsetD32_v2", "cuMemcpyDtoD_v2"),
    }
)
_CHANGING = frozenset(
    {
        *("cudaStreamCreate", "cudaStreamCreateWithFlags", "cudaStreamCreateWithPriority"),
        *("cudaEventCreate", "cudaEventCreateWithFlags", "cuStreamCreate", "cuEventCreate"),
        *("cuStreamCreateWithPriority", "cudaHostRegister", "cudaHostUnregister"),
        *("cuMemHostRegister", "cuMemHostRegister_v2", "cudaDeviceReset"),
    }
)
_SETTING = frozenset({"cudaFuncSetAttribute", "cuFuncSetAttribute", "cudaSetDevice"})
_THRUST = frozenset(
    {
        *("sort", "stable_sort", "sort_by_key", "stable_sort_by_key", "reduce", "reduce_by_key"),
        *("transform", "transform_reduce", "copy", "copy_if", "copy_n", "fill", "fill_n"),
        *("sequence", "for_each", "for_each_n", "inclusive_scan", "exclusive_scan", "generate"),
        *("inclusive_scan_by_key", "exclusive_scan_by_key", "gather", "scatter", "unique"),
        *("unique_by_key", "count", "count_if", "min_element", "max_element", "minmax_element"),
        *("remove", "remove_if", "replace", "replace_if", "partition", "lower_bound", "tabulate"),
        *("upper_bound", "merge", "inner_product", "adjacent_difference", "unique_copy"),
    }
)
_CUB = regex(r"^(?:::)?cub::Device\w+(?:<.*>)?::\w+")
_STREAM = regex(r"(?i)stream|\bst\b|\bs\b")


class CaptureUnsafeCall(ProjectRule):
    """A call on a launch path is illegal while a stream is captured, or breaks the capture.

    What it does
        Reports in each function on a launch path, beyond what CU301, CU303, CU304
        and CU305 do: queries of streams and events, work on the legacy stream
        (`cudaMemset`, blocking copies on the device), the making of streams and
        events, `cudaHostRegister`, `cudaDeviceReset`, Thrust algorithms without
        an execution policy and CUB's device algorithms without a stream; as
        notes `cudaFuncSetAttribute` and `cudaSetDevice`. Cold code is left alone,
        as for CU301, and what a lazy branch makes is CU310's business.

    Why it matters
        A step that can be captured into a graph replays at a fraction of its
        launch cost. One such call and the capture ends in an error, or records
        less than the program does.

    Example
            void step(float* out, cudaStream_t stream) {
              cudaMemset(out, 0, 64);
              scale<<<grid, block, 0, stream>>>(out);
            }

    How to fix
        Use the asynchronous form on the stream that is captured
        (`cudaMemsetAsync(out, 0, 64, stream)`), pass `thrust::cuda::par.on(stream)`
        or a stream to CUB, and make streams, events and attributes at load time.

    Sources
        The CUDA C++ Programming Guide, "Creating a Graph Using Stream Capture",
        on prohibited and unhandled operations. Llaminar, profiling guide, on
        graphs.
    """

    code = "CU306"
    name = "capture-unsafe-call"
    level = Level.ERROR
    messages = {
        **path_messages(
            "'{0}' asks how far the GPU is", "a capture can't answer that", prefix="ask-"
        ),
        **path_messages(
            "'{0}' works on the legacy stream", "use the asynchronous form", prefix="legacy-"
        ),
        **path_messages(
            "'{0}' changes what a capture stands on", "do it at load time", prefix="change-"
        ),
        **path_messages("'{0}' changes a setting", "do it at load time", prefix="set-"),
        **path_messages(
            "'{0}' of Thrust has no execution policy",
            "pass 'thrust::cuda::par.on(stream)'",
            prefix="thrust-",
        ),
        **path_messages("'{0}' of CUB has no stream", "pass one", prefix="cub-"),
    }

    INVALID = (
        Example(
            code=_KERNEL
            + """\
void step(float* o, cudaStream_t s, cudaEvent_t e) {
  cudaMemset(o, 0, 4);
  ~~~~~~~~~~
  k<<<1, 32, 0, s>>>(o);
  while (cudaEventQuery(e) == cudaErrorNotReady) {}
         ~~~~~~~~~~~~~~
  if (::cudaStreamQuery(s) == cudaSuccess) return;
        ~~~~~~~~~~~~~~~
}
""",
            message="'cudaMemset' works on the legacy stream in 'step', which launches 'k';",
        ),
        Example(
            code=_KERNEL
            + """\
#define CHECK(x) do { if ((x) != cudaSuccess) throw 1; } while (0)
static void fork(cudaStream_t* side, cudaEvent_t* e) {
  CHECK(cudaStreamCreateWithFlags(side, cudaStreamNonBlocking));
        ~~~~~~~~~~~~~~~~~~~~~~~~~
  CHECK(cudaEventCreate(e));
        ~~~~~~~~~~~~~~~
}
void step(float* o, cudaStream_t s, cudaStream_t* side, cudaEvent_t* e) {
  fork(side, e);
  k<<<1, 32, 0, s>>>(o);
}
""",
            message="in 'fork', which is called by 'step' on the launch path of 'k'",
        ),
        Example(
            code=_KERNEL
            + """\
void step(float* o, float* h, cudaStream_t s, int device) {
  cudaSetDevice(device);
  ~~~~~~~~~~~~~
  cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536);
  ~~~~~~~~~~~~~~~~~~~~
  cudaHostRegister(h, 4, 0);
  ~~~~~~~~~~~~~~~~
  k<<<1, 32, 0, s>>>(o);
}
""",
        ),
        Example(
            code=_KERNEL
            + """\
void step(float* o, int n, cudaStream_t s, thrust::device_vector<int>& v) {
  k<<<1, 32, 0, s>>>(o);
  thrust::sort(v.begin(), v.end());
          ~~~~
  float sum = thrust::reduce(o, o + n);
                      ~~~~~~
}
""",
            message="'sort' of Thrust has no execution policy in 'step', which launches 'k'; pass",
        ),
        Example(
            code=_KERNEL
            + """\
void step(float* o, float* in, void* tmp, size_t bytes, int n, cudaStream_t s) {
  k<<<1, 32, 0, s>>>(o);
  cub::DeviceReduce::Sum(tmp, bytes, in, o, n);
                     ~~~
  cub::DeviceScan::InclusiveSum<float*>(tmp, bytes, in, o, n);
                   ~~~~~~~~~~~~
}
""",
            message="'Sum' of CUB has no stream in 'step', which launches 'k'; pass one.",
        ),
        Example(
            code=_KERNEL
            + """\
#define ZERO(p, n) cudaMemset2D(p, 8, 0, 8, n)
                   ~~~~~~~~~~~~
void step(float* a, float* b, cudaStream_t s) {
  auto before = [&] { ZERO(a, 3); };
  before();
  cudaMemcpy2D(a, 8, b, 8, 4, 2, cudaMemcpyDeviceToDevice);
  ~~~~~~~~~~~~
  k<<<1, 32, 0, s>>>(a);
}
""",
        ),
    )
    VALID = (
        Example(
            code=_KERNEL
            + """\
cudaEvent_t done(std::once_flag& once, cudaEvent_t& made) {
  auto init = [&] { cudaEventCreate(&made); };
  std::call_once(once, init);
  return made;
}
void step(float* o, int n, cudaStream_t s, cudaEvent_t e, cudaStream_t side) {
  cudaMemsetAsync(o, 0, 4, s);
  cudaEventRecord(e, s);
  cudaStreamWaitEvent(side, e, 0);
  k<<<1, 32, 0, s>>>(o);
  static std::once_flag once;
  cudaEventRecord(done(once, e), s);
}
""",
        ),
        Example(
            code=_KERNEL
            + """\
void step(float* o, float* in, void* tmp, size_t bytes, int n, cudaStream_t s) {
  k<<<1, 32, 0, s>>>(o);
  thrust::sort(thrust::cuda::par.on(s), o, o + n);
  auto policy = thrust::cuda::par_nosync.on(s);
  thrust::fill(policy, o, o + n, 0.f);
  cub::DeviceReduce::Sum(tmp, bytes, in, o, n, s);
  cub::DeviceReduce::Sum(nullptr, bytes, in, o, n);
  if (!tmp) cub::DeviceReduce::Sum(tmp, bytes, in, o, n);
}
""",
        ),
        Example(
            code=_KERNEL
            + """\
void initStreams(cudaStream_t* side) { cudaStreamCreate(side); }
struct Op {
  cudaEvent_t e;
  Op() { cudaEventCreate(&e); cudaFuncSetAttribute(k, attribute, 65536); }
  void run(float* o, cudaStream_t s) { k<<<1, 32, 0, s>>>(o); }
};
int main() { cudaSetDevice(0); Op op; op.run(nullptr, cudaStreamPerThread); cudaDeviceReset(); }
""",
        ),
        Example(
            code=_KERNEL
            + """\
struct Queue { bool cudaStreamQuery(int); };
namespace mock { inline void cudaMemset(float*, int, int) {} }
void step(float* o, Queue& q, cudaStream_t s) {
  q.cudaStreamQuery(3);
  mock::cudaMemset(o, 0, 4);
  std::sort(o, o + 3);
  k<<<1, 32, 0, s>>>(o);  // cudaMemset(o, 0, 4);
#if 0
  cudaDeviceReset();
#endif
}
""",
        ),
        Example(
            code=_KERNEL
            + """\
void step(float* o, cudaStream_t s, bool debug) {
  k<<<1, 32, 0, s>>>(o);
  if (debug) { cudaMemset(o, 0, 4); cudaStreamQuery(s); }
}
""",
        ),
        Example(
            code=_KERNEL
            + """\
struct Device {
  auto ctp() const { return thrust::cuda::par_nosync(alloc_).on(stream_); }
  Allocator alloc_;
};
void step(Device const* d, float* o, int n) {
  thrust::sort(d->ctp(), o, o + n);
  auto on_it = d->ctp();
  thrust::fill(on_it, o, o + n, 0.f);
  k<<<1, 32, 0, d->stream_>>>(o);
}
""",
        ),
        Example(
            code=_KERNEL
            + """\
void step(float* o, int n, cudaStream_t s) {
  thrust::host_vector<float> h(n);
  thrust::fill(h.begin(), h.end(), 1.f);
  std::vector<int> order(n);
  thrust::sequence(order.begin(), order.end());
  k<<<1, 32, 0, s>>>(o);
}
""",
        ),
        Example(
            path="tests/step.cu",
            code=_KERNEL
            + "void step(float* o, cudaStream_t s) { cudaMemset(o, 0, 4); "
            + "k<<<1, 32, 0, s>>>(o); }\n",
        ),
    )

    def check(self, project: Project, context: Context, options: NoOptions) -> Iterator[Finding]:
        """Judge API calls, then those of Thrust and CUB."""
        hot = project.hot_path

        def on_path(call: Call) -> OnPath | None:
            if call.name in COPIES and not _stays_on_device(call, context):
                return None
            place = hot.place(call)
            return None if place is None or place.lazy else place

        names = _ASKING | _LEGACY | _CHANGING | _SETTING | COPIES
        for place in places(hot.api_calls(names), on_path, lambda call: True, alone=False):
            yield self._api(place)
        policies = Policies(context)
        for prefix, calls in (
            ("thrust-", [c for c in hot.calls(_THRUST) if "thrust::" in c.callee]),
            ("cub-", [c for c in hot.calls(hot.names) if _CUB.match(c.callee)]),
        ):
            for call in calls:
                on = on_path(call) if not call.via_macro else None
                if on is not None and not _has_stream(call, prefix, policies, context):
                    yield path_finding(
                        type(self),
                        Place(call, on, call.name_span),
                        "uses the legacy stream",
                        prefix=prefix,
                        confidence=Confidence.MEDIUM,
                    )

    def _api(self, place: Place[Call, OnPath]) -> Finding:
        name = place.record.name
        if name in _SETTING:
            return path_finding(
                type(self), place, "changes a setting", prefix="set-", level=Level.NOTE
            )
        if name in _ASKING:
            return path_finding(type(self), place, "asks the GPU", prefix="ask-")
        if name in _CHANGING:
            return path_finding(type(self), place, "breaks a capture", prefix="change-")
        return path_finding(type(self), place, "uses the legacy stream", prefix="legacy-")


def _stays_on_device(call: Call, context: Context) -> bool:
    """Whether a copy blocks on the legacy stream without being CU305's business."""
    transfer = read_transfer(call, function_text(call, context))
    return transfer.blocking and not transfer.linear and transfer.direction == "on device"


def _has_stream(call: Call, prefix: str, policies: Policies, context: Context) -> bool:
    """Whether a policy or stream is passed, or the call needs none."""
    arguments = [argument.text for argument in call.arguments]
    if not arguments or any("..." in text for text in arguments):
        return True
    if prefix == "thrust-":
        return policies.passed(call)
    if null_stream(arguments[0]) or _asks_size(arguments[0], call, context):
        return True
    if any(_STREAM.search(text) for text in arguments[2:]):
        return True
    local = local_of(arguments[0], call, context)
    code = context.code(home(call))
    values = local.values if local is not None else ()
    if values and all(_is_null(code[v.start : v.end]) for v in values if v.end <= call.span.start):
        return True
    found = (local_of(text, call, context) for text in arguments[2:])
    return any(one is not None and is_stream_type(one.type) for one in found)


def _asks_size(storage: str, call: Call, context: Context) -> bool:
    """Whether the call stands in a branch that finds the temporary storage null."""
    null = regex(rf"!\s*{re.escape(storage)}\b|\b{re.escape(storage)}\s*==\s*(?:nullptr|NULL|0)\b")
    return any(
        branch.keyword == "if"
        and branch.span.covers(call.span.start)
        and null.search(branch.condition)
        for branch in context.models[home(call)].branches
    )


def _is_null(text: str) -> bool:
    return null_stream(text.strip().removeprefix("=").strip()) is not None
