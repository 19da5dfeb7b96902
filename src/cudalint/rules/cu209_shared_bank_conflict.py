"""CU209 shared-bank-conflict."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.context import Context
from cudalint.finding import Confidence, Finding, Level, Related, Span
from cudalint.rule import Example, FileRule, NoOptions
from cudalint.syntax.model import FileModel

_SPDX = "// SPDX-License-Identifier: MIT OR Apache-2.0\n"


class SharedBankConflict(FileRule):
    """A shared array whose columns a warp reads through one bank.

    What it does
        Reports a static shared array of two or more dimensions, where the bytes
        between its rows are a constant multiple of 128, and some access takes a
        row for each lane (`threadIdx.x`, or what is one step from it) and the
        same column for all. Padded rows, columns that the lane swizzles, rows
        that a whole warp shares and arrays of unknown dimensions are left alone.

    Why it matters
        The 32 lanes meet in one bank, and their accesses are made one after the
        other: up to 32 times as long.

    Example
            __shared__ float tile[32][32];
            o[i] = tile[threadIdx.x][row];

    How to fix
        Pad the rows by one element (`tile[32][33]`), or swizzle the column:
        `tile[threadIdx.x][row ^ threadIdx.x]`, for writing and reading alike.

    Sources
        The CUDA C++ Best Practices Guide, "Shared Memory and Memory Banks" and
        "Shared Memory in Matrix Multiplication (C=AAT)".
    """

    code = "CU209"
    name = "shared-bank-conflict"
    level = Level.NOTE
    preview = True
    messages = {
        "column": "The rows of '{0}' lie '{1}' bytes apart, and '{2}' takes a row for each lane: "
        "the warp meets in one bank; pad the rows or swizzle the column."
    }

    INVALID = (
        Example(
            code="""\
extern "C" __global__ void transpose(const float* a, float* o) {
  __shared__ float tile[32][32];
                   ~~~~
  tile[threadIdx.y][threadIdx.x] = a[threadIdx.x];
  __syncthreads();
  o[threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
""",
            message="The rows of 'tile' lie '128' bytes apart, and 'tile[threadIdx.x][threadIdx.y]'"
            " takes a row for each lane:",
        ),
        Example(
            code="""\
#define TILE 64
constexpr int kStages = 2;
extern "C" __global__ void sum(float* o, int n) {
  __shared__ __align__(16) __nv_bfloat16 rows[kStages][TILE][TILE];
                                         ~~~~
  const int lane = threadIdx.x % 32;
  for (int i = 0; i < n; ++i) o[lane] += float(rows[i & 1][lane + 1][i]);
}
""",
        ),
        Example(
            code="""\
template <typename T> __global__ void sum(T* o) {
  __shared__ double rows[32][16];
                    ~~~~
  int tx = threadIdx.x, ty = threadIdx.y;
  o[tx] = rows [ tx ] [ ty ];
}
""",
        ),
        Example(
            code="""\
using row_t = float4;
extern "C" __global__ void sum(float* o, int column) {
  __shared__ row_t rows[64][8];
                   ~~~~
  unsigned lane{threadIdx.x & 31u};
  o[lane] = rows[lane][column].x;
}
""",
        ),
        Example(
            code="""\
extern "C" __global__ void sum(float* o) {
  __shared__ unsigned char padded[32][33], bytes[32][256];
                                           ~~~~~
  for (int r = threadIdx.x; r < 32; r += 32) o[r] = padded[r][0] + bytes[r][3];
}
""",
        ),
        Example(
            code="""\
__device__ void sum(float* o) {
  __shared__ int counts[64][96];
                 ~~~~~~
  auto count = [&](int column) { counts[threadIdx.x + blockIdx.x][0] += 1; };
  count(3);
}
""",
        ),
    )
    VALID = (
        Example(
            code=_SPDX
            + """\
extern "C" __global__ void __launch_bounds__(1024) transpose(const float* a, float* o) {
  __shared__ float tile[32][32 + 1];  // [row][column], a column of padding
  tile[threadIdx.y][threadIdx.x] = a[threadIdx.x];
  __syncthreads();
  o[threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
""",
        ),
        Example(
            code=_SPDX
            + """\
extern "C" __global__ void __launch_bounds__(1024) transpose(const float* a, float* o) {
  __shared__ float tile[32][32];  // [row][column], columns swizzled by the row
  tile[threadIdx.y][threadIdx.x ^ threadIdx.y] = a[threadIdx.x];
  __syncthreads();
  o[threadIdx.x] = tile[threadIdx.x][threadIdx.y ^ threadIdx.x];
}
""",
        ),
        Example(
            code=_SPDX
            + """\
extern "C" __global__ void __launch_bounds__(256) sum(float* o, int n) {
  __shared__ float rows[8][64];  // [warp][column]
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  for (int i = 0; i < n; ++i) o[lane] += rows[warp][lane] + rows[threadIdx.x >> 5][i];
}
""",
        ),
        Example(
            code=_SPDX
            + """\
template <int kColumns>
__device__ inline void sum(float* o, int column) {
  __shared__ float rows[32][kColumns];  // [row][column]
  __shared__ float odd[32][31];  // [row][column]
  o[threadIdx.x] = rows[threadIdx.x][column] + odd[threadIdx.x][column];
}
""",
        ),
        Example(
            code=_SPDX
            + """\
extern "C" __global__ void __launch_bounds__(256) sum(float* o, int row) {
  __shared__ float rows[32][32];  // [row][column]
  // o[0] = rows[threadIdx.x][0];
  o[threadIdx.x] = rows[row][threadIdx.x] + rows[threadIdx.y][threadIdx.x];
  o[0] = rows[threadIdx.x / 32][row] + rows[threadIdx.y][row];
}
""",
        ),
        Example(
            code=_SPDX
            + """\
extern "C" __global__ void __launch_bounds__(256) sum(float* o, const float (*table)[32]) {
  float rows[32][32];
  rows[0][0] = table[threadIdx.x][0];
  o[threadIdx.x] = rows[threadIdx.x % 2][0];
}
""",
        ),
    )

    def check(self, file: FileModel, context: Context, options: NoOptions) -> Iterator[Finding]:
        """Judge the shared arrays of a file, in the order of the text."""
        for shared in file.shared:
            if shared.kind == "alias" or shared.via_macro or len(shared.dimensions) < 2:
                continue
            bindings = context.bindings(file.path, shared.function)
            if bindings is None:
                continue
            from cudalint.devicecode.sharedaccess import SharedAccesses

            conflict = SharedAccesses(file, bindings, context).conflict(shared)
            if conflict is None:
                continue
            access = " ".join(bindings.code[conflict.start : conflict.end].split())
            span = Span(file.path, conflict.start, conflict.end)
            yield self.report(
                "column",
                shared.name_span,
                shared.name,
                conflict.pitch,
                access,
                related=(Related(span, "a row for each lane"),),
                confidence=Confidence.MEDIUM,
                extents=(shared.statement,),
                pitch=conflict.pitch,
            )
