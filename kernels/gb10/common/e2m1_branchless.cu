// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Quantises fp32 to NVFP4 with software E2M1 conversion. For each group g of 16 values:
//   scales[g] = e4m3(max|x| / 6 * inv_global)
//   inverse   = inv_global / float(scales[g])
//   code[i]   = e2m1(x[i] * inverse), nearest, ties to even, saturating at 6
// A group whose scale rounds to zero has all codes zero (with their values' signs).
//
// Layouts    x: fp32 [n]; packed: two E2M1 codes per byte, [n / 2], the even index in the low
//            half; scales: e4m3 [n / 16]. inv_global is the reciprocal of the tensor's scale.
// Alignment  x 16 bytes, packed 2 bytes; n a multiple of 16.
// Tolerance  exact against a reference that does the same fp32 operations. A NaN is passed over by
//            its group's maximum and becomes +6 steps; an infinity saturates the scale.
// Launch     grid (ceil_div(n, kTile = 4096)), block (256), no dynamic shared memory.

#include <cuda_fp8.h>

#include <cstdint>

#include "e2m1.cuh"
#include "reduce.cuh"

constexpr int kThreads = 256;
// Values that share a scale, and the four lanes that hold them, four values each.
constexpr int kGroup = 16;
constexpr int kPerLane = 4;
constexpr int kGroupLanes = kGroup / kPerLane;
// 16-byte loads that a thread has in flight.
constexpr int kVectors = 4;
constexpr int kTile = kThreads * kVectors * kPerLane;

// Four codes, lowest index in the lowest bits.
__device__ __forceinline__ unsigned quantise(float4 v, float inverse) {
  return e2m1_from_float(v.x * inverse) | e2m1_from_float(v.y * inverse) << 4 |
         e2m1_from_float(v.z * inverse) << 8 | e2m1_from_float(v.w * inverse) << 12;
}

extern "C" __global__ void __launch_bounds__(kThreads, 4)
    e2m1_branchless(uint8_t* __restrict__ packed, __nv_fp8_e4m3* __restrict__ scales,
                    const float* __restrict__ x, float inv_global, long long n) {
  const long long total = n / kPerLane;
  const long long first = static_cast<long long>(blockIdx.x) * (kTile / kPerLane) + threadIdx.x;

  float4 v[kVectors];
#pragma unroll
  for (int i = 0; i < kVectors; ++i) {
    const long long at = first + i * kThreads;
    // Lanes past the end stay for the warp's shuffles, with zeros.
    v[i] = at < total ? reinterpret_cast<const float4*>(x)[at] : make_float4(0, 0, 0, 0);
  }
#pragma unroll
  for (int i = 0; i < kVectors; ++i) {
    const long long at = first + i * kThreads;
    const float lane_max =
        fmaxf(fmaxf(fabsf(v[i].x), fabsf(v[i].y)), fmaxf(fabsf(v[i].z), fabsf(v[i].w)));
    const float group_max = warp_max<kGroupLanes>(lane_max);
    const __nv_fp8_e4m3 scale(__fdiv_rn(group_max, kE2m1Max) * inv_global);
    const float step = static_cast<float>(scale);
    // Zero times any finite value leaves its sign and code zero.
    const float inverse = step > 0.0f ? __fdiv_rn(inv_global, step) : 0.0f;
    const unsigned codes = quantise(v[i], inverse);
    if (at < total) {
      reinterpret_cast<uint16_t*>(packed)[at] = static_cast<uint16_t>(codes);
      if (at % kGroupLanes == 0) {
        scales[at / kGroupLanes] = scale;
      }
    }
  }
}
