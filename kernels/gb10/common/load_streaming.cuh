// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Reads of weights and cache pages: 16 bytes that this SM will not read again, kept out of its L1.
// The address is 16-byte aligned, and nothing writes there while the kernel runs.
#pragma once

template <typename T>
__device__ __forceinline__ uint4 load_streaming(const T* source) {
  uint4 words;
  asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0,%1,%2,%3}, [%4];\n"
               : "=r"(words.x), "=r"(words.y), "=r"(words.z), "=r"(words.w)
               : "l"(source));
  return words;
}
