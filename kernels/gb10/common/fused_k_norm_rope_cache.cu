// SPDX-License-Identifier: MIT OR Apache-2.0
//
// For each new token t and kv head, in one pass: RMSNorm of the key over the head, rotary
// embedding, and the append of key and value to a paged bf16 cache. With p = positions[t]:
//   n[i] = k[t][h][i] * rsqrt(mean_j(k[t][h][j]^2) + eps) * (kWeightBase + weight[i])
//   key_cache[slots[t]][h]   = rope(n, p), the first kRotaryDim values paired as (i, i + half)
//   value_cache[slots[t]][h] = v[t][h]       for tokens with slots[t] >= 0
//
// Layouts    k, v: bf16 [tokens][kv_heads][kHeadDim]; weight: bf16 [kHeadDim];
//            cos_sin: fp32 [max_position][kRotaryDim], half cosines, then half sines;
//            positions, slots: int32 [tokens]; caches: bf16, see kv_slot.cuh. A negative slot
//            marks a padding token, which writes nothing; its position is not read.
// Alignment  all pointers 16 bytes.
// Tolerance  fp32 arithmetic with no rounding between norm and rotation, one rounding to bf16 at
//            the end: abs 1e-3 and rel 1e-2 hold with room against an fp32 reference.
// Launch     grid (ceil_div(tokens * kv_heads * kHeadDim, 4096)), block (256), no dynamic shared
//            memory.

#include "angles.cuh"
#include "bf16x8.cuh"
#include "kv_slot.cuh"
#include "reduce.cuh"

// Values of one head, how many of them rotate, and what is added to the norm's weights (1.0f for
// zero-centred norms); a leaf for another model defines them first.
#ifndef HEAD_DIM
#define HEAD_DIM 128
#endif
#ifndef ROTARY_DIM
#define ROTARY_DIM HEAD_DIM
#endif
#ifndef WEIGHT_BASE
#define WEIGHT_BASE 0.0f
#endif

constexpr int kHeadDim = HEAD_DIM;
constexpr int kRotaryDim = ROTARY_DIM;
constexpr float kWeightBase = WEIGHT_BASE;
constexpr int kThreads = 256;
// A lane holds two vectors of a head: both members of eight pairs, or two that don't rotate.
constexpr int kLanes = kHeadDim / (2 * kVec);
constexpr int kRotaryLanes = kRotaryDim / (2 * kVec);

static_assert((kLanes & (kLanes - 1)) == 0 && kLanes <= kWarpSize, "a head lies within one warp");
static_assert(kRotaryDim % (2 * kVec) == 0 && kRotaryDim <= kHeadDim, "pairs come in eights");

// Scales a vector by the row's norm and the weights.
__device__ __forceinline__ void apply_norm(float (&v)[kVec], float scale,
                                           const bf16* __restrict__ weight) {
  float w[kVec];
  unpack_bf16x8(load_bf16x8(weight), w);
#pragma unroll
  for (int j = 0; j < kVec; ++j) {
    v[j] = v[j] * scale * (kWeightBase + w[j]);
  }
}

extern "C" __global__ void __launch_bounds__(kThreads, 4)
    fused_k_norm_rope_cache(bf16* __restrict__ key_cache, bf16* __restrict__ value_cache,
                            const bf16* __restrict__ k, const bf16* __restrict__ v,
                            const bf16* __restrict__ weight, const float* __restrict__ cos_sin,
                            const int* __restrict__ positions, const int* __restrict__ slots,
                            float eps, int tokens, int kv_heads) {
  const int lane = threadIdx.x % kLanes;
  const bool rotates = lane < kRotaryLanes;
  const int column_a = (rotates ? lane : 2 * lane) * kVec;
  const int column_b = (rotates ? lane + kRotaryLanes : 2 * lane + 1) * kVec;

  const unsigned heads = static_cast<unsigned>(tokens) * kv_heads;
  const unsigned head = blockIdx.x * (kThreads / kLanes) + threadIdx.x / kLanes;
  // Lanes past the end stay for the warp's shuffles, on the last head.
  const unsigned read = min(head, heads - 1);
  const unsigned token = read / kv_heads;
  const size_t row = static_cast<size_t>(read) * kHeadDim;
  const int slot = head < heads ? slots[token] : -1;

  float a[kVec];
  float b[kVec];
  const uint4 value_a = load_bf16x8(v + row + column_a);
  const uint4 value_b = load_bf16x8(v + row + column_b);
  unpack_bf16x8(load_bf16x8(k + row + column_a), a);
  unpack_bf16x8(load_bf16x8(k + row + column_b), b);

  float squares = 0.0f;
#pragma unroll
  for (int j = 0; j < kVec; ++j) {
    squares += a[j] * a[j] + b[j] * b[j];
  }
  const float scale = rsqrtf(warp_sum<kLanes>(squares) / kHeadDim + eps);
  if (slot < 0) {
    return;
  }
  apply_norm(a, scale, weight + column_a);
  apply_norm(b, scale, weight + column_b);
  if (rotates) {
    const float* angles = cos_sin + static_cast<size_t>(positions[token]) * kRotaryDim + column_a;
    float c[kVec];
    float s[kVec];
    load_fp32x8(angles, c);
    load_fp32x8(angles + kRotaryDim / 2, s);
    rotate_pairs(a, b, c, s);
  }
  const size_t place = slot_offset(slot, kv_heads, kHeadDim) + (read % kv_heads) * kHeadDim;
  store_bf16x8(key_cache + place + column_a, pack_bf16x8(a));
  store_bf16x8(key_cache + place + column_b, pack_bf16x8(b));
  store_bf16x8(value_cache + place + column_a, value_a);
  store_bf16x8(value_cache + place + column_b, value_b);
}
