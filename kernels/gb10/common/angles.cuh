// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The rotation of eight rotary pairs, shared by the kernels that apply RoPE.
#pragma once

#include "bf16x8.cuh"

// Eight consecutive fp32 values; `p` 16-byte aligned.
__device__ __forceinline__ void load_fp32x8(const float* p, float (&v)[kVec]) {
  const float4 low = reinterpret_cast<const float4*>(p)[0];
  const float4 high = reinterpret_cast<const float4*>(p)[1];
  v[0] = low.x, v[1] = low.y, v[2] = low.z, v[3] = low.w;
  v[4] = high.x, v[5] = high.y, v[6] = high.z, v[7] = high.w;
}

// Turns the eight pairs (x[j], y[j]) by the angles with cosines `c` and sines `s`.
__device__ __forceinline__ void rotate_pairs(float (&x)[kVec], float (&y)[kVec],
                                             const float (&c)[kVec], const float (&s)[kVec]) {
#pragma unroll
  for (int j = 0; j < kVec; ++j) {
    const float turned = x[j] * c[j] - y[j] * s[j];
    y[j] = y[j] * c[j] + x[j] * s[j];
    x[j] = turned;
  }
}
