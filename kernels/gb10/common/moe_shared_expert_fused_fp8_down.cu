// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Decode, second half of the shared expert: fp8 down projection, scaled by the shared expert's
// sigmoid gate and added to what the routed experts gave.
//   out[t][d] = routed[t][d] + sigmoid(gate_logit[t]) * scale[d] * sum_i w_down[d][i] * h[t][i]
// The first half is moe_shared_expert_fused_fp8.
//
// Layouts    h: bf16 [tokens][inter]; w_down: e4m3 [hidden][inter], one output channel per row;
//            scale: fp32 [hidden]; gate_logit: fp32 [tokens], +inf for an ungated shared expert;
//            routed, out: bf16 [tokens][hidden]; out may be routed.
// Alignment  h and w_down 16 bytes; inter a multiple of 16; tokens <= 65535.
// Tolerance  exact products, fp32 sums in a fixed order, one rounding to bf16: rel 1e-2, and
//            abs 1e-3 where the terms cancel.
// Launch     grid (ceil_div(hidden, 16), tokens), block (256), no dynamic shared memory.
//
// How        One warp per two output channels, 16 bytes per lane and row, so that two rows share
//            one conversion of h. Limited by memory bandwidth.

#include "bf16x16.cuh"
#include "e4m3_dot.cuh"
#include "reduce.cuh"

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / kWarpSize;
// Output channels per warp.
constexpr int kRows = 2;
// Weights of one row that a warp reads in one step.
constexpr int kStep = kWarpSize * kE4m3Vec;

extern "C" __global__ void __launch_bounds__(kThreads, 4)
    moe_shared_expert_fused_fp8_down(bf16* out, const bf16* routed, const bf16* __restrict__ h,
                                     const __nv_fp8_e4m3* __restrict__ w_down,
                                     const float* __restrict__ scale,
                                     const float* __restrict__ gate_logit, int tokens, int inter,
                                     int hidden) {
  const int lane = threadIdx.x % kWarpSize;
  const int first = (blockIdx.x * kWarps + threadIdx.x / kWarpSize) * kRows;
  const int token = blockIdx.y;
  if (first >= hidden || token >= tokens) {
    return;
  }
  // With an odd number of channels the last warp reads its only row twice and stores it once.
  const int second = min(first + 1, hidden - 1);
  const bf16* const h_row = h + static_cast<size_t>(token) * inter;
  const __nv_fp8_e4m3* const first_row = w_down + static_cast<size_t>(first) * inter;
  const __nv_fp8_e4m3* const second_row = w_down + static_cast<size_t>(second) * inter;

  float first_sum = 0.0f;
  float second_sum = 0.0f;
#pragma unroll 2
  for (int k = lane * kE4m3Vec; k < inter; k += kStep) {
    const uint4 first_bits = load_e4m3x16(first_row + k);
    const uint4 second_bits = load_e4m3x16(second_row + k);
    float activation[kE4m3Vec];
    load_bf16x16(h_row + k, activation);
    first_sum = dot_e4m3x16(first_bits, activation, first_sum);
    second_sum = dot_e4m3x16(second_bits, activation, second_sum);
  }
  first_sum = warp_sum(first_sum);
  second_sum = warp_sum(second_sum);
  // Lane 0 stores the first channel, lane 1 the second.
  const int channel = first + lane;
  if (lane < kRows && channel < hidden) {
    const float gate = 1.0f / (1.0f + expf(-gate_logit[token]));
    const float down = (lane == 0 ? first_sum : second_sum) * scale[channel];
    const size_t at = static_cast<size_t>(token) * hidden + channel;
    out[at] = __float2bfloat16(__bfloat162float(routed[at]) + gate * down);
  }
}
