// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Element-wise sum, the residual add of a transformer block:
//   out[i] = a[i] + b[i]
//
// Layouts    a, b, out: bf16 [n], dense. out may be a or b itself.
// Alignment  all pointers 16 bytes; n is any length, the last n % 8 values go one by one.
// Tolerance  exact: the fp32 sum of two bf16 values, rounded to nearest even once.
// Launch     grid (ceil_div(n, kTile = 4096)), block (256), no dynamic shared memory.

#include "bf16x8.cuh"

constexpr int kThreads = 256;
// 16-byte vectors of each input that a thread has in flight.
constexpr int kVectors = 2;
constexpr int kTile = kThreads * kVectors * kVec;

extern "C" __global__ void __launch_bounds__(kThreads, 6)
    bf16_add(bf16* out, const bf16* a, const bf16* b, long long n) {
  const long long whole = n / kVec;
  const long long first = static_cast<long long>(blockIdx.x) * (kTile / kVec) + threadIdx.x;

  uint4 left[kVectors];
  uint4 right[kVectors];
#pragma unroll
  for (int i = 0; i < kVectors; ++i) {
    const long long v = first + i * kThreads;
    if (v < whole) {
      left[i] = load_bf16x8(a + v * kVec);
      right[i] = load_bf16x8(b + v * kVec);
    }
  }
#pragma unroll
  for (int i = 0; i < kVectors; ++i) {
    const long long v = first + i * kThreads;
    if (v < whole) {
      float x[kVec];
      float y[kVec];
      unpack_bf16x8(left[i], x);
      unpack_bf16x8(right[i], y);
#pragma unroll
      for (int j = 0; j < kVec; ++j) {
        x[j] += y[j];
      }
      store_bf16x8(out + v * kVec, pack_bf16x8(x));
    }
  }

  const long long tail = whole * kVec + threadIdx.x;
  if (blockIdx.x == gridDim.x - 1 && tail < n) {
    out[tail] = __float2bfloat16_rn(__bfloat162float(a[tail]) + __bfloat162float(b[tail]));
  }
}
