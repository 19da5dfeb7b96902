// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Walsh-Hadamard transform of each row, orthonormal, so applying it twice gives the input back:
//   out[r] = H x[r] / sqrt(kDim),   H[i][j] = (-1)^popcount(i & j)
// Spreads the outliers of keys and values over a head before they are quantised.
//
// Layouts    x, out: bf16 [rows][kDim], dense. out may be x itself.
// Alignment  all pointers 16 bytes.
// Tolerance  butterflies in fp32, one rounding to bf16: within one bf16 ulp of the row's largest
//            partial sum; abs 1e-3 and rel 1e-2 hold for rows of unit scale.
// Launch     grid (ceil_div(rows, kRowsPerBlock)), block (256), no dynamic shared memory;
//            kRowsPerBlock = 8192 / kDim, 64 here.

#include "bf16x8.cuh"
#include "reduce.cuh"

// Row length, a power of two; a leaf for another head dim defines it first.
#ifndef WHT_DIM
#define WHT_DIM 128
#endif

constexpr int kDim = WHT_DIM;
constexpr int kThreads = 256;
// A thread holds two vectors of a row, half a row apart: four of the log2(kDim) stages stay in its
// registers and only the others cross lanes.
constexpr int kPerThread = 2 * kVec;
constexpr int kLanes = kDim / kPerThread;
// Rows of one thread, for four loads in flight.
constexpr int kRows = 2;
constexpr int kRowsPerPass = kThreads / kLanes;
constexpr int kRowsPerBlock = kRowsPerPass * kRows;

static_assert((kDim & (kDim - 1)) == 0 && kLanes >= 1 && kLanes <= kWarpSize,
              "a row is a power of two and lies within one warp");

__device__ __forceinline__ void butterfly(float& a, float& b) {
  const float sum = a + b;
  b = a - b;
  a = sum;
}

__device__ __forceinline__ void transform_row(uint4& low, uint4& high, int lane) {
  float a[kVec];
  float b[kVec];
  unpack_bf16x8(low, a);
  unpack_bf16x8(high, b);
#pragma unroll
  for (int span = 1; span < kVec; span *= 2) {
#pragma unroll
    for (int j = 0; j < kVec; ++j) {
      if ((j & span) == 0) {
        butterfly(a[j], a[j + span]);
        butterfly(b[j], b[j + span]);
      }
    }
  }
#pragma unroll
  for (int j = 0; j < kVec; ++j) {
    butterfly(a[j], b[j]);
  }
#pragma unroll
  for (int span = 1; span < kLanes; span *= 2) {
    const float sign = (lane & span) == 0 ? 1.0f : -1.0f;
#pragma unroll
    for (int j = 0; j < kVec; ++j) {
      a[j] = fmaf(sign, a[j], __shfl_xor_sync(kFullMask, a[j], span));
      b[j] = fmaf(sign, b[j], __shfl_xor_sync(kFullMask, b[j], span));
    }
  }
  const float norm = rsqrtf(static_cast<float>(kDim));
#pragma unroll
  for (int j = 0; j < kVec; ++j) {
    a[j] *= norm;
    b[j] *= norm;
  }
  low = pack_bf16x8(a);
  high = pack_bf16x8(b);
}

extern "C" __global__ void __launch_bounds__(kThreads, 4)
    wht_bf16(bf16* out, const bf16* x, int rows) {
  const int lane = threadIdx.x % kLanes;
  const int first = blockIdx.x * kRowsPerBlock + threadIdx.x / kLanes;

  uint4 low[kRows];
  uint4 high[kRows];
#pragma unroll
  for (int i = 0; i < kRows; ++i) {
    // Lanes past the end stay for the warp's shuffles, on the last row.
    const int row = min(first + i * kRowsPerPass, rows - 1);
    const size_t at = static_cast<size_t>(row) * kDim + lane * kVec;
    low[i] = load_bf16x8(x + at);
    high[i] = load_bf16x8(x + at + kDim / 2);
  }
#pragma unroll
  for (int i = 0; i < kRows; ++i) {
    transform_row(low[i], high[i], lane);
    const int row = first + i * kRowsPerPass;
    if (row < rows) {
      const size_t at = static_cast<size_t>(row) * kDim + lane * kVec;
      store_bf16x8(out + at, low[i]);
      store_bf16x8(out + at + kDim / 2, high[i]);
    }
  }
}
