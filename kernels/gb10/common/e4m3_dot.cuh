// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Sixteen fp8 (e4m3) weights of one 16-byte load, multiplied with sixteen fp32 activations: the
// inner step of the matrix-vector kernels. The conversion is the hardware's, so a NaN stays one.
#pragma once

#include <cuda_fp8.h>

// Weights of one 16-byte load.
constexpr int kE4m3Vec = 16;

// Weights are read once: they leave the caches first. `p` must be 16-byte aligned.
__device__ __forceinline__ uint4 load_e4m3x16(const __nv_fp8_e4m3* p) {
  return __ldcs(reinterpret_cast<const uint4*>(p));
}

// The two e4m3 values in the lower 16 bits, lowest address first. Exact.
__device__ __forceinline__ float2 e4m3x2_to_float2(unsigned bits) {
  const __half2_raw pair =
      __nv_cvt_fp8x2_to_halfraw2(static_cast<__nv_fp8x2_storage_t>(bits), __NV_E4M3);
  return __half22float2(__half2(pair));
}

// sum + w[0] * a[0] + ... + w[3] * a[3], in that order, with w the four e4m3 values of `bits`.
__device__ __forceinline__ float dot_e4m3x4(unsigned bits, const float* a, float sum) {
  const float2 low = e4m3x2_to_float2(bits & 0xffffu);
  const float2 high = e4m3x2_to_float2(bits >> 16);
  sum = fmaf(low.x, a[0], sum);
  sum = fmaf(low.y, a[1], sum);
  sum = fmaf(high.x, a[2], sum);
  return fmaf(high.y, a[3], sum);
}

// sum + the dot product of the sixteen values of `weights` with `a`, in a fixed order.
__device__ __forceinline__ float dot_e4m3x16(uint4 weights, const float (&a)[kE4m3Vec],
                                             float sum) {
  sum = dot_e4m3x4(weights.x, a, sum);
  sum = dot_e4m3x4(weights.y, a + 4, sum);
  sum = dot_e4m3x4(weights.z, a + 8, sum);
  return dot_e4m3x4(weights.w, a + 12, sum);
}
