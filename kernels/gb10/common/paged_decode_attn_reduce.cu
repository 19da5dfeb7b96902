// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Decode attention over a paged KV cache, second of two phases: joins the splits that
// paged_decode_attn left, by the softmax statistics of each.
//
//   top          = max over i of partial_max[b][h][i]
//   weight_i     = 2^(partial_max[b][h][i] - top)
//   out[b][h][:] = bf16( sum_i weight_i * partial_o[b][h][i][:] / sum_i weight_i *
//   partial_sum[b][h][i] )
//
//   partial_o    [batch][q_heads][splits][kHeadDim]  fp32
//   partial_max  [batch][q_heads][splits]            fp32, in units of log2; -inf: no tokens
//   partial_sum  [batch][q_heads][splits]            fp32
//   out          [batch][q_heads][kHeadDim]          bf16
//
// A row without any token (an empty sequence) becomes zeros. Requirements: partial_o 16-byte
// aligned, splits at least 1. Splits are added in one fixed order: the result is the same to the
// bit on every run. Tolerance: the final rounding to bf16 (relative 2^-9).
//
// Launch: grid (rows, 1, 1) with rows = batch * q_heads, block (kThreads, 1, 1), no dynamic shared
// memory. A lane owns 4 of the 128 dims, a warp every kWarps-th split.

#include "bf16x8.cuh"
#include "reduce.cuh"

constexpr int kHeadDim = 128;
constexpr int kWarps = 4;
constexpr int kThreads = kWarps * kWarpSize;
static_assert(kHeadDim == 4 * kWarpSize, "a lane owns four dims");

// 2^(split_max - top). Splits without tokens have a maximum of -inf and sums of zero; where no
// split has any, `top` is -inf too. A NaN sum passes through either way.
__device__ __forceinline__ float split_weight(float split_max, float top) {
  return (top == -INFINITY) ? 1.0f : exp2f(split_max - top);
}

extern "C" __global__ void __launch_bounds__(kThreads, 8)
    paged_decode_attn_reduce(const float* __restrict__ partial_o,
                             const float* __restrict__ partial_max,
                             const float* __restrict__ partial_sum, bf16* __restrict__ out,
                             int splits) {
  __shared__ __align__(
      16) float warp_o[kWarps][kHeadDim];  // [warp][dim]: what each warp has summed up
  __shared__ float warp_total[kWarps];     // [warp]

  const int lane = threadIdx.x % kWarpSize;
  const int warp = threadIdx.x / kWarpSize;
  const size_t first = static_cast<size_t>(blockIdx.x) * splits;

  float top = -INFINITY;
  for (int i = lane; i < splits; i += kWarpSize) {
    top = fmaxf(top, partial_max[first + i]);
  }
  top = warp_max(top);

  float4 o = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  float total = 0.0f;
#pragma unroll 8
  for (int i = warp; i < splits; i += kWarps) {
    const float weight = split_weight(partial_max[first + i], top);
    const float4 part =
        *reinterpret_cast<const float4*>(partial_o + (first + i) * kHeadDim + 4 * lane);
    total += weight * partial_sum[first + i];
    o.x += weight * part.x;
    o.y += weight * part.y;
    o.z += weight * part.z;
    o.w += weight * part.w;
  }
  *reinterpret_cast<float4*>(&warp_o[warp][4 * lane]) = o;
  if (lane == 0) {
    warp_total[warp] = total;
  }
  __syncthreads();

  const int dim = threadIdx.x;  // one thread per dim
  float sum = 0.0f;
  float value = 0.0f;
#pragma unroll
  for (int i = 0; i < kWarps; ++i) {
    sum += warp_total[i];
    value += warp_o[i][dim];
  }
  // No token at all: the sums are zero, and so is the row. A NaN sum stays NaN.
  const float inverse = (sum == 0.0f) ? 0.0f : 1.0f / sum;
  out[static_cast<size_t>(blockIdx.x) * kHeadDim + dim] = __float2bfloat16(value * inverse);
}
