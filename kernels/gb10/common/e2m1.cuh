// SPDX-License-Identifier: MIT OR Apache-2.0
//
// E2M1 (FP4) in software, for targets whose conversion instruction is missing (plain sm_121).
// A code is sign << 3 | magnitude; the magnitudes are 0, 0.5, 1, 1.5, 2, 3, 4, 6.
#pragma once

constexpr float kE2m1Max = 6.0f;

// Rounds to nearest, ties to the even code, saturating at 6; a NaN becomes +6, which is what the
// hardware's satfinite conversion gives. There is no branch:
//   from 1 up     magnitudes are fp32 cut to one mantissa bit: the upper bits of the fp32, rounded
//                 by an integer add that carries into the exponent, are the code plus a bias
//   below 1       magnitudes are multiples of 0.5, the ulp of 2^22: adding that number rounds
__device__ __forceinline__ unsigned e2m1_from_float(float v) {
  constexpr float kRounder = 4194304.0f;
  constexpr unsigned kCutBits = 22;
  // Exponent 127 of the value 1 and its zero mantissa bit, less the code 2 that stands for it.
  constexpr unsigned kBias = (127u << 1) - 2u;
  // The inner minimum turns a NaN into 6.
  const float clamped = fmaxf(fminf(v, kE2m1Max), -kE2m1Max);
  const float a = fabsf(clamped);
  const unsigned bits = __float_as_uint(a);
  const unsigned is_odd = bits >> kCutBits & 1u;
  const unsigned normal = ((bits + (1u << (kCutBits - 1)) - 1u + is_odd) >> kCutBits) - kBias;
  const unsigned small = __float_as_uint(a + kRounder) - __float_as_uint(kRounder);
  const unsigned sign = __float_as_uint(clamped) >> 28 & 8u;
  return (a < 1.0f ? small : normal) | sign;
}
