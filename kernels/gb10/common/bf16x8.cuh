// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Eight bf16 values moved as one 16-byte access, and their conversion to and from fp32.
// Reductions live in reduce.cuh; nothing here touches shared memory.
#pragma once

#include <cuda_bf16.h>

using bf16 = __nv_bfloat16;

// Elements of one 16-byte access.
constexpr int kVec = 8;

// The raw bits of eight consecutive bf16 values, lowest address in the low half of `x`.
// `p` must be 16-byte aligned.
__device__ __forceinline__ uint4 load_bf16x8(const bf16* p) {
  return *reinterpret_cast<const uint4*>(p);
}

__device__ __forceinline__ void store_bf16x8(bf16* p, uint4 bits) {
  *reinterpret_cast<uint4*>(p) = bits;
}

// bf16 is the upper half of an fp32, so widening is a shift or a mask and never rounds.
__device__ __forceinline__ void unpack_bf16x2(unsigned bits, float& low, float& high) {
  low = __uint_as_float(bits << 16);
  high = __uint_as_float(bits & 0xffff0000u);
}

// Rounds to nearest even, as a PyTorch cast does.
__device__ __forceinline__ unsigned pack_bf16x2(float low, float high) {
  const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
  return *reinterpret_cast<const unsigned*>(&pair);
}

__device__ __forceinline__ void unpack_bf16x8(uint4 bits, float (&v)[kVec]) {
  unpack_bf16x2(bits.x, v[0], v[1]);
  unpack_bf16x2(bits.y, v[2], v[3]);
  unpack_bf16x2(bits.z, v[4], v[5]);
  unpack_bf16x2(bits.w, v[6], v[7]);
}

__device__ __forceinline__ uint4 pack_bf16x8(const float (&v)[kVec]) {
  return make_uint4(pack_bf16x2(v[0], v[1]), pack_bf16x2(v[2], v[3]), pack_bf16x2(v[4], v[5]),
                    pack_bf16x2(v[6], v[7]));
}
