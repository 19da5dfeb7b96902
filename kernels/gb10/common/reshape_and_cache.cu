// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Appends the keys and values of new tokens to a paged bf16 cache:
//   key_cache[slots[t]]   = k[t]
//   value_cache[slots[t]] = v[t]          for tokens with slots[t] >= 0
//
// Layouts    k, v: bf16 [tokens][kv_heads][kHeadDim]; caches: bf16, see kv_slot.cuh;
//            slots: int32 [tokens], all different; negative for padding tokens, which write
//            nothing.
// Alignment  all pointers 16 bytes; kHeadDim a multiple of 8; tokens * kv_heads * kHeadDim / 8
//            below 2^31.
// Tolerance  exact.
// Launch     grid (ceil_div(tokens * kv_heads * kHeadDim, 4096)), block (256), no dynamic shared
//            memory.

#include "bf16x8.cuh"
#include "kv_slot.cuh"

// Values of one head; a leaf for another model defines it first.
#ifndef HEAD_DIM
#define HEAD_DIM 128
#endif

constexpr int kHeadDim = HEAD_DIM;
constexpr int kThreads = 256;
// 16-byte vectors of keys, and of values, that a thread has in flight.
constexpr int kVectors = 2;

static_assert(kHeadDim % kVec == 0, "a head starts on a 16-byte boundary");

extern "C" __global__ void __launch_bounds__(kThreads, 6)
    reshape_and_cache(bf16* __restrict__ key_cache, bf16* __restrict__ value_cache,
                      const bf16* __restrict__ k, const bf16* __restrict__ v,
                      const int* __restrict__ slots, int tokens, int kv_heads) {
  const unsigned token_vectors = kv_heads * (kHeadDim / kVec);
  const unsigned total = tokens * token_vectors;
  const unsigned first = blockIdx.x * (kThreads * kVectors) + threadIdx.x;

  uint4 keys[kVectors];
  uint4 values[kVectors];
  int slot[kVectors];
#pragma unroll
  for (int i = 0; i < kVectors; ++i) {
    const unsigned at = first + i * kThreads;
    slot[i] = -1;
    if (at < total) {
      slot[i] = slots[at / token_vectors];
      keys[i] = load_bf16x8(k + static_cast<size_t>(at) * kVec);
      values[i] = load_bf16x8(v + static_cast<size_t>(at) * kVec);
    }
  }
#pragma unroll
  for (int i = 0; i < kVectors; ++i) {
    if (slot[i] >= 0) {
      const unsigned column = (first + i * kThreads) % token_vectors * kVec;
      const size_t place = slot_offset(slot[i], kv_heads, kHeadDim) + column;
      store_bf16x8(key_cache + place, keys[i]);
      store_bf16x8(value_cache + place, values[i]);
    }
  }
}
