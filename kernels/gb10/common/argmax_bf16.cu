// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Greedy sampling: the position of the greatest logit of each row.
//   out[r] = argmax_i(logits[r][i])
// Among equal values the lowest position wins (-0 equals +0); a NaN beats every number, and the
// first NaN wins, as torch.argmax has it.
//
// Layouts    logits: bf16 [rows][row_stride], of which the first `vocab` columns count;
//            out: int32 [rows].
// Alignment  logits 16 bytes; row_stride a multiple of 8; vocab is any length >= 1.
// Tolerance  exact.
// Launch     grid (rows), block (768), no dynamic shared memory.

#include "bf16x8.cuh"
#include "reduce.cuh"
#include "sort_key.cuh"

constexpr int kThreads = 768;
constexpr int kWarps = kThreads / kWarpSize;
// 16-byte loads that a thread has in flight.
constexpr int kUnroll = 4;

// Keeps the better of two candidates packed as (key, ~position): one comparison settles both the
// value and, among equals, the lower position.
__device__ __forceinline__ unsigned long long candidate(unsigned key, unsigned position) {
  return (static_cast<unsigned long long>(key) << 32) | ~position;
}

// The greatest of eight values, a NaN if there is one.
__device__ __forceinline__ bf16 greatest_of(uint4 raw) {
  const __nv_bfloat162* pairs = reinterpret_cast<const __nv_bfloat162*>(&raw);
  const __nv_bfloat162 best =
      __hmax2_nan(__hmax2_nan(pairs[0], pairs[1]), __hmax2_nan(pairs[2], pairs[3]));
  return __hmax_nan(best.x, best.y);
}

// The first of eight values, starting at `position`, whose key is `key`.
__device__ __forceinline__ unsigned first_with_key(uint4 raw, unsigned key, unsigned position) {
  const unsigned words[kVec / 2] = {raw.x, raw.y, raw.z, raw.w};
  unsigned found = position;
#pragma unroll
  for (int j = kVec - 1; j >= 0; --j) {
    found = sort_key(words[j / 2] >> (j % 2 * 16) & 0xffffu) == key ? position + j : found;
  }
  return found;
}

__device__ __forceinline__ unsigned long long warp_best(unsigned long long best) {
#pragma unroll
  for (int offset = kWarpSize / 2; offset > 0; offset /= 2) {
    best = max(best, __shfl_xor_sync(kFullMask, best, offset));
  }
  return best;
}

extern "C" __global__ void __launch_bounds__(kThreads, 2)
    argmax_bf16(int* __restrict__ out, const bf16* __restrict__ logits, int rows, int vocab,
                int row_stride) {
  // [warp], each warp's best candidate.
  __shared__ unsigned long long warp_bests[kWarps];

  const int row = blockIdx.x;
  if (row >= rows) {
    return;
  }
  const bf16* line = logits + static_cast<size_t>(row) * row_stride;
  const int whole = vocab / kVec;

  // Only the vector with the thread's greatest value is remembered, and its place is looked for at
  // the end. Positions ascend within a thread, so a strict comparison keeps the first of equals.
  // Every real key exceeds 0, and a row has at least one value.
  unsigned best_key = 0;
  unsigned best_position = 0;
  for (int v = threadIdx.x; v < whole; v += kThreads * kUnroll) {
    uint4 raw[kUnroll];
#pragma unroll
    for (int i = 0; i < kUnroll; ++i) {
      // Past the end, the thread's own first vector again: a strict comparison ignores it.
      raw[i] = load_bf16x8(line + (v + i * kThreads < whole ? v + i * kThreads : v) * kVec);
    }
#pragma unroll
    for (int i = 0; i < kUnroll; ++i) {
      const unsigned key = sort_key(__bfloat16_as_ushort(greatest_of(raw[i])));
      if (key > best_key) {
        best_key = key;
        best_position = (v + i * kThreads) * kVec;
      }
    }
  }
  if (best_key != 0) {
    best_position = first_with_key(load_bf16x8(line + best_position), best_key, best_position);
  }
  const int tail = whole * kVec + threadIdx.x;
  if (tail < vocab) {
    const unsigned key = sort_key(__bfloat16_as_ushort(line[tail]));
    if (key > best_key) {
      best_key = key;
      best_position = tail;
    }
  }

  const unsigned long long mine = warp_best(candidate(best_key, best_position));
  if (threadIdx.x % kWarpSize == 0) {
    warp_bests[threadIdx.x / kWarpSize] = mine;
  }
  __syncthreads();
  if (threadIdx.x < kWarpSize) {
    const unsigned long long best =
        warp_best(threadIdx.x < kWarps ? warp_bests[threadIdx.x] : 0ull);
    if (threadIdx.x == 0) {
      out[row] = static_cast<int>(~static_cast<unsigned>(best));
    }
  }
}
