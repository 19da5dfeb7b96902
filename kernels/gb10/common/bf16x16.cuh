// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Sixteen bf16 activations as fp32: what meets one 16-byte load of fp8 weights.
#pragma once

#include "bf16x8.cuh"

// Reads 32 bytes; `p` must be 16-byte aligned.
__device__ __forceinline__ void load_bf16x16(const bf16* p, float (&v)[2 * kVec]) {
  const uint4 first = load_bf16x8(p);
  const uint4 second = load_bf16x8(p + kVec);
  unpack_bf16x2(first.x, v[0], v[1]);
  unpack_bf16x2(first.y, v[2], v[3]);
  unpack_bf16x2(first.z, v[4], v[5]);
  unpack_bf16x2(first.w, v[6], v[7]);
  unpack_bf16x2(second.x, v[8], v[9]);
  unpack_bf16x2(second.y, v[10], v[11]);
  unpack_bf16x2(second.z, v[12], v[13]);
  unpack_bf16x2(second.w, v[14], v[15]);
}
