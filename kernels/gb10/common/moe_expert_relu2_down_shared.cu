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
// Alignment  up, w_down, shared_up and shared_down 16 bytes; inter and shared_inter multiples of
//            16; tokens <= 65535. shared_inter may be 0; shared_scale is read all the same.
// Tolerance  exact products, fp32 sums in a fixed order, one rounding to bf16: rel 1e-2, and
//            abs 1e-3 where the terms cancel. A NaN in up makes its token's outputs NaN.
// Launch     grid (ceil_div(hidden, 4), tokens), block (256), no dynamic shared memory.
//
// How        A block owns four output channels of one token, so each output has one writer. Its
//            warps share out the steps of 512 weights over all the chosen experts; a lane reads 16
//            bytes of each of the four rows per step. Limited by memory bandwidth.

#include "bf16x16.cuh"
#include "e4m3_dot.cuh"
#include "reduce.cuh"

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / kWarpSize;
// Output channels per block.
constexpr int kRows = 4;
// Weights of one row that a warp reads in one step.
constexpr int kStep = kWarpSize * kE4m3Vec;

// Four rows of weights against one stretch of activations.
struct RowSums {
  float of[kRows];
};

// Adds to `sums` the products of this lane's sixteen weights of each row. `weights` points at
// them in the first row, `offset` leads from there to each row, `up` points at the activations.
__device__ __forceinline__ void add_step(RowSums& sums, const __nv_fp8_e4m3* weights,
                                         const size_t (&offset)[kRows], const bf16* up,
                                         const float (&row_scale)[kRows]) {
  uint4 bits[kRows];
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    bits[r] = load_e4m3x16(weights + offset[r]);
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
    sums.of[r] = fmaf(row_scale[r], dot_e4m3x16(bits[r], activation, 0.0f), sums.of[r]);
  }
}

extern "C" __global__ void __launch_bounds__(kThreads, 3)
    moe_expert_relu2_down_shared(bf16* __restrict__ out, const bf16* __restrict__ up,
                                 const int* __restrict__ expert, const float* __restrict__ weight,
                                 const __nv_fp8_e4m3* __restrict__ w_down,
                                 const float* __restrict__ scale,
                                 const bf16* __restrict__ shared_up,
                                 const __nv_fp8_e4m3* __restrict__ shared_down,
                                 const float* __restrict__ shared_scale, int tokens, int top_k,
                                 int inter, int shared_inter, int hidden) {
  // [warp][row]: each warp's share of the four sums; read by columns, four threads in all.
  __shared__ float partial[kWarps][kRows];
  const int lane = threadIdx.x % kWarpSize;
  const int warp = threadIdx.x / kWarpSize;
  const int first = blockIdx.x * kRows;
  const size_t token = blockIdx.y;
  if (token >= tokens) {
    return;
  }

  // Rows past the last channel repeat it; they are summed and not stored.
  int row[kRows];
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    row[r] = min(first + r, hidden - 1);
  }

  RowSums sums = {};
  size_t offset[kRows];
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    offset[r] = static_cast<size_t>(row[r]) * inter;
  }
  const int steps = (inter + kStep - 1) / kStep;
#pragma unroll 2
  for (int step = warp; step < top_k * steps; step += kWarps) {
    const size_t slot = token * top_k + step / steps;
    const int k = step % steps * kStep + lane * kE4m3Vec;
    const int chosen = expert[slot];
    if (chosen >= 0 && k < inter) {
      const size_t matrix = static_cast<size_t>(chosen) * hidden;
      float row_scale[kRows];
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
        row_scale[r] = weight[slot] * scale[matrix + row[r]];
      }
      add_step(sums, w_down + matrix * inter + k, offset, up + slot * inter + k, row_scale);
    }
  }

  float row_scale[kRows];
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    offset[r] = static_cast<size_t>(row[r]) * shared_inter;
    row_scale[r] = shared_scale[row[r]];
  }
  for (int k = threadIdx.x * kE4m3Vec; k < shared_inter; k += kThreads * kE4m3Vec) {
    add_step(sums, shared_down + k, offset, shared_up + token * shared_inter + k, row_scale);
  }

#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    const float sum = warp_sum(sums.of[r]);
    if (lane == 0) {
      partial[warp][r] = sum;
    }
  }
  __syncthreads();
  const int channel = first + threadIdx.x;
  if (threadIdx.x < kRows && channel < hidden) {
    float sum = 0.0f;
#pragma unroll
    for (int w = 0; w < kWarps; ++w) {
      sum += partial[w][threadIdx.x];
    }
    out[token * hidden + channel] = __float2bfloat16(sum);
  }
}
