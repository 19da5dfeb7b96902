// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Expert choice before dispatch: the kTopK greatest of kExperts router logits of each token, and
// their softmax taken over the chosen ones alone:
//   experts[t][j] = the j-th greatest logit's position; among equals the lower position first
//   weights[t][j] = exp(l_j - l_0) / sum_i exp(l_i - l_0),   l_j = logits[t][experts[t][j]]
// That equals a softmax over all experts renormalised over the chosen ones.
//
// Layouts    logits: bf16 [tokens][kExperts]; weights: fp32 [tokens][kTopK];
//            experts: int32 [tokens][kTopK], greatest first.
// Alignment  logits 16 bytes.
// Tolerance  experts exact; weights fp32, rel 1e-5. A NaN logit counts as the greatest and makes
//            the token's weights NaN, so it can't pass unseen.
// Launch     grid (ceil_div(tokens, 8)), block (256): one warp per token; no dynamic shared memory.

#include "bf16x8.cuh"
#include "reduce.cuh"
#include "sort_key.cuh"

// Experts to choose from and how many are chosen; a leaf for another model defines them first.
#ifndef EXPERTS
#define EXPERTS 256
#endif
#ifndef TOP_K
#define TOP_K 10
#endif

constexpr int kExperts = EXPERTS;
constexpr int kTopK = TOP_K;
constexpr int kThreads = 256;
constexpr int kTokensPerBlock = kThreads / kWarpSize;
// Sixteen-byte vectors of a lane, and the logits in them.
constexpr int kVectors = kExperts / (kWarpSize * kVec);
constexpr int kPerLane = kVectors * kVec;

static_assert(kExperts % (kWarpSize * kVec) == 0, "a token's logits fill the warp's vectors");
static_assert(kTopK <= kWarpSize && kTopK <= kExperts, "lane j keeps the j-th choice");

// Key in the upper half, complement of the position in the lower: one maximum settles both.
__device__ __forceinline__ unsigned candidate(unsigned bits, int position) {
  return sort_key(bits) << 16 | (0xffffu - position);
}

extern "C" __global__ void __launch_bounds__(kThreads, 6)
    moe_gate_topk(float* __restrict__ weights, int* __restrict__ experts,
                  const bf16* __restrict__ logits, int tokens) {
  const int lane = threadIdx.x % kWarpSize;
  const int token = blockIdx.x * kTokensPerBlock + threadIdx.x / kWarpSize;
  // The same for a whole warp, so the warp's shuffles below stay whole.
  if (token >= tokens) {
    return;
  }
  const bf16* row = logits + static_cast<size_t>(token) * kExperts;

  unsigned candidates[kPerLane];
#pragma unroll
  for (int i = 0; i < kVectors; ++i) {
    const int position = (i * kWarpSize + lane) * kVec;
    const uint4 raw = load_bf16x8(row + position);
    const unsigned words[4] = {raw.x, raw.y, raw.z, raw.w};
#pragma unroll
    for (int j = 0; j < kVec; ++j) {
      candidates[i * kVec + j] = candidate(words[j / 2] >> (j % 2 * 16) & 0xffffu, position + j);
    }
  }

  unsigned chosen = 0;
#pragma unroll
  for (int j = 0; j < kTopK; ++j) {
    unsigned best = 0;
#pragma unroll
    for (int i = 0; i < kPerLane; ++i) {
      best = max(best, candidates[i]);
    }
    best = __reduce_max_sync(kFullMask, best);
    chosen = lane == j ? best : chosen;
#pragma unroll
    for (int i = 0; i < kPerLane; ++i) {
      candidates[i] = candidates[i] == best ? 0u : candidates[i];
    }
  }

  const int expert = 0xffff - static_cast<int>(chosen & 0xffffu);
  const float logit = lane < kTopK ? __bfloat162float(row[expert]) : 0.0f;
  const float greatest = __shfl_sync(kFullMask, logit, 0);
  // Equal infinities would give inf - inf: they share the weight instead.
  const float power = lane >= kTopK ? 0.0f : logit == greatest ? 1.0f : expf(logit - greatest);
  const float total = warp_sum(power);
  if (lane < kTopK) {
    weights[static_cast<size_t>(token) * kTopK + lane] = power / total;
    experts[static_cast<size_t>(token) * kTopK + lane] = expert;
  }
}
