// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Transposes the block scales of an FP8 activation from one row per token, as quantisation writes
// them, to one row per block of columns, as a scaled GEMM reads them:
//   out[c][r] = scales[r][c] for r < rows,   0 for rows <= r < out_stride
// so that the GEMM's tile over tokens may run into the padding.
//
// Layouts    scales: fp32 [rows][cols]; out: fp32 [cols][out_stride], out_stride >= rows.
// Alignment  4 bytes; every size is allowed.
// Tolerance  exact.
// Launch     grid (ceil_div(out_stride, 64), ceil_div(cols, 32)), block (256), no dynamic shared
//            memory.

constexpr int kThreads = 256;
constexpr int kTileRows = 64;
constexpr int kTileCols = 32;
// Rows of the tile that one pass of the block reads, columns that one pass writes.
constexpr int kReadRows = kThreads / kTileCols;
constexpr int kWriteCols = kThreads / kTileRows;

extern "C" __global__ void __launch_bounds__(kThreads, 6)
    fp8_scale_transpose(float* __restrict__ out, const float* __restrict__ scales, int rows,
                        int cols, int out_stride) {
  // [row][col], one pad column: a column read by a warp then touches 32 different banks.
  __shared__ float tile[kTileRows][kTileCols + 1];

  const int row_base = blockIdx.x * kTileRows;
  const int col_base = blockIdx.y * kTileCols;

  const int read_col = threadIdx.x % kTileCols;
  const int first_row = threadIdx.x / kTileCols;
#pragma unroll
  for (int i = 0; i < kTileRows / kReadRows; ++i) {
    const int r = first_row + i * kReadRows;
    const int row = row_base + r;
    const int col = col_base + read_col;
    const bool inside = row < rows && col < cols;
    tile[r][read_col] = inside ? scales[static_cast<size_t>(row) * cols + col] : 0.0f;
  }
  __syncthreads();

  const int write_row = threadIdx.x % kTileRows;
  const int first_col = threadIdx.x / kTileRows;
#pragma unroll
  for (int i = 0; i < kTileCols / kWriteCols; ++i) {
    const int c = first_col + i * kWriteCols;
    const int row = row_base + write_row;
    const int col = col_base + c;
    if (row < out_stride && col < cols) {
      out[static_cast<size_t>(col) * out_stride + row] = tile[write_row][c];
    }
  }
}
