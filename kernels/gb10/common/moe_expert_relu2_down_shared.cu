// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Decode, second half of a squared-ReLU mixture of experts: the activation, the down projections
// of the chosen experts and of the shared expert, and their weighted sum, in one pass.
//   r(u)      = max(u, 0)^2
//   out[t][d] = shared_scale[d] * sum_i shared_down[d][i] * r(shared_up[t][i])
//             + sum_j weight[t][j] * scale[e][d] * sum_i w_down[e][d][i] * r(up[t][j][i])
// with e = expert[t][j]. An expert of -1 adds nothing: its slot is padding.
//
// Layouts    up: bf16 [tokens][top_k][inter], before the activation; expert: int32
//            [tokens][top_k]; weight: fp32 [tokens][top_k]; w_down: e4m3
//            [experts][hidden][inter]; scale: fp32 [experts][hidden]; shared_up: bf16
//            [tokens][shared_inter]; shared_down: e4m3 [hidden][shared_inter]; shared_scale: fp32
//            [hidden]; out: bf16 [tokens][hidden].
// Alignment  up, w_down, scale, shared_up, shared_down and shared_scale 16 bytes; inter and
//            shared_inter multiples of 16, hidden of 8; inter >= 16, tokens <= 65535. shared_inter
//            may be 0; shared_scale is read all the same.
// Tolerance  exact products, fp32 sums in a fixed order, one rounding to bf16: rel 1e-2, and
//            abs 1e-3 where the terms cancel. A NaN in up makes its token's outputs NaN.
// Launch     grid (hidden // 8, tokens), block (128), no dynamic shared memory.
//
// How        A block owns eight output channels of one token, so each output has one writer. Its
//            warps share out the steps of 512 weights over all the chosen experts; a lane reads 16
//            bytes of each of the eight rows per step. Limited by memory bandwidth.

#include "bf16x16.cuh"
#include "e4m3_dot.cuh"
#include "reduce.cuh"

constexpr int kThreads = 128;
constexpr int kWarps = kThreads / kWarpSize;
// Output channels per block.
constexpr int kRows = 8;
// Weights of one row that a warp reads in one step.
constexpr int kStep = kWarpSize * kE4m3Vec;

// The scales of the block's rows, which are neighbours; `scale` is 16-byte aligned.
__device__ __forceinline__ void load_scales(float (&row_scale)[kRows], const float* scale) {
  const float4 low = *reinterpret_cast<const float4*>(scale);
  const float4 high = *reinterpret_cast<const float4*>(scale + 4);
  row_scale[0] = low.x;
  row_scale[1] = low.y;
  row_scale[2] = low.z;
  row_scale[3] = low.w;
  row_scale[4] = high.x;
  row_scale[5] = high.y;
  row_scale[6] = high.z;
  row_scale[7] = high.w;
}

// sums[r] += row_scale[r] * (this lane's sixteen weights of row r . r(activations)). `weights`
// points at them in the first row, the next row's are `pitch` further, `up` at the activations.
__device__ __forceinline__ void add_step(float (&sums)[kRows], const __nv_fp8_e4m3* weights,
                                         int pitch, const bf16* up,
                                         const float (&row_scale)[kRows]) {
  uint4 bits[kRows];
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    bits[r] = load_e4m3x16(weights + static_cast<size_t>(r) * pitch);
  }
  float activation[kE4m3Vec];
  load_bf16x16(up, activation);
#pragma unroll
  for (int i = 0; i < kE4m3Vec; ++i) {
    // Written so that a NaN passes.
    const float positive = activation[i] < 0.0f ? 0.0f : activation[i];
    activation[i] = positive * positive;
  }
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    sums[r] = fmaf(row_scale[r], dot_e4m3x16(bits[r], activation, 0.0f), sums[r]);
  }
}

extern "C" __global__ void __launch_bounds__(kThreads, 5)
    moe_expert_relu2_down_shared(bf16* __restrict__ out, const bf16* __restrict__ up,
                                 const int* __restrict__ expert, const float* __restrict__ weight,
                                 const __nv_fp8_e4m3* __restrict__ w_down,
                                 const float* __restrict__ scale,
                                 const bf16* __restrict__ shared_up,
                                 const __nv_fp8_e4m3* __restrict__ shared_down,
                                 const float* __restrict__ shared_scale, int tokens, int top_k,
                                 int inter, int shared_inter, int hidden) {
  // [warp][row]: each warp's share of the sums; read by columns, eight threads in all.
  __shared__ float partial[kWarps][kRows];
  const int lane = threadIdx.x % kWarpSize;
  const int warp = threadIdx.x / kWarpSize;
  const int first = blockIdx.x * kRows;
  const size_t token = blockIdx.y;
  if (token >= tokens) {
    return;
  }

  // The warp's steps: every kWarps-th of the chosen experts' steps, `steps` for each of them.
  const int* const chosen = expert + token * top_k;
  const int steps = (inter + kStep - 1) / kStep;
  const int choices_ahead = kWarps / steps;
  const int steps_ahead = kWarps % steps;
  int choice = warp / steps;
  int step = warp % steps;
  // Read one step ahead, since the addresses of the weights wait for it.
  int matrix = choice < top_k ? chosen[choice] : -1;

  float sums[kRows] = {};
  float row_scale[kRows];
  load_scales(row_scale, shared_scale + first);
  const __nv_fp8_e4m3* const shared_rows = shared_down + static_cast<size_t>(first) * shared_inter;
  for (int k = threadIdx.x * kE4m3Vec; k < shared_inter; k += kThreads * kE4m3Vec) {
    add_step(sums, shared_rows + k, shared_inter, shared_up + token * shared_inter + k, row_scale);
  }

  while (choice < top_k) {
    const int wraps = step + steps_ahead >= steps;
    const int next_choice = choice + choices_ahead + wraps;
    const int next_matrix = next_choice < top_k ? chosen[next_choice] : -1;
    const int k = step * kStep + lane * kE4m3Vec;
    if (matrix >= 0 && k < inter) {
      const size_t slot = token * top_k + choice;
      const size_t channel = static_cast<size_t>(matrix) * hidden + first;
      load_scales(row_scale, scale + channel);
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
        row_scale[r] *= weight[slot];
      }
      add_step(sums, w_down + channel * inter + k, inter, up + slot * inter + k, row_scale);
    }
    step += steps_ahead - wraps * steps;
    choice = next_choice;
    matrix = next_matrix;
  }

#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    const float sum = warp_sum(sums[r]);
    if (lane == 0) {
      partial[warp][r] = sum;
    }
  }
  __syncthreads();
  if (threadIdx.x < kRows) {
    float sum = 0.0f;
#pragma unroll
    for (int w = 0; w < kWarps; ++w) {
      sum += partial[w][threadIdx.x];
    }
    out[token * hidden + first + threadIdx.x] = __float2bfloat16(sum);
  }
}
