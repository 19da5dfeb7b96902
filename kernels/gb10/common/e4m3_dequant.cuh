// SPDX-License-Identifier: MIT OR Apache-2.0
//
// fp8 (e4m3) weights to bf16 pairs for the tensor cores, in integer instructions and one
// multiplication per pair. The conversion to fp32 for dot products is in e4m3_dot.cuh.
#pragma once

#include <cuda_bf16.h>

// Four e4m3 codes, lowest byte first, to two bf16 pairs, exactly. The code's exponent and mantissa,
// put where bf16 has its lowest exponent and highest mantissa bits, read as the value times 2^-120,
// subnormal codes included. The NaN codes become +-480: weights hold none.
__device__ __forceinline__ void unpack_e4m3x4(unsigned codes, unsigned& low, unsigned& high) {
  const __nv_bfloat162 factor = __float2bfloat162_rn(0x1p120f);
  // Each code to the top byte of one half.
  const unsigned spread_low = __byte_perm(codes, 0, 0x1404);
  const unsigned spread_high = __byte_perm(codes, 0, 0x3424);
  const unsigned bits_low = (spread_low & 0x80008000u) | (spread_low >> 4 & 0x07f007f0u);
  const unsigned bits_high = (spread_high & 0x80008000u) | (spread_high >> 4 & 0x07f007f0u);
  const __nv_bfloat162 pair_low =
      __hmul2(*reinterpret_cast<const __nv_bfloat162*>(&bits_low), factor);
  const __nv_bfloat162 pair_high =
      __hmul2(*reinterpret_cast<const __nv_bfloat162*>(&bits_high), factor);
  low = *reinterpret_cast<const unsigned*>(&pair_low);
  high = *reinterpret_cast<const unsigned*>(&pair_high);
}
