// SPDX-License-Identifier: MIT OR Apache-2.0
//
// E2M1 (FP4) in software, for targets whose conversion instruction is missing (plain sm_121).
// A code is sign << 3 | magnitude; the magnitudes are 0, 0.5, 1, 1.5, 2, 3, 4, 6.
#pragma once

constexpr float kE2m1Max = 6.0f;

// Rounds to nearest, ties to the even code, saturating at 6; a NaN becomes +6, which is what the
// hardware's satfinite conversion gives. Each comparison with a midpoint adds one to the code, so
// there is no branch. A tie goes up exactly where the upper code is even, and the comparisons are
// negated so that a NaN passes them all.
__device__ __forceinline__ unsigned e2m1_from_float(float v) {
  const float a = fabsf(v);
  unsigned code = !(a <= 0.25f);
  code += !(a < 0.75f);
  code += !(a <= 1.25f);
  code += !(a < 1.75f);
  code += !(a <= 2.5f);
  code += !(a < 3.5f);
  code += !(a <= 5.0f);
  const unsigned sign = a <= __int_as_float(0x7f800000) ? __float_as_uint(v) >> 31 : 0u;
  return code | sign << 3;
}

// Exact. Magnitudes from code 2 up are fp32 numbers with the code's bits as exponent and top
// mantissa bit; codes 0 and 1 are the subnormals, 0 and 0.5.
__device__ __forceinline__ float e2m1_to_float(unsigned code) {
  const unsigned magnitude = code & 7u;
  const float normal = __uint_as_float(((magnitude >> 1) + 126u) << 23 | (magnitude & 1u) << 22);
  const float value = magnitude < 2u ? 0.5f * static_cast<float>(magnitude) : normal;
  return (code & 8u) != 0 ? -value : value;
}
