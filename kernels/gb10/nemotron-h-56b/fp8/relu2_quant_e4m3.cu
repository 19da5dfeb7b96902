// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Squared ReLU of the MLP with the FP8 quantisation that its down projection reads:
//   out[i] = e4m3(max(x[i], 0)^2 * inv_scale), nearest even, saturating at 448
// Only this model family squares its ReLU and only this leaf stores activations as FP8.
//
// Layouts    x: bf16 [n]; out: e4m3 [n]; both dense. inv_scale is the reciprocal of the tensor's
//            calibrated scale.
// Alignment  both pointers 16 bytes; n a multiple of 16.
// Tolerance  exact against fp32 arithmetic in this order. A NaN stays a NaN; +inf becomes 448.
// Launch     grid (ceil_div(n, 8192)), block (256), no dynamic shared memory.

#include <cuda_fp8.h>

#include "bf16x8.cuh"

constexpr int kThreads = 256;
// Sixteen results make one 16-byte store; a thread has two such groups in flight.
constexpr int kPerGroup = 16;
constexpr int kGroups = 2;

// NaN compares false, and so passes.
__device__ __forceinline__ float squared_relu(float v) { return v < 0.0f ? 0.0f : v * v; }

// Two results, the lower index in the lower byte.
__device__ __forceinline__ unsigned quantise_pair(unsigned bits, float inv_scale) {
  float2 v;
  unpack_bf16x2(bits, v.x, v.y);
  v.x = squared_relu(v.x) * inv_scale;
  v.y = squared_relu(v.y) * inv_scale;
  return __nv_cvt_float2_to_fp8x2(v, __NV_SATFINITE, __NV_E4M3);
}

__device__ __forceinline__ uint2 quantise(uint4 bits, float inv_scale) {
  return make_uint2(quantise_pair(bits.x, inv_scale) | quantise_pair(bits.y, inv_scale) << 16,
                    quantise_pair(bits.z, inv_scale) | quantise_pair(bits.w, inv_scale) << 16);
}

extern "C" __global__ void __launch_bounds__(kThreads, 6)
    relu2_quant_e4m3(__nv_fp8_e4m3* __restrict__ out, const bf16* __restrict__ x, float inv_scale,
                     long long n) {
  const long long total = n / kPerGroup;
  const long long first = static_cast<long long>(blockIdx.x) * (kThreads * kGroups) + threadIdx.x;

  uint4 low[kGroups];
  uint4 high[kGroups];
#pragma unroll
  for (int i = 0; i < kGroups; ++i) {
    const long long at = first + i * kThreads;
    if (at < total) {
      low[i] = load_bf16x8(x + at * kPerGroup);
      high[i] = load_bf16x8(x + at * kPerGroup + kVec);
    }
  }
#pragma unroll
  for (int i = 0; i < kGroups; ++i) {
    const long long at = first + i * kThreads;
    if (at < total) {
      const uint2 a = quantise(low[i], inv_scale);
      const uint2 b = quantise(high[i], inv_scale);
      reinterpret_cast<uint4*>(out)[at] = make_uint4(a.x, a.y, b.x, b.y);
    }
  }
}
