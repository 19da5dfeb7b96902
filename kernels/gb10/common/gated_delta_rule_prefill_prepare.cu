// SPDX-License-Identifier: MIT OR Apache-2.0
//
// First phase of gated_delta_rule_prefill: what a chunk of 16 tokens needs of q, k, g and beta
// alone, for all chunks at once.
//   G_i  = g_first + ... + g_i                                   cumulative log decay
//   T    = (I + A)^-1 diag(beta),  A_ij = beta_i exp(G_i - G_j) k_i.k_j for j < i, else 0
//   P_ij = exp(G_i - G_j) q_i.k_j for j <= i, else 0
// Tokens past the end of the sequence count as zeros.
//
// Layouts    q, k: bf16 rows of [key_heads][kKeyDim], one per token, key_stride elements apart; g,
//            beta: fp32 [total_tokens][value_heads]; sequence_offset: int32 [batch + 1], where
//            each sequence begins, the last its end. With chunk c of sequence s at
//            sequence_offset[s] / 16 + s + c: factors: bf16 [chunks][value_heads]
//            [T upper, T lower, P][32 lanes][8], the fragments of delta_rule_chunk.cuh; decay:
//            fp32 [chunks][value_heads][16], G. chunks is total_tokens / 16 + batch; unused chunks
//            are not written.
// Alignment  q, k and factors 16 bytes, key_stride a multiple of 8; value_heads a multiple of
//            key_heads; value_heads and batch <= 65535. g finite and not positive.
// Tolerance  fp32 arithmetic: T within 1e-5 where k has length 1; P is rounded to bf16 once.
// Launch     grid (ceil_div(max_tokens, 64), value_heads, batch) with max_tokens the longest
//            sequence, block (128), no dynamic shared memory.
//
// How        One warp per chunk and value head. The products run over the tensor cores, with lane t
//            of a quad taking the same 8-element pieces of q and k in both operands; the inverse
//            is a forward substitution, one lane per column.

#include <cuda_bf16.h>

#include "delta_rule_chunk.cuh"

constexpr int kThreads = 128;
constexpr int kWarps = kThreads / kWarpSize;
// 16-byte pieces of a key row per lane of a quad; a piece serves two tensor-core steps.
constexpr int kPieces = kKeyDim / 32;
// Pitch of the 16 x 16 matrices in shared memory: whole float4 rows, shifted by 4 banks each.
constexpr int kPitch = kChunk + 4;

// The pieces of one row that this lane holds; zeros past the end of the sequence.
__device__ __forceinline__ void load_pieces(uint4 (&pieces)[kPieces], const bf16* row,
                                            int quad_lane, bool in_range) {
#pragma unroll
  for (int i = 0; i < kPieces; ++i) {
    const uint4* const from = reinterpret_cast<const uint4*>(row) + i * 4 + quad_lane;
    pieces[i] = in_range ? *from : uint4{};
  }
}

// product[j] += rows * keys^T for the 8 tokens of tile j: 16 x 8 each, kKeyDim deep.
__device__ __forceinline__ void multiply_rows(float (&product)[2][4], const uint4 (&low)[kPieces],
                                              const uint4 (&high)[kPieces],
                                              const uint4 (&key_low)[kPieces],
                                              const uint4 (&key_high)[kPieces]) {
#pragma unroll
  for (int i = 0; i < kPieces; ++i) {
    const unsigned first[4] = {low[i].x, high[i].x, low[i].y, high[i].y};
    const unsigned second[4] = {low[i].z, high[i].z, low[i].w, high[i].w};
    mma_m16n8k16(product[0], first, key_low[i].x, key_low[i].y);
    mma_m16n8k16(product[1], first, key_high[i].x, key_high[i].y);
    mma_m16n8k16(product[0], second, key_low[i].z, key_low[i].w);
    mma_m16n8k16(product[1], second, key_high[i].z, key_high[i].w);
  }
}

// Column `column` of (I + A)^-1 by forward substitution; `a` is strictly lower triangular.
__device__ __forceinline__ void invert_column(float (&x)[kChunk], const float (*a)[kPitch],
                                              int column) {
#pragma unroll
  for (int i = 0; i < kChunk; ++i) {
    float value = i == column ? 1.0f : 0.0f;
#pragma unroll
    for (int j = 0; j < i; ++j) {
      value = fmaf(-a[i][j], x[j], value);
    }
    x[i] = value;
  }
}

// Stores this lane's eight values of a fragment.
__device__ __forceinline__ void store_fragment(bf16* to, const unsigned (&pairs)[4]) {
  *reinterpret_cast<uint4*>(to) = make_uint4(pairs[0], pairs[1], pairs[2], pairs[3]);
}

extern "C" __global__ void __launch_bounds__(kThreads, 4)
    gated_delta_rule_prefill_prepare(bf16* __restrict__ factors, float* __restrict__ decay,
                                     const bf16* __restrict__ q, const bf16* __restrict__ k,
                                     const float* __restrict__ g, const float* __restrict__ beta,
                                     const int* __restrict__ sequence_offset, int batch,
                                     int max_tokens, int key_heads, int value_heads,
                                     int key_stride) {
  // [warp][row][column], 4 columns of padding: A of each warp's chunk, then T.
  __shared__ __align__(16) float matrix[kWarps][kChunk][kPitch];
  const int lane = threadIdx.x % kWarpSize;
  const int warp = threadIdx.x / kWarpSize;
  const int group = lane / 4;
  const int quad_lane = lane % 4;
  const int value_head = blockIdx.y;
  const int sequence = blockIdx.z;
  const int chunk = blockIdx.x * kWarps + warp;
  if (sequence >= batch || chunk * kChunk >= max_tokens) {
    return;
  }
  const int begin = sequence_offset[sequence];
  const int tokens = min(kChunk, sequence_offset[sequence + 1] - begin - chunk * kChunk);
  if (tokens <= 0) {
    return;
  }
  const int first = begin + chunk * kChunk;

  const int key_head = value_head / (value_heads / key_heads);
  const size_t row_low = static_cast<size_t>(first + group) * key_stride + key_head * kKeyDim;
  const size_t row_high = row_low + static_cast<size_t>(8) * key_stride;
  uint4 k_low[kPieces];
  uint4 k_high[kPieces];
  uint4 q_low[kPieces];
  uint4 q_high[kPieces];
  load_pieces(k_low, k + row_low, quad_lane, group < tokens);
  load_pieces(k_high, k + row_high, quad_lane, group + 8 < tokens);
  load_pieces(q_low, q + row_low, quad_lane, group < tokens);
  load_pieces(q_high, q + row_high, quad_lane, group + 8 < tokens);

  // Lanes 0..15 hold the tokens' g and beta, lanes 16..31 the same again.
  const int token = lane % kChunk;
  const size_t gate_at = static_cast<size_t>(first + token) * value_heads + value_head;
  float cumulative = token < tokens ? g[gate_at] : 0.0f;
  const float beta_own = token < tokens ? beta[gate_at] : 0.0f;
#pragma unroll
  for (int distance = 1; distance < kChunk; distance *= 2) {
    const float before = __shfl_up_sync(kFullMask, cumulative, distance, kChunk);
    cumulative += token >= distance ? before : 0.0f;
  }

  float kk[2][4] = {};
  float qk[2][4] = {};
  multiply_rows(kk, k_low, k_high, k_low, k_high);
  multiply_rows(qk, q_low, q_high, k_low, k_high);

  // Pairs of P and of T as a lane holds them in the fragments of the transposed matrices:
  // [g][2t..], [g][2t+8..], [g+8][2t..], [g+8][2t+8..].
  unsigned p[4];
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const int i = group + 8 * r;
    const float decay_i = __shfl_sync(kFullMask, cumulative, i);
    const float beta_i = __shfl_sync(kFullMask, beta_own, i);
#pragma unroll
    for (int c = 0; c < 2; ++c) {
      const int j = quad_lane * 2 + 8 * c;
      const float decay_j0 = __shfl_sync(kFullMask, cumulative, j);
      const float decay_j1 = __shfl_sync(kFullMask, cumulative, j + 1);
      const float ratio0 = j <= i ? expf(decay_i - decay_j0) : 0.0f;
      const float ratio1 = j + 1 <= i ? expf(decay_i - decay_j1) : 0.0f;
      p[2 * r + c] = pack_bf16x2(ratio0 * qk[c][2 * r], ratio1 * qk[c][2 * r + 1]);
      matrix[warp][i][j] = beta_i * ratio0 * kk[c][2 * r];
      matrix[warp][i][j + 1] = beta_i * ratio1 * kk[c][2 * r + 1];
    }
  }
  __syncwarp();

  float column[kChunk];
  invert_column(column, matrix[warp], token);
  __syncwarp();
  if (lane < kChunk) {
#pragma unroll
    for (int i = 0; i < kChunk; ++i) {
      matrix[warp][i][token] = column[i] * beta_own;
    }
  }
  __syncwarp();
  unsigned t_upper[4];
  unsigned t_lower[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const float* const row = matrix[warp][group + i / 2 * 8];
    const float2 pair = *reinterpret_cast<const float2*>(row + quad_lane * 2 + i % 2 * 8);
    split_bf16x2(pair.x, pair.y, t_upper[i], t_lower[i]);
  }

  const size_t slot =
      static_cast<size_t>(first_chunk(begin, sequence) + chunk) * value_heads + value_head;
  bf16* const factor = factors + slot * kFactorElements + lane * 8;
  store_fragment(factor, t_upper);
  store_fragment(factor + kWarpSize * 8, t_lower);
  store_fragment(factor + 2 * kWarpSize * 8, p);
  if (lane < kChunk) {
    decay[slot * kChunk + token] = cumulative;
  }
}
