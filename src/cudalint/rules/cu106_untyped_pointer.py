"""CU106 untyped-pointer."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.context import Context
from cudalint.finding import Finding, Level, Related
from cudalint.project.expansion import Place, places
from cudalint.rule import Example, FileRule, NoOptions
from cudalint.semantics.model import ParameterType
from cudalint.semantics.parameters import Slot, slots, stands_in_body
from cudalint.syntax.model import FileModel

_NAMED = 3
_HEAD = "// SPDX-License-Identifier: MIT OR Apache-2.0\n"


class UntypedPointer(FileRule):
    """A kernel takes a pointer to `void`.

    What it does
        Reports a parameter of a kernel's definition whose type is a pointer to
        `void`, whatever its constness: written so, or behind a typedef, `using`, a
        macro or an alias template, in an array, through a pointer to pointer. A
        struct that is passed by value and has such a member, or a base with one,
        is a note. Function pointers, `CUtensorMap`, and the parameters of
        functions that are no kernels are left alone.

    Why it matters
        The host passes arguments as addresses that nothing checks. With
        `const void*` a bf16 buffer where int8 is meant gives numbers, only wrong
        ones; the signature is the one place where reader, reviewer and host
        bindings can see the precision.

    Example
            extern "C" __global__ void scale(const void* x, float* y);

    How to fix
        Give the pointer the type of what it points to, by value as before:

            extern "C" __global__ void scale(const __nv_bfloat16* x, float* y);

        A kernel that serves several types is a template with one entry point
        for each.

    Sources
        Metrale Engine, "CUDA Kernel Engineering": pointer arguments are typed at
        the right level, `const __nv_bfloat16*`, and not `const void*`.
    """

    code = "CU106"
    name = "untyped-pointer"
    level = Level.ERROR
    messages = {
        "untyped": "'{0}' of the kernel '{1}' is an untyped pointer, '{2}'; "
        "give the type of what it points to.",
        "hidden": "'{0}' of the kernel '{1}' is an untyped pointer, '{2}', behind '{3}'; "
        "give the type of what it points to.",
        "member": "'{0}' of the kernel '{1}' holds an untyped pointer, '{2}'; "
        "give the type of what it points to.",
    }
    INVALID = (
        Example(
            code="""\
extern "C" __global__ void k(const void* __restrict__ a, void const* const b, float* c, int n) {}
                             ~~~~~~~~~~~~~~~~~~~~~~~~~~  ~~~~~~~~~~~~~~~~~~~
""",
            message="'a' of the kernel 'k' is an untyped pointer, 'const void*';",
        ),
        Example(
            code="""\
__global__ void k(
    void** table,
    ~~~~~~~~~~~~
    void* slots[4],
    ~~~~~~~~~~~~~~
    volatile void*) {
    ~~~~~~~~~~~~~~
}
""",
        ),
        Example(
            code="""\
typedef const void* opaque_t;
using raw_t = void;
#define BUF const void*
extern "C" __global__ void k(opaque_t a, raw_t* b, BUF c, float* o) { o[0] = 1; }
                             ~~~~~~~~~~  ~~~~~~~~  ~~~~~
""",
            message="is an untyped pointer, 'const void*', behind 'opaque_t';",
        ),
        Example(
            code="""\
template <class T> using pointer_to = const T*;
template <bool wide> using buffer = std::conditional_t<wide, float*, void*>;
__global__ void k(pointer_to<void> a, pointer_to<float> b, buffer<false> c, buffer<true> d) {}
                  ~~~~~~~~~~~~~~~~~~                       ~~~~~~~~~~~~~~~
""",
        ),
        Example(
            code="""\
struct Buffers { void* in; float* out; };
struct Args { Buffers buffers; int n; };
__global__ void k(const __grid_constant__ Args args, Buffers* far) {}
                  ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
""",
            message="'args' of the kernel 'k' holds an untyped pointer, 'buffers.in';",
        ),
        Example(
            code="""\
#define COPY(name, T) \\
  extern "C" __global__ void name##_in(const void* in, T* out) { *out = *(const T*)in; } \\
                                       ~~~~~~~~~~~~~~
  extern "C" __global__ void name##_out(T in) {}
COPY(copy_f32, float)
COPY(copy_any, void)
~~~~~~~~~~~~~~~~~~~~
""",
        ),
        Example(
            code="""\
#define UNUSED
#define IN const
__global__ void k(void* p UNUSED, int n, UNUSED IN void* q) {}
                  ~~~~~~~~~~~~~~         ~~~~~~~~~~~~~~~~~
""",
            message="'p' of the kernel 'k' is an untyped pointer, 'void*';",
        ),
        Example(
            path="k.cu",
            code="""\
#include "types.cuh"
template <typename T>
__global__ void __launch_bounds__(32) k(handle a, /* what? */ MEM b, T* c) {}
                                        ~~~~~~~~              ~~~~~
""",
            files={
                "types.cuh": _HEAD + "#pragma once\nusing handle = void*;\n#define MEM handle\n"
            },
        ),
        Example(
            code="""\
namespace detail { struct Types { using pointer = void*; }; }
#ifdef TYPED
typedef float* maybe_t;
#else
typedef void* maybe_t;
#endif
__global__ void k(detail::Types::pointer a, maybe_t b) {}
                  ~~~~~~~~~~~~~~~~~~~~~~~~  ~~~~~~~~~
""",
        ),
        Example(
            code="""\
#include "attributes.cuh"
__global__ void k(float* a, const void* b ALIGNED(16), void* c [[maybe_unused]]) {}
                            ~~~~~~~~~~~~~~~~~~~~~~~~~  ~~~~~~~~~~~~~~~~~~~~~~~~
""",
            message="'b' of the kernel 'k' is an untyped pointer, 'const void*';",
        ),
    )
    VALID = (
        Example(
            code=_HEAD
            + """\
#include <cuda_bf16.h>
#include <cuda_fp8.h>
using bf16 = __nv_bfloat16;
__device__ __forceinline__ unsigned smem_addr(const void* p) {
  return (unsigned)__cvta_generic_to_shared(p);
}
extern "C" __global__ void __launch_bounds__(32)
    k(const bf16* __restrict__ a, const __nv_fp8_e4m3* b, const int8_t* c, uint4* d, bf16* o) {
  const void* p = a;
  o[0] = a[smem_addr(p)];
}
static void host_copy(void* to, const void* from);
""",
        ),
        Example(
            code=_HEAD
            + """\
#include <cuda.h>
extern "C" __global__ void __launch_bounds__(32)
    k(const __grid_constant__ CUtensorMap map, void (*done)(int), void (*const steps[2])(void*)) {
  done(1);
}
""",
        ),
        Example(
            code=_HEAD
            + """\
#define VOID_RETURN void
typedef void (*callback_t)(void*);
using count_t = unsigned long long;
extern "C" __global__ VOID_RETURN __launch_bounds__(32) k(callback_t f, count_t* tables, int n) {
  f(tables);
}
""",
        ),
        Example(
            code=_HEAD
            + """\
struct Args {
  float* out;
  const int8_t* in;
  void (*done)(void*);
  static void* shared_by_all;
};
extern "C" __global__ void __launch_bounds__(32) k(const Args args, Args* far) { *args.out = 1; }
""",
        ),
        Example(
            code=_HEAD
            + """\
// extern "C" __global__ void old(const void* a);
#if 0
extern "C" __global__ void older(void* a) {}
#endif
extern "C" __global__ void __launch_bounds__(32) k(float* a /* was void* */) { *a = 1; }
""",
        ),
        Example(
            code=_HEAD
            + """\
extern "C" int gemm(const void* a, const void* b, void* c, cudaStream_t stream);
struct Launcher {
  void* workspace;
  void run(void* out, cudaStream_t stream);
};
""",
        ),
        Example(
            code=_HEAD
            + """\
template <typename T, typename Traits>
__device__ void copy_row(const T* in, typename Traits::pointer out) {}
template <class T> using pointer_to = T*;
extern "C" __global__ void __launch_bounds__(32) k(pointer_to<const float> in, float (&row)[4]) {
  copy_row<float, int>(in, nullptr);
}
""",
        ),
    )

    def check(self, file: FileModel, context: Context, options: NoOptions) -> Iterator[Finding]:
        """Judge the parameters of each kernel that `file` defines."""

        def judge(slot: Slot) -> ParameterType | None:
            found = context.types.parameters(slot.kernel)[slot.number]
            return found if found.untyped or found.members else None

        for place in places(slots(file), judge, stands_in_body(file)):
            yield self._finding(place)

    def _finding(self, place: Place[Slot, ParameterType]) -> Finding:
        slot, found = place.record, place.verdict
        related = [Related(n.span, "named here") for n in found.through]
        arguments = [slot.called, slot.kernel.name]
        if not found.untyped:
            kind = "member"
            more = len(found.members) - _NAMED
            arguments.append(", ".join(found.members[:_NAMED]) + (f", {more} more" * (more > 0)))
        elif found.through:
            kind = "hidden"
            arguments += [found.canonical, ", ".join(n.name for n in found.through)]
        else:
            kind = "untyped"
            arguments.append(found.canonical)
        return self.report(
            kind,
            place.span,
            *arguments,
            level=Level.NOTE if kind == "member" else None,
            related=(*related, *place.related),
            extents=(*place.uses, slot.kernel.head),
        )
