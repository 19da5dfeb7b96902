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
// memory. A lane owns 4 of the 128 dims, a warp every kWarps-th split, kBatch of them at a time.

#include "bf16x8.cuh"
#include "reduce.cuh"

constexpr int kHeadDim = 128;
constexpr int kWarps = 4;
constexpr int kThreads = kWarps * kWarpSize;
constexpr int kBatch = 4;
static_assert(kHeadDim == 4 * kWarpSize, "a lane owns four dims");

// Splits summed up against the largest of their maxima.
struct Joined {
  float top;
  float total;
  float4 o;
};

// 2^(split_max - top). Splits without tokens have a maximum of -inf and sums of zero; where no
// split has any, `top` is -inf too. A NaN sum passes through either way.
__device__ __forceinline__ float split_weight(float split_max, float top) {
  return (top == -INFINITY) ? 1.0f : exp2f(split_max - top);
}

__device__ __forceinline__ void add_weighted(Joined& joined, float weight, float total, float4 o) {
  joined.total += weight * total;
  joined.o.x += weight * o.x;
  joined.o.y += weight * o.y;
  joined.o.z += weight * o.z;
  joined.o.w += weight * o.w;
}

// Adds splits first, first + kWarps, ... of a row; `o`, `max` and `sum` are the row's.
__device__ __forceinline__ void join_batch(Joined& joined, const float* o, const float* max,
                                           const float* sum, int first, int splits, int lane) {
  float maxima[kBatch];
  float sums[kBatch];
  float4 parts[kBatch];
  float top = joined.top;
#pragma unroll
  for (int b = 0; b < kBatch; ++b) {
    const int split = first + b * kWarps;
    maxima[b] = (split < splits) ? max[split] : -INFINITY;
    sums[b] = (split < splits) ? sum[split] : 0.0f;
    parts[b] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    if (split < splits) {
      parts[b] = *reinterpret_cast<const float4*>(o + split * kHeadDim + 4 * lane);
    }
    top = fmaxf(top, maxima[b]);
  }
  const Joined before = joined;
  joined = {top, 0.0f, make_float4(0.0f, 0.0f, 0.0f, 0.0f)};
  add_weighted(joined, split_weight(before.top, top), before.total, before.o);
#pragma unroll
  for (int b = 0; b < kBatch; ++b) {
    add_weighted(joined, split_weight(maxima[b], top), sums[b], parts[b]);
  }
}

extern "C" __global__ void __launch_bounds__(kThreads, 8)
    paged_decode_attn_reduce(const float* __restrict__ partial_o,
                             const float* __restrict__ partial_max,
                             const float* __restrict__ partial_sum, bf16* __restrict__ out,
                             int splits) {
  __shared__ __align__(16) float warp_o[kWarps][kHeadDim];  // [warp][dim]
  __shared__ float warp_top[kWarps];                        // [warp]
  __shared__ float warp_total[kWarps];                      // [warp]

  const int lane = threadIdx.x % kWarpSize;
  const int warp = threadIdx.x / kWarpSize;
  const size_t row = static_cast<size_t>(blockIdx.x) * splits;

  Joined joined = {-INFINITY, 0.0f, make_float4(0.0f, 0.0f, 0.0f, 0.0f)};
  for (int first = warp; first < splits; first += kWarps * kBatch) {
    join_batch(joined, partial_o + row * kHeadDim, partial_max + row, partial_sum + row, first,
               splits, lane);
  }
  *reinterpret_cast<float4*>(&warp_o[warp][4 * lane]) = joined.o;
  if (lane == 0) {
    warp_top[warp] = joined.top;
    warp_total[warp] = joined.total;
  }
  __syncthreads();

  const int dim = threadIdx.x;  // one thread per dim
  float top = -INFINITY;
#pragma unroll
  for (int i = 0; i < kWarps; ++i) {
    top = fmaxf(top, warp_top[i]);
  }
  float total = 0.0f;
  float value = 0.0f;
#pragma unroll
  for (int i = 0; i < kWarps; ++i) {
    const float weight = split_weight(warp_top[i], top);
    total += weight * warp_total[i];
    value += weight * warp_o[i][dim];
  }
  // No token at all: the sums are zero, and so is the row. A NaN sum stays NaN.
  const float inverse = (total == 0.0f) ? 0.0f : 1.0f / total;
  out[static_cast<size_t>(blockIdx.x) * kHeadDim + dim] = __float2bfloat16(value * inverse);
}
