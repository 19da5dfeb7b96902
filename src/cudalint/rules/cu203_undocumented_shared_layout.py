"""CU203 undocumented-shared-layout."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.context import Context
from cudalint.finding import Finding, Level
from cudalint.project.expansion import places
from cudalint.rule import Example, FileRule, NoOptions
from cudalint.syntax.model import FileModel

_SPDX = "// SPDX-License-Identifier: MIT OR Apache-2.0\n"


class UndocumentedSharedLayout(FileRule):
    """A shared memory array whose layout no comment says.

    What it does
        Reports each `__shared__` array, each array in a struct or union that is
        written out in a `__shared__` declaration, each `extern __shared__` pool,
        and each pointer or reference cut from a pool, that has no comment saying
        its layout: rows, columns, dimensions (`[row][col]`, `8 x 32`), stride,
        order, padding or swizzle. The comment may stand on the same line, in
        the block just above, above the group of shared declarations around it;
        or in the head of the file or of the kernel, or at the constant that
        gives a dimension, if it names the array or is at that constant. Scalars
        are exempt, and so is scratch of one dimension with a value for each
        warp (32 values or fewer).

    Why it matters
        Bank conflicts are made and found in the layout. A reader can't tell a
        deliberate pad from a mistake, nor change an index safely, when only
        the indexing arithmetic says where a value lies.

    Example
            __shared__ float tile[32][33];

    How to fix
        Say the layout where the array is declared:

            __shared__ float tile[32][33];  // [row][col], one pad column against bank conflicts

    Sources
        Metrale Engine, "CUDA Kernel Engineering": shared memory layouts are
        always annotated, near each alias, with order and padding.
    """

    code = "CU203"
    name = "undocumented-shared-layout"
    level = Level.WARNING
    messages = {
        "static": "No comment says the layout of shared array '{0}'; "
        "say rows, columns, order and padding beside or above it.",
        "record": "No comment says the layout of the arrays in shared '{0}'; "
        "say rows, columns, order and padding beside or above it.",
        "extern": "No comment says the layout of the shared memory pool '{0}'; "
        "say what lies where beside or above it.",
        "alias": "No comment says the layout of '{0}', which is cut from shared memory; "
        "say rows, columns, order and padding beside or above it.",
    }

    INVALID = (
        Example(
            code="""\
extern "C" __global__ void scale(float* o) {
  __shared__ float tile[32][33];
                   ~~~~
  tile[threadIdx.y][threadIdx.x] = 0.f;
  o[0] = tile[0][0];
}
""",
            message="No comment says the layout of shared array 'tile';",
        ),
        Example(
            code="""\
extern "C" __global__ void scale(float* o) {
  extern __shared__ __align__(16) unsigned char pool[];  // all that we need
                                                ~~~~
  float* keys = reinterpret_cast<float*>(pool);
         ~~~~
  float* values = keys + 64 * 64;
         ~~~~~~
  o[0] = keys[0] + values[0];
}
""",
            message="No comment says the layout of the shared memory pool 'pool';",
        ),
        Example(
            code="""\
// Load x into shared memory in order to reuse it.
extern "C" __global__ void scale(float* o) {
  // row-major copy of the weights

  __shared__ float weights[128];
                   ~~~~~~~
  __shared__ float half_of[16][16], scratch[8];
                   ~~~~~~~
  o[0] = weights[0] + half_of[0][0] + scratch[0];
}
""",
        ),
        Example(
            code="""\
#define TILE(name) __shared__ float name[32][33]
                                    ~~~~
template <typename T> __device__ void body(T* o) { TILE(tile); o[0] = tile[0][0]; }
""",
        ),
        Example(
            code="""\
extern "C" __global__ void scale(float* o) {
#ifdef WIDE
  __shared__ float tile[64][64];  // [row][col]
#else
  __shared__ float tile[32][32];
                   ~~~~
#endif
  o[0] = tile[0][0];
}
""",
        ),
        Example(
            code="""\
// Scales a matrix: rows are read by warps, and written once.
// The buffer of a block is filled before that,
// and its tile after it.
template <int N>
__global__ void scale(float* o) {
  __shared__ float buffer[N];
                   ~~~~~~
  __shared__ alignas(16) char raw[4096];  // bytes [slot][byte]
  auto& tile = *reinterpret_cast<float (*)[16][64]>(raw);
        ~~~~
  o[0] = buffer[0] + tile[0][0];
}
""",
            message="No comment says the layout of shared array 'buffer';",
        ),
        Example(
            code="""\
extern "C" __global__ void scale(float* o) {
  __shared__ struct { float x[4][4]; int n; } s;
                                              ~
  __shared__ union {
    float whole[256];  // what a step needs
    int parts[2][32];
  } u;
    ~
  o[0] = s.x[0][0] + u.whole[0];
}
""",
            message="No comment says the layout of the arrays in shared 's';",
        ),
    )
    VALID = (
        Example(
            code=_SPDX
            + """\
extern "C" __global__ void __launch_bounds__(64) scale(float* o) {
  __shared__ float tile[32][33];  // [row][col], one pad column against bank conflicts
  // Row-major, 8 warps of 32 lanes.
  __shared__ float part[8][32];
  __shared__ int done;
  __shared__ float warp_sums[32];
  tile[threadIdx.y][threadIdx.x] = part[0][threadIdx.x] = 0.f;
  warp_sums[0] = 0.f;
  done = 1;
  o[0] = tile[0][0] + part[0][0] + warp_sums[0] + done;
}
""",
        ),
        Example(
            code=_SPDX
            + """\
extern "C" __global__ void __launch_bounds__(64) scale(float* o) {
  __shared__ struct {
    float tile[16][17];  // [row][col], one pad column
    int done;
  } s;
  __shared__ union { float sums[32]; int counts[8]; } scratch;
  __shared__ struct { float x, y; } pair;
  s.tile[threadIdx.y][threadIdx.x] = scratch.sums[0] = pair.x = 0.f;
  o[0] = s.tile[0][0] + scratch.sums[0] + pair.x;
}
""",
        ),
        Example(
            code=_SPDX
            + """\
extern "C" __global__ void __launch_bounds__(64) scale(float* o) {
  /* Keys, then values: 64 x 64 each,
     xor swizzle in units of 16 bytes. */
  extern __shared__ __align__(16) unsigned char pool[];
  float* keys = reinterpret_cast<float*>(pool);
  float* values = keys + 64 * 64;
  const float* mine = keys + threadIdx.x * 64;
  keys[threadIdx.x] = values[threadIdx.x] = 0.f;
  o[0] = keys[0] + values[0] + mine[0];
}
""",
        ),
        Example(
            code=_SPDX
            + """\
// Sums the rows of a matrix.
//
// Shared memory: `tile` holds 32 rows of kPitch floats, the last one a pad.
constexpr int kPitch = 33;
extern "C" __global__ void __launch_bounds__(64) scale(float* o) {
  __shared__ float tile[32][kPitch];
  tile[0][threadIdx.x] = 0.f;
  o[0] = tile[0][0];
}
""",
        ),
        Example(
            code=_SPDX
            + """\
#define PITCH 68  // floats in a row: 64 and a pad of 4
extern "C" __global__ void __launch_bounds__(64) scale(float* o) {
  __shared__ float tile[32][PITCH];
  tile[0][threadIdx.x] = 0.f;
  o[0] = tile[0][0];
}
""",
        ),
        Example(
            code=_SPDX
            + """\
constexpr int kThreads = 256;
// Stages `rows` in shared memory as [warp][column], unpadded.
extern "C" __global__ void __launch_bounds__(kThreads) scale(float* o) {
  __shared__ float rows[kThreads];
  __shared__ float warp_max[kThreads / 32];
  struct Pair { float a, b; };
  __shared__ Pair pair;
  rows[threadIdx.x] = warp_max[0] = pair.a = 0.f;
  o[0] = rows[0] + warp_max[0] + pair.a;
}
""",
        ),
        Example(
            code=_SPDX
            + """\
extern "C" __global__ void __launch_bounds__(64) scale(float* o, int n) {
  extern __shared__ float pool[];  // [stage][column]: two stages of n columns
  float* stage = pool;
  for (int i = 0; i < n; ++i) {
    float* next = pool + (i & 1) * n;
    next[threadIdx.x] = o[i];
  }
  o[0] = stage[0];
}
""",
        ),
        Example(
            code=_SPDX
            + """\
// [row][col] of a 32 x 32 block
#define TILE(name) __shared__ float name[32][32]
extern "C" __global__ void __launch_bounds__(64) scale(float* o) {
  TILE(tile);
  // __shared__ float old[32][33];
  __shared__ float lane_values[64];  // one per thread
  tile[0][threadIdx.x] = lane_values[threadIdx.x] = 0.f;
  o[0] = tile[0][0] + lane_values[0];
}
""",
        ),
    )

    def check(self, file: FileModel, context: Context, options: NoOptions) -> Iterator[Finding]:
        """Judge each shared declaration of the file."""
        if not file.shared:
            return
        from cudalint.devicecode.sharedlayouts import SharedLayouts

        judge = SharedLayouts(file, context)
        for place in places(file.shared, judge.verdict, lambda declaration: True):
            declaration = place.record
            yield self.report(
                place.verdict,
                place.span,
                declaration.name,
                related=place.related,
                extents=(declaration.statement, *place.uses),
            )
