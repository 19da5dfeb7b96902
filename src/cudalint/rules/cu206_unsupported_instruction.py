"""CU206 unsupported-instruction."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from cudalint.compile.archs import ARCHS
from cudalint.context import Context
from cudalint.devicecode.devicecode import enclosing, on_device
from cudalint.finding import Finding, Level, Span
from cudalint.regex import regex
from cudalint.rule import Example, FileRule, NoOptions
from cudalint.syntax.model import Assembly, Call, FileModel

if TYPE_CHECKING:
    from cudalint.devicecode.instructions import Lack
    from cudalint.project.expansion import Place
    from cudalint.project.targetbuild import TargetBuild

_SPDX = "// SPDX-License-Identifier: MIT OR Apache-2.0\n"
_SM121 = 'targets = ["sm_121"]\n'
_WORD = regex(r"[A-Za-z_]\w*")
_OF_ARCH = regex(r"(?i)arch(?!e[dr]|ive)|\bsm_?\d+|compute_?capability")
_SELECTING = frozenset({"NV_IF_TARGET", "NV_IF_ELSE_TARGET", "NV_DISPATCH_TARGET"})


class UnsupportedInstruction(FileRule):
    """Inline PTX or an intrinsic that a target arch does not have.

    What it does
        Compares the instructions in `asm` statements and the FP4 intrinsics of
        device code with a table of what each arch has, for the archs that the
        file is compiled for; the suffix counts (`sm_121` is not `sm_121a`).
        Branches that the target does not compile are left alone: guards on
        `__CUDA_ARCH__`, and on macros by the file, its includes and the
        target's flags, and `if constexpr` on what the arch has. So are functions
        of headers that no kernel of the run calls. Nothing is reported where no
        target is known; the summary says so.

    Why it matters
        ptxas refuses the file, or the intrinsic is emulated slowly: plain sm_120
        and sm_121 have no FP4 conversion and no FP4 tensor core instructions,
        whatever their big sisters have.

    Example
            // sm_121
            asm("cvt.rn.satfinite.e2m1x2.f32 t, %1, %2;" …);

    How to fix
        Compute it another way on this arch and guard the instruction by
        `__CUDA_ARCH__`, or compile for the arch with its suffix, if only that
        one runs the kernel.

    Sources
        PTX ISA, "Target ISA Notes" of each instruction, held to ptxas. Metrale
        Engine, "CUDA Kernel Engineering": no native FP4 on SM120 and SM121.
    """

    code = "CU206"
    name = "unsupported-instruction"
    level = Level.ERROR
    messages = {
        "instruction": "'{0}' needs '{1}', and this is compiled for '{2}'; "
        "compute it another way there.",
        "intrinsic": "'{0}' is an instruction on '{1}' and emulated on '{2}', for which this is "
        "compiled; convert in code of your own there.",
    }

    INVALID = (
        Example(
            settings=_SM121,
            code="""\
extern "C" __global__ void k(const float* a, unsigned* o) {
  unsigned r;
  asm volatile("{ .reg .b8 t; cvt.rn.satfinite.e2m1x2.f32 t, %1, %2; cvt.u32.u8 %0, t; }"
  ~~~
               : "=r"(r) : "f"(a[0]), "f"(a[1]));
  o[0] = r;
}
""",
            message="'cvt.rn.satfinite.e2m1x2.f32' needs 'sm_100a, sm_100f,",
        ),
        Example(
            settings='targets = ["sm_90", "sm_120"]\n',
            code="""\
#define MMA(kind) asm volatile("mma.sync.aligned.m16n8k64.row.col.kind::" #kind ".f32 {%0};" ::)
__device__ void k() {
  MMA(mxf4nvf4);
  ~~~~~~~~~~~~~
}
""",
            message="needs 'sm_120a, sm_120f, sm_121a, sm_121f', and this is compiled for "
            "'sm_90, sm_120';",
        ),
        Example(
            settings=_SM121,
            code="""\
__device__ unsigned char pack(float2 v) {
  return __nv_cvt_float2_to_fp4x2(v, __NV_E2M1, cudaRoundNearest);
         ~~~~~~~~~~~~~~~~~~~~~~~~
}
""",
            message="'__nv_cvt_float2_to_fp4x2' is an instruction on",
        ),
        Example(
            settings='targets = ["sm_80"]\n',
            code="""\
#define STORE(p, r) \\
  asm volatile("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%0], {%1};" :: "r"(p), "r"(r))
  ~~~
__device__ void store(unsigned p, unsigned r) { STORE(p, r); STORE(p + 16, r); }
#if __CUDA_ARCH__ >= 800
__device__ void wait() { asm volatile("griddepcontrol.wait;" ::: "memory"); }
                         ~~~
#endif
""",
            message="'stmatrix.sync.aligned.m8n8.x1.shared.b16' needs 'sm_90 or newer', and",
        ),
        Example(
            settings=_SM121,
            code="""\
__device__ void copy(unsigned s, const void* m, unsigned b, unsigned short mask) {
  __asm__ __volatile__(
  ~~~~~~~
      "cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes"
      ".multicast::cluster [%0], [%1, {%2}], [%3], %4;\\n"
      :: "r"(s), "l"(m), "r"(0), "r"(b), "h"(mask) : "memory");
}
""",
            message="needs 'clusters of more than one block'",
        ),
        Example(
            settings=_SM121,
            path="wait.cuh",
            files={
                "scale.cu": '#include "wait.cuh"\n__global__ void scale(float* o) { outer(o); }\n'
            },
            code="""\
#pragma once
__device__ inline void wait() { asm volatile("tcgen05.wait::ld.sync.aligned;"); }
                                ~~~
__device__ inline void outer(float* o) { wait(); *o = 1.f; }
""",
        ),
        Example(
            path="kernels/hw/common/scale.cu",
            files={
                "kernels/hw/HARDWARE.toml": '[hardware]\narch = "sm_120"\n',
                "kernels/hw/m/q/KERNEL.toml": "",
            },
            code="""\
#ifndef SOFTWARE_WAIT
extern "C" __global__ void scale(float* o) {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 64;");
  ~~~
  *o = 1.f;
}
#endif
""",
        ),
    )
    VALID = (
        Example(
            settings=_SM121,
            path="narrow.cuh",
            files={
                "scale.cu": _SPDX + '#include "narrow.cuh"\n'
                'extern "C" __global__ void __launch_bounds__(64) scale(float* o) {\n'
                "  *o = twice(*o);\n}\n"
            },
            code=_SPDX
            + """\
#pragma once
__device__ inline float twice(float x) { return 2.f * x; }
__device__ inline void fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
""",
        ),
        Example(
            settings=_SM121,
            code=_SPDX
            + """\
__device__ inline unsigned convert(float a, float b) {
  unsigned r = 0;
#if __CUDA_ARCH__ < 1200 || defined(__CUDA_ARCH_FEAT_SM121_ALL)
  asm("{ .reg .b8 t; cvt.rn.satfinite.e2m1x2.f32 t, %1, %2; cvt.u32.u8 %0, t; }"
      : "=r"(r) : "f"(a), "f"(b));
#else
  // cvt.rn.satfinite.e2m1x2.f32 is not there
  r = a > b;
#endif
  return r;
}
""",
        ),
        Example(
            settings='targets = ["sm_121a", "sm_120f"]\n',
            code=_SPDX
            + """\
__device__ inline unsigned short convert(float a, float b) {
  unsigned short r;
  asm("{ .reg .b8 t; cvt.rn.satfinite.e2m1x2.f32 t, %1, %2; mov.b16 %0, {t, 0}; }"
      : "=h"(r) : "f"(a), "f"(b));
  return r;
}
""",
        ),
        Example(
            code=_SPDX
            + """\
__device__ inline void fence() { asm volatile("tcgen05.fence::before_thread_sync;"); }
""",
        ),
        Example(
            settings=_SM121,
            code=_SPDX
            + """\
__device__ inline void copy(unsigned s, const void* g) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\\n" ::"r"(s), "l"(g));
  asm volatile("{ // tcgen05.fence is not there\\n\\t cp.async.commit_group; }");
  const char* text = "asm(\\"tcgen05.fence::before_thread_sync;\\")";
  (void)text;
}
void host() { asm volatile("mul.bf16 eax"); }
""",
        ),
        Example(
            path="kernels/hw/common/scale.cu",
            files={
                "kernels/hw/HARDWARE.toml": '[hardware]\narch = "sm_121"\n',
                "kernels/hw/m/q/KERNEL.toml": '[build]\nextra_nvcc_flags = ["-DSOFTWARE_FP4"]\n',
            },
            code=_SPDX
            + """\
#if defined(__CUDA_ARCH_SPECIFIC__) && !defined(SOFTWARE_FP4)
#define NATIVE_FP4 1
#endif
extern "C" __global__ void __launch_bounds__(64) scale(float* o) {
#ifdef NATIVE_FP4
  asm volatile("{ .reg .b8 t; cvt.rn.satfinite.e2m1x2.f32 t, %0, %0; }" ::"f"(*o));
#endif
  *o = 1.f;
}
""",
        ),
        Example(
            settings=_SM121,
            code=_SPDX
            + """\
#define STAMP(kind) asm volatile("mov.u32 %0, %" #kind ";" : "=r"(r))
#define CLUSTER(x) asm volatile("barrier.cluster.arrive.aligned;")
__device__ inline unsigned lane() {
  unsigned r;
  STAMP(laneid);
  CLUSTER(0);
  r += __reduce_add_sync(~0u, r);
  return r;
}
#if 0
__device__ void no() { asm volatile("wgmma.fence.sync.aligned;"); }
#endif
template <int N> __device__ void chosen() {
  constexpr bool has_rounding = ARCH_HAS_ROUNDING;
  if constexpr (has_rounding) asm volatile("wgmma.fence.sync.aligned;");
  if constexpr (kSm90 && is_arch<900>()) asm volatile("wgmma.fence.sync.aligned;");
}
""",
        ),
    )

    @classmethod
    def lacks_arch(cls, file: FileModel, context: Context) -> bool:
        """An instruction or intrinsic that some arch lacks."""
        calls = _intrinsics(file)
        if not file.assembly and not calls:
            return False
        from cudalint.devicecode.instructions import lacking_instruction, lacking_intrinsic
        from cudalint.project.targetbuild import builds

        if next(builds(file.path, context), None) is not None:
            return False
        texts = {record.text for record in file.assembly}
        return any(
            any(lacking_instruction(text, arch) for text in texts)
            or any(lacking_intrinsic(call.name, arch) for call in calls)
            for arch in ARCHS
        )

    def check(self, file: FileModel, context: Context, options: NoOptions) -> Iterator[Finding]:
        """Judge the instructions of a file for each arch that it is compiled for."""
        calls = _intrinsics(file)
        if not file.assembly and not calls:
            return
        from cudalint.devicecode.instructions import lacking_instruction, lacking_intrinsic
        from cudalint.project.expansion import places
        from cudalint.project.targetbuild import builds

        compiled = list(builds(file.path, context))
        if not compiled:
            return
        # What a header offers and no kernel uses is not compiled.
        reach = None if file.path.endswith(".cu") else context.project.device_reach
        selecting = [c.span for c in file.calls if c.name in _SELECTING]
        selecting += _constexpr_on_arch(file, context)

        def judge(record: Assembly | Call) -> tuple[Lack, str] | None:
            if any(span.covers(record.span.start) for span in selecting):
                return None
            if record.function >= 0:
                function = file.functions[enclosing(file, record.function)]
                if not on_device(file, record.function) or not (
                    reach is None or reach.holds(function)
                ):
                    return None

            def lacking(arch: str) -> Lack | None:
                if isinstance(record, Call):
                    return lacking_intrinsic(record.name, arch)
                return lacking_instruction(record.text, arch)

            return _verdict(record, compiled, lacking)

        def fixed(record: Assembly | Call) -> bool:
            return judge(record) is not None

        records: tuple[Assembly | Call, ...] = (*file.assembly, *calls)
        for place in places(records, judge, fixed):
            yield self._finding(place)

    def _finding(self, place: Place[Assembly | Call, tuple[Lack, str]]) -> Finding:
        lack, archs = place.verdict
        called = isinstance(place.record, Call) and lack.instruction.startswith("__nv_cvt")
        return self.report(
            "intrinsic" if called else "instruction",
            place.span,
            lack.instruction,
            lack.needs,
            archs,
            related=place.related,
            extents=(place.record.span, *place.uses),
        )


def _constexpr_on_arch(file: FileModel, context: Context) -> list[Span]:
    """The statements of `if constexpr` on what the arch has, or on a constant made of it."""
    values = {constant.name: constant.value for constant in file.constants}
    return [
        branch.span
        for branch in file.branches
        if branch.keyword == "if"
        and any(
            _OF_ARCH.search(text)
            for word in _WORD.findall(branch.condition)
            for text in (word, values.get(word, ""))
        )
        and "constexpr" in context.text(branch.head)
    ]


def _intrinsics(file: FileModel) -> list[Call]:
    return [call for call in file.calls if call.name.startswith(("__nv_cvt_", "__reduce_"))]


def _verdict(
    record: Assembly | Call, compiled: list[TargetBuild], lacking: Callable[[str], Lack | None]
) -> tuple[Lack, str] | None:
    """What the archs that compile the record lack, and which ones these are."""
    first = None
    archs: dict[str, None] = {}
    for build in compiled:
        lack = lacking(build.arch)
        if lack is None or not build.compiles(record.span):
            continue
        if record.use is not None and not build.compiles(record.use):
            continue
        first = first or lack
        archs[build.arch] = None
    return None if first is None else (first, ", ".join(archs))
