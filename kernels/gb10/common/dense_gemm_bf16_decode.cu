// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The product of dense_gemm_bf16 for the few rows of a decode step, where reading the weights is
// all the work:
//
//   c[i][j] = bf16( sum over p of a[i][p] * b[j][p] )          (C = A * B^T)
//
//   a  [m][k] bf16, row-major: activations, one token per row
//   b  [n][k] bf16, row-major: weights, one output channel per row
//   c  [m][n] bf16, row-major
//
// Requirements: a and b 16-byte aligned; k a positive multiple of 8; m and n any positive number,
// but the weights are read once per kTokens rows of a. Products accumulate in fp32 in one fixed
// order, so the result is the same to the bit on every run. Tolerance against an fp32 product: the
// final rounding to bf16 (relative 2^-9) plus fp32 accumulation error.
//
// Launch: grid (ceil(n / kChannels), ceil(m / kTokens), 1), block (kThreads, 1, 1), no dynamic
// shared memory.
//
// How: C^T = B * A^T with the channels as the 16 rows and the tokens as the 8 columns of m16n8k16.
// Weights go straight from global memory into MMA fragments: the order of k inside a product is
// free, so lane (g, t) takes 16 bytes of row g, eight columns from 8t on, for two steps of 16. The
// warps of a block share its channels and take turns in k.

#include "load_streaming.cuh"
#include "mma_bf16.cuh"

constexpr int kWarps = 8;
constexpr int kThreads = 32 * kWarps;
constexpr int kTilesM = 1;               // MMA tiles of 16 channels
constexpr int kTilesN = 2;               // MMA tiles of 8 tokens
constexpr int kChannels = 16 * kTilesM;  // channels per block
constexpr int kTokens = 8 * kTilesN;     // tokens per block
constexpr int kDepth = 4;                // loads per row that a lane has in flight
constexpr int kSpan = 32;                // columns of k that four lanes take with one load each
constexpr int kWarpColumns = kDepth * kSpan;  // columns of a warp's turn

// One turn of a lane: rows g and g + 8 of each tile of channels, row g of each tile of tokens.
struct Turn {
  uint4 b[kDepth][2 * kTilesM];
  uint4 a[kDepth][kTilesN];
};

// Rows of this lane; those past the edge repeat the last one and feed outputs that are not stored.
struct LaneRows {
  const bf16* b[2 * kTilesM];
  const bf16* a[kTilesN];
};

// Columns past k become zero on both sides.
__device__ __forceinline__ void load_turn(Turn& turn, const LaneRows& rows, int column, int k) {
#pragma unroll
  for (int d = 0; d < kDepth; ++d) {
    const int at = column + d * kSpan;
#pragma unroll
    for (int r = 0; r < 2 * kTilesM; ++r) {
      turn.b[d][r] = (at < k) ? load_streaming(rows.b[r] + at) : make_uint4(0, 0, 0, 0);
    }
#pragma unroll
    for (int r = 0; r < kTilesN; ++r) {
      turn.a[d][r] = (at < k) ? load_bf16x8(rows.a[r] + at) : make_uint4(0, 0, 0, 0);
    }
  }
}

__device__ __forceinline__ void multiply_turn(float (&acc)[kTilesM][kTilesN][4], const Turn& turn) {
#pragma unroll
  for (int d = 0; d < kDepth; ++d) {
#pragma unroll
    for (int i = 0; i < kTilesM; ++i) {
      const uint4 near = turn.b[d][2 * i];
      const uint4 far = turn.b[d][2 * i + 1];
      const unsigned first[4] = {near.x, far.x, near.y, far.y};
      const unsigned second[4] = {near.z, far.z, near.w, far.w};
#pragma unroll
      for (int j = 0; j < kTilesN; ++j) {
        mma_m16n8k16(acc[i][j], first, turn.a[d][j].x, turn.a[d][j].y);
        mma_m16n8k16(acc[i][j], second, turn.a[d][j].z, turn.a[d][j].w);
      }
    }
  }
}

extern "C" __global__ void __launch_bounds__(kThreads, 2)
    dense_gemm_bf16_decode(const bf16* __restrict__ a, const bf16* __restrict__ b,
                           bf16* __restrict__ c, int m, int n, int k) {
  // [warp][token][channel], padded so that the four tokens of a store lie 8 banks apart.
  __shared__ float parts[kWarps][kTokens][kChannels + 4];

  const int lane = threadIdx.x & 31;
  const int warp = threadIdx.x >> 5;
  const int g = lane >> 2;
  const int t = lane & 3;
  const int channel0 = blockIdx.x * kChannels;
  const int token0 = blockIdx.y * kTokens;

  LaneRows rows;
#pragma unroll
  for (int r = 0; r < 2 * kTilesM; ++r) {
    rows.b[r] = b + static_cast<size_t>(min(channel0 + 8 * r + g, n - 1)) * k;
  }
#pragma unroll
  for (int r = 0; r < kTilesN; ++r) {
    rows.a[r] = a + static_cast<size_t>(min(token0 + 8 * r + g, m - 1)) * k;
  }

  float acc[kTilesM][kTilesN][4] = {};
  for (int column = warp * kWarpColumns; column < k; column += kWarps * kWarpColumns) {
    Turn turn;
    load_turn(turn, rows, column + 8 * t, k);
    multiply_turn(acc, turn);
  }

#pragma unroll
  for (int i = 0; i < kTilesM; ++i) {
#pragma unroll
    for (int j = 0; j < kTilesN; ++j) {
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        parts[warp][8 * j + 2 * t + (e & 1)][16 * i + 8 * (e >> 1) + g] = acc[i][j][e];
      }
    }
  }
  __syncthreads();

  for (int output = threadIdx.x; output < kTokens * kChannels; output += kThreads) {
    const int token = output / kChannels;
    const int channel = output % kChannels;
    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < kWarps; ++i) {
      sum += parts[i][token][channel];
    }
    if (token0 + token < m && channel0 + channel < n) {
      c[static_cast<size_t>(token0 + token) * n + channel0 + channel] = __float2bfloat16(sum);
    }
  }
}
