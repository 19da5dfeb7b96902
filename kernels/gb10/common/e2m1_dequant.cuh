// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Packed E2M1 (FP4) weights to bf16 pairs for the tensor cores, in integer instructions and one
// multiplication per pair. Single values, and the other direction, are in e2m1.cuh.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp8.h>

// An E2M1 code's three magnitude bits, put where bf16 has its two lowest exponent bits and its
// highest mantissa bit, read as the code's value times 2^-126: subnormal codes included. The block
// scale makes up for 2^118 of that (448 * 2^118 is still a finite bf16) and kE2m1Residual for the
// rest. A scaled weight has at most six significant bits, so it is exact in bf16.
constexpr float kE2m1ScaleFactor = 0x1p118f;
constexpr float kE2m1Residual = 256.0f;

// The bf16 pair by which unpack_e2m1x8 multiplies: an e4m3 block scale twice.
__device__ __forceinline__ __nv_bfloat162 e2m1_block_scale(__nv_fp8_e4m3 scale) {
  return __float2bfloat162_rn(static_cast<float>(scale) * kE2m1ScaleFactor);
}

// Eight codes, lowest nibble first, to four bf16 pairs: value * block scale / kE2m1Residual.
__device__ __forceinline__ void unpack_e2m1x8(unsigned codes, __nv_bfloat162 scale,
                                              unsigned (&pairs)[4]) {
  // In `even` the even codes stand in the upper nibbles, as the odd ones do in `codes`.
  const unsigned even = codes << 4;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    // Byte i of `even` to the top of the lower half, byte i of `codes` to the top of the upper.
    const unsigned spread = __byte_perm(even, codes, i << 4 | (i + 4) << 12);
    const unsigned bits = (spread & 0x80008000u) | (spread >> 6 & 0x01c001c0u);
    const __nv_bfloat162 pair = __hmul2(*reinterpret_cast<const __nv_bfloat162*>(&bits), scale);
    pairs[i] = *reinterpret_cast<const unsigned*>(&pair);
  }
}
