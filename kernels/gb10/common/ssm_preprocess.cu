// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Takes the fused projections of a gated delta-net layer apart. The projection rows come grouped
// by key head; the convolution and the scan want them grouped by kind.
//   mixed[t] = [q of all key heads | k of all key heads | v of all value heads]
//   z[t]     = [z of all value heads]
//   g[t][h]    = -exp(a_log[h]) * softplus(a[t][h] + dt_bias[h])     (log of the state's decay)
//   beta[t][h] = 1 / (1 + exp(-b[t][h]))
//
// With r = value_heads / key_heads, the value heads r*n .. r*n+r-1 belong to key head n.
// Layouts    qkvz: bf16 [tokens][key_heads][q: kKeyDim | k: kKeyDim | v: r*kValueDim | z:
//            r*kValueDim]; ba: bf16 [tokens][key_heads][b: r | a: r]; a_log, dt_bias: fp32
//            [value_heads]; mixed: bf16 [tokens][2*key_heads*kKeyDim + value_heads*kValueDim];
//            z: bf16 [tokens][value_heads*kValueDim]; g, beta: fp32 [tokens][value_heads].
// Alignment  qkvz, mixed and z 16 bytes; value_heads a multiple of key_heads;
//            tokens * key_heads below 2^31.
// Tolerance  mixed and z are copies, equal to the bit; g and beta are fp32: rel 1e-5.
// Launch     grid (ceil_div(tokens * key_heads, 8)), block (256), no dynamic shared memory.
//
// How        One warp per token and key head moves 16 bytes per lane. Limited by memory bandwidth.

#include "bf16x8.cuh"
#include "reduce.cuh"

// Head dimensions; a leaf may define others (multiples of 8) before it includes this file.
#ifndef SSM_KEY_DIM
#define SSM_KEY_DIM 128
#endif
#ifndef SSM_VALUE_DIM
#define SSM_VALUE_DIM 128
#endif

constexpr int kKeyDim = SSM_KEY_DIM;
constexpr int kValueDim = SSM_VALUE_DIM;
constexpr int kThreads = 256;
constexpr int kWarps = kThreads / kWarpSize;

static_assert(kKeyDim % kVec == 0 && kValueDim % kVec == 0, "heads are moved 16 bytes at a time");

// log(1 + exp(v)), where it is v to fp32 accuracy beyond 20.
__device__ __forceinline__ float softplus(float v) { return v > 20.0f ? v : log1pf(expf(v)); }

extern "C" __global__ void __launch_bounds__(kThreads, 6)
    ssm_preprocess(bf16* __restrict__ mixed, bf16* __restrict__ z, float* __restrict__ g,
                   float* __restrict__ beta, const bf16* __restrict__ qkvz,
                   const bf16* __restrict__ ba, const float* __restrict__ a_log,
                   const float* __restrict__ dt_bias, int tokens, int key_heads, int value_heads) {
  const int lane = threadIdx.x % kWarpSize;
  const int row = blockIdx.x * kWarps + threadIdx.x / kWarpSize;
  if (row >= tokens * key_heads) {
    return;
  }
  const size_t token = row / key_heads;
  const int head = row % key_heads;
  const int group = value_heads / key_heads;
  const int group_dim = group * kValueDim;
  const int row_dim = 2 * (kKeyDim + group_dim);
  const int keys_dim = key_heads * kKeyDim;
  const int values_dim = value_heads * kValueDim;

  // Where each part of this head's row goes, less where the part begins in the row.
  bf16* const mixed_row = mixed + token * (2 * keys_dim + values_dim);
  bf16* const q_out = mixed_row + head * kKeyDim;
  bf16* const k_out = mixed_row + keys_dim + head * kKeyDim - kKeyDim;
  bf16* const v_out = mixed_row + 2 * keys_dim + head * group_dim - 2 * kKeyDim;
  bf16* const z_out = z + token * values_dim + head * group_dim - (2 * kKeyDim + group_dim);
  const bf16* const source = qkvz + static_cast<size_t>(row) * row_dim;
#pragma unroll 4
  for (int at = lane * kVec; at < row_dim; at += kWarpSize * kVec) {
    bf16* const keys_out = at < kKeyDim ? q_out : k_out;
    bf16* const rest_out = at < 2 * kKeyDim + group_dim ? v_out : z_out;
    bf16* const destination = at < 2 * kKeyDim ? keys_out : rest_out;
    store_bf16x8(destination + at, load_bf16x8(source + at));
  }

  const bf16* const ba_row = ba + static_cast<size_t>(row) * (2 * group);
  for (int i = lane; i < group; i += kWarpSize) {
    const int value_head = head * group + i;
    const float b = __bfloat162float(ba_row[i]);
    const float a = __bfloat162float(ba_row[group + i]);
    const size_t at = token * value_heads + value_head;
    g[at] = -expf(a_log[value_head]) * softplus(a + dt_bias[value_head]);
    beta[at] = 1.0f / (1.0f + expf(-b));
  }
}
