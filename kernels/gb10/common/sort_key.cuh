// SPDX-License-Identifier: MIT OR Apache-2.0
//
// bf16 values as unsigned integers in the order that argmax and top-k go by.
#pragma once

// Maps the 16 bits of a bf16 to a key below 2^16: NaN on top, -0 equal to +0, every key above 0.
__device__ __forceinline__ unsigned sort_key(unsigned bits) {
  const unsigned magnitude = bits & 0x7fffu;
  const unsigned key = (bits & 0x8000u) != 0 ? 0x8000u - magnitude : 0x8000u + magnitude;
  return magnitude > 0x7f80u ? 0xffffu : key;
}
