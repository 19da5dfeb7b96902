// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Brings the expert outputs of moe_prefill back to their tokens:
//   out[t][d] = sum_j weight[t][j] * y[slot_of[t][j]][d]
// in the order of j. A slot of -1 adds nothing.
//
// Layouts    y: bf16 [slots][hidden], sorted by expert; slot_of: int32 [tokens][top_k], where each
//            choice of a token went; weight: fp32 [tokens][top_k]; out: bf16 [tokens][hidden].
// Alignment  y and out 16 bytes; hidden a multiple of 8; tokens <= 65535.
// Tolerance  fp32 sums in a fixed order, one rounding to bf16: rel 1e-2, and abs 1e-3 where the
//            terms cancel.
// Launch     grid (ceil_div(hidden, 2048), tokens), block (256), no dynamic shared memory.
//
// How        A thread owns eight neighbouring outputs of one token. Limited by memory bandwidth.

#include "bf16x8.cuh"

constexpr int kThreads = 256;

extern "C" __global__ void __launch_bounds__(kThreads, 6)
    moe_prefill_combine(bf16* __restrict__ out, const bf16* __restrict__ y,
                        const int* __restrict__ slot_of, const float* __restrict__ weight,
                        int tokens, int top_k, int hidden) {
  const int d = (blockIdx.x * kThreads + threadIdx.x) * kVec;
  const int token = blockIdx.y;
  if (d >= hidden || token >= tokens) {
    return;
  }
  const int* const slots = slot_of + static_cast<size_t>(token) * top_k;
  const float* const weights = weight + static_cast<size_t>(token) * top_k;
  float sum[kVec] = {};
#pragma unroll 4
  for (int j = 0; j < top_k; ++j) {
    const int slot = slots[j];
    // A slot of -1 reads slot 0 and drops it: the loads of several choices stay in flight.
    const uint4 bits = load_bf16x8(y + static_cast<size_t>(max(slot, 0)) * hidden + d);
    float v[kVec];
    unpack_bf16x8(bits, v);
#pragma unroll
    for (int e = 0; e < kVec; ++e) {
      sum[e] = slot < 0 ? sum[e] : fmaf(weights[j], v[e], sum[e]);
    }
  }
  store_bf16x8(out + static_cast<size_t>(token) * hidden + d, pack_bf16x8(sum));
}
