// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Rotary position embedding on queries and grouped keys, in place. With half = kRotaryDim / 2,
// p = positions[t], and each head's first kRotaryDim values paired as (i, i + half):
//   x[i]        = x[i] * cos[p][i] - x[i + half] * sin[p][i]
//   x[i + half] = x[i + half] * cos[p][i] + x[i] * sin[p][i]
// The other kHeadDim - kRotaryDim values of a head stay as they are.
//
// Layouts    q: bf16 [tokens][q_heads][kHeadDim]; k: bf16 [tokens][kv_heads][kHeadDim];
//            cos_sin: fp32 [max_position][kRotaryDim], half cosines, then half sines;
//            positions: int32 [tokens], each below max_position.
// Alignment  all pointers 16 bytes; kHeadDim a multiple of 8, kRotaryDim of 16.
// Tolerance  fp32 arithmetic, one rounding to bf16: within one bf16 ulp of an fp32 reference.
// Launch     grid (ceil_div(tokens, kTokensPerBlock), ceil_div(q_heads + kv_heads, 8)),
//            block (256), no dynamic shared memory; kTokensPerBlock = 2048 / kRotaryDim, 16 here.

#include "angles.cuh"
#include "bf16x8.cuh"

// Values of one head, and how many of them rotate; a leaf for another model defines them first.
#ifndef HEAD_DIM
#define HEAD_DIM 128
#endif
#ifndef ROTARY_DIM
#define ROTARY_DIM HEAD_DIM
#endif

constexpr int kHeadDim = HEAD_DIM;
constexpr int kRotaryDim = ROTARY_DIM;
constexpr int kHalf = kRotaryDim / 2;
// Threads that share a head: each owns eight pairs.
constexpr int kChunks = kHalf / kVec;
constexpr int kThreads = 256;
// Heads of one thread, all of one token, so that the angles are read once for all of them.
constexpr int kHeadsPerThread = 4;
constexpr int kHeadLanes = 2;
constexpr int kHeadsPerBlock = kHeadsPerThread * kHeadLanes;
constexpr int kTokensPerBlock = kThreads / (kChunks * kHeadLanes);

static_assert(kRotaryDim % (2 * kVec) == 0 && kRotaryDim <= kHeadDim, "pairs come in eights");
static_assert(kHeadDim % kVec == 0, "a head starts on a 16-byte boundary");
static_assert(kTokensPerBlock * kChunks * kHeadLanes == kThreads, "the block is fully used");

extern "C" __global__ void __launch_bounds__(kThreads, 3)
    rope(bf16* q, bf16* k, const float* __restrict__ cos_sin, const int* __restrict__ positions,
         int tokens, int q_heads, int kv_heads) {
  const int chunk = threadIdx.x % kChunks;
  const int lane = threadIdx.x / kChunks % kHeadLanes;
  const int token = blockIdx.x * kTokensPerBlock + threadIdx.x / (kChunks * kHeadLanes);
  if (token >= tokens) {
    return;
  }

  bf16* head[kHeadsPerThread];
  uint4 first[kHeadsPerThread];
  uint4 second[kHeadsPerThread];
#pragma unroll
  for (int i = 0; i < kHeadsPerThread; ++i) {
    const int h = blockIdx.y * kHeadsPerBlock + i * kHeadLanes + lane;
    const bool is_query = h < q_heads;
    bf16* row = is_query ? q + (static_cast<size_t>(token) * q_heads + h) * kHeadDim
                         : k + (static_cast<size_t>(token) * kv_heads + h - q_heads) * kHeadDim;
    head[i] = h < q_heads + kv_heads ? row + chunk * kVec : nullptr;
    if (head[i] != nullptr) {
      first[i] = load_bf16x8(head[i]);
      second[i] = load_bf16x8(head[i] + kHalf);
    }
  }

  const float* angles = cos_sin + static_cast<size_t>(positions[token]) * kRotaryDim + chunk * kVec;
  float c[kVec];
  float s[kVec];
  load_fp32x8(angles, c);
  load_fp32x8(angles + kHalf, s);
#pragma unroll
  for (int i = 0; i < kHeadsPerThread; ++i) {
    if (head[i] != nullptr) {
      float x[kVec];
      float y[kVec];
      unpack_bf16x8(first[i], x);
      unpack_bf16x8(second[i], y);
      rotate_pairs(x, y, c, s);
      store_bf16x8(head[i], pack_bf16x8(x));
      store_bf16x8(head[i] + kHalf, pack_bf16x8(y));
    }
  }
}
