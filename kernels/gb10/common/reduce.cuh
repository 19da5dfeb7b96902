// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Reductions over a warp or a block in a fixed order, so two runs agree to the bit.
#pragma once

constexpr int kWarpSize = 32;
constexpr unsigned kFullMask = 0xffffffffu;

// The sum over `kLanes` neighbouring lanes (a power of two), the same in each of them.
// All 32 lanes of the warp must take part.
template <int kLanes = kWarpSize>
__device__ __forceinline__ float warp_sum(float v) {
#pragma unroll
  for (int offset = kLanes / 2; offset > 0; offset /= 2) {
    v += __shfl_xor_sync(kFullMask, v, offset);
  }
  return v;
}

// The maximum over `kLanes` neighbouring lanes, the same in each of them; a NaN is passed over
// unless every lane holds one.
template <int kLanes = kWarpSize>
__device__ __forceinline__ float warp_max(float v) {
#pragma unroll
  for (int offset = kLanes / 2; offset > 0; offset /= 2) {
    v = fmaxf(v, __shfl_xor_sync(kFullMask, v, offset));
  }
  return v;
}

// The sum over a block of `kWarps` full warps, the same in each thread. Holds one barrier; a
// second call in one kernel needs its own `warp_sums`, or a barrier in between.
template <int kWarps>
__device__ __forceinline__ float block_sum(float v, float (&warp_sums)[kWarps]) {
  v = warp_sum(v);
  if (threadIdx.x % kWarpSize == 0) {
    warp_sums[threadIdx.x / kWarpSize] = v;
  }
  __syncthreads();
  float total = 0.0f;
#pragma unroll
  for (int w = 0; w < kWarps; ++w) {
    total += warp_sums[w];
  }
  return total;
}
