// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Decode, first half of the shared expert: gate and up projection with fp8 weights and SwiGLU.
//   gate[t][i] = scale_gate[i] * sum_k w_gate[i][k] * x[t][k]        (up likewise)
//   h[t][i]    = gate / (1 + exp(-gate)) * up
// The second half is moe_shared_expert_fused_fp8_down.
//
// Layouts    x: bf16 [tokens][hidden]; w_gate, w_up: e4m3 [inter][hidden], one output channel per
//            row; scale_gate, scale_up: fp32 [inter]; h: bf16 [tokens][inter].
// Alignment  x, w_gate and w_up 16 bytes; hidden a multiple of 16; tokens <= 65535.
// Tolerance  exact products, fp32 sums in a fixed order, one rounding to bf16: rel 1e-2, and
//            abs 1e-3 where the sums cancel.
// Launch     grid (ceil_div(inter, 8), tokens), block (256), no dynamic shared memory.
//
// How        One warp per output channel reads both weight rows, 16 bytes per lane; x comes from
//            L1 after the first warp. Weights are read once per token: this kernel is for decode
//            batches of a few tokens and limited by memory bandwidth.

#include "bf16x16.cuh"
#include "e4m3_dot.cuh"
#include "reduce.cuh"
#include "silu.cuh"

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / kWarpSize;
// Weights of one row that a warp reads in one step.
constexpr int kStep = kWarpSize * kE4m3Vec;

extern "C" __global__ void __launch_bounds__(kThreads, 4)
    moe_shared_expert_fused_fp8(bf16* __restrict__ h, const bf16* __restrict__ x,
                                const __nv_fp8_e4m3* __restrict__ w_gate,
                                const __nv_fp8_e4m3* __restrict__ w_up,
                                const float* __restrict__ scale_gate,
                                const float* __restrict__ scale_up, int tokens, int hidden,
                                int inter) {
  const int lane = threadIdx.x % kWarpSize;
  const int channel = blockIdx.x * kWarps + threadIdx.x / kWarpSize;
  const int token = blockIdx.y;
  if (channel >= inter || token >= tokens) {
    return;
  }
  const bf16* const x_row = x + static_cast<size_t>(token) * hidden;
  const __nv_fp8_e4m3* const gate_row = w_gate + static_cast<size_t>(channel) * hidden;
  const __nv_fp8_e4m3* const up_row = w_up + static_cast<size_t>(channel) * hidden;

  float gate = 0.0f;
  float up = 0.0f;
#pragma unroll 2
  for (int k = lane * kE4m3Vec; k < hidden; k += kStep) {
    const uint4 gate_bits = load_e4m3x16(gate_row + k);
    const uint4 up_bits = load_e4m3x16(up_row + k);
    float activation[kE4m3Vec];
    load_bf16x16(x_row + k, activation);
    gate = dot_e4m3x16(gate_bits, activation, gate);
    up = dot_e4m3x16(up_bits, activation, up);
  }
  gate = warp_sum(gate) * scale_gate[channel];
  up = warp_sum(up) * scale_up[channel];
  if (lane == 0) {
    h[static_cast<size_t>(token) * inter + channel] = __float2bfloat16(silu(gate) * up);
  }
}
