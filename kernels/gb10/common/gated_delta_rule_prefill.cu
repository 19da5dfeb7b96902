// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The gated delta rule over whole sequences, for each value head, continuing from a state:
//   D   = exp(g_t) * S                        decayed state, [key dim][value dim]
//   S   = D + beta_t * k_t (v_t - D^T k_t)^T
//   o_t = S^T q_t
// in chunks of 16 tokens by the formulas of delta_rule_chunk.cuh. This is the second phase; the
// first, gated_delta_rule_prefill_prepare, gives factors and decay.
//
// Layouts    q, k: bf16 rows of [key_heads][kKeyDim], one per token, key_stride elements apart; v:
//            bf16 rows of [value_heads][kValueDim], value_stride elements apart, so that q, k and v
//            may be parts of one wider row; o: bf16 [total_tokens][value_heads][kValueDim];
//            factors, decay, sequence_offset: as the first phase has them; state: fp32
//            [slots][value_heads][kKeyDim][kValueDim], updated in place, zeros at a sequence's
//            start; slot: int32 [batch], all different. An empty sequence leaves its state alone.
//            Value head h reads key head h / (value_heads / key_heads). The caller has normalised
//            q and k, and scaled q.
// Alignment  q, k, v, o, factors and decay 16 bytes, key_stride and value_stride multiples of 8;
//            value_heads a multiple of key_heads; value_heads and batch <= 65535.
// Tolerance  the state stays fp32, and whatever flows into it passes the tensor cores as sums of
//            two bf16 (relative 2^-16): rel 1e-3, abs 1e-4. What flows into o alone is rounded to
//            bf16 before its products and o after them: rel 1e-2, abs 1e-3 where the sums cancel.
// Launch     grid (kValueDim / 32, value_heads, batch), block (128), static shared memory only.
//
// How        A pair of warps owns 16 state columns, each warp half of the keys, as fp32
//            accumulators of S^T: these are the left operand of the next chunk's products without
//            leaving their lanes. The pair adds up its halves of K S and Q S through shared memory
//            and both solve for U; each finishes eight of the sixteen outputs. A block's two pairs
//            share k, q, v and the factors, brought by cp.async two chunks ahead.

#include <cuda_bf16.h>

#include "cp_async.cuh"
#include "delta_rule_chunk.cuh"

constexpr int kThreads = 128;
constexpr int kWarps = kThreads / kWarpSize;
constexpr int kStages = 3;
// State columns per pair of warps and per block, and keys per warp.
constexpr int kPairColumns = 16;
constexpr int kBlockColumns = kWarps / 2 * kPairColumns;
constexpr int kWarpKeys = kKeyDim / 2;
// Tensor-core steps along a warp's keys.
constexpr int kSteps = kWarpKeys / 16;
// Row pitches in bytes: the eight rows of an ldmatrix tile fall in different banks.
constexpr int kKeyPitch = kKeyDim * 2 + 16;
constexpr int kValuePitch = kBlockColumns * 2 + 16;
constexpr int kOutPitch = kPairColumns * 2 + 16;
// Parts of a stage, in bytes from its start.
constexpr int kQueryAt = kChunk * kKeyPitch;
constexpr int kValueAt = kQueryAt + kChunk * kKeyPitch;
constexpr int kFactorAt = kValueAt + kChunk * kValuePitch;
constexpr int kDecayAt = kFactorAt + kFactorElements * 2;
constexpr int kStageBytes = kDecayAt + kChunk * 4;
// Tokens whose outputs a warp finishes.
constexpr int kWarpTokens = kChunk / 2;

static_assert(kKeyDim % 64 == 0 && kValueDim % kBlockColumns == 0, "whole rows and columns");

// What one thread copies of each chunk: 16 bytes of every kPassRows-th row of k and q, and, in some
// threads, 16 bytes of v, of the factors or of decay.
struct Source {
  const bf16* k;
  const bf16* q;
  const bf16* v;
  const bf16* factors;
  const float* decay;
  int tokens;  // of the sequence
  int key_stride;
  int value_stride;
  int value_heads;
};

constexpr int kRowCopies = kKeyDim * 2 / 16;
constexpr int kValueCopies = kBlockColumns * 2 / 16;
constexpr int kFactorCopies = kFactorElements * 2 / 16;
constexpr int kDecayCopies = kChunk * 4 / 16;
constexpr int kPassRows = kThreads / kRowCopies;

static_assert(kThreads % kRowCopies == 0 && kChunk % kPassRows == 0, "a pass copies whole rows");
static_assert(kChunk * kValueCopies <= kThreads, "a thread copies at most one piece of v");
static_assert(kFactorCopies + kDecayCopies <= kThreads, "and one piece of factors or decay");

// Starts this thread's copies of one chunk; tokens past the end become zeros.
__device__ __forceinline__ void copy_chunk(const Source& source, int chunk, unsigned stage) {
  const int tid = threadIdx.x;
  const int first = chunk * kChunk;
  const int key_row = tid / kRowCopies;
  const unsigned key_to = stage + key_row * kKeyPitch + tid % kRowCopies * 16;
#pragma unroll
  for (int pass = 0; pass < kChunk / kPassRows; ++pass) {
    const int row = first + pass * kPassRows;
    const bool in_range = row + key_row < source.tokens;
    const size_t at = static_cast<size_t>(in_range ? row : 0) * source.key_stride;
    const unsigned to = key_to + pass * kPassRows * kKeyPitch;
    cp_async_16_or_zero(to, source.k + at, in_range);
    cp_async_16_or_zero(to + kQueryAt, source.q + at, in_range);
  }
  if (tid < kChunk * kValueCopies) {
    const int row = tid / kValueCopies;
    const bool in_range = first + row < source.tokens;
    const size_t at = static_cast<size_t>(in_range ? first : 0) * source.value_stride;
    cp_async_16_or_zero(stage + kValueAt + row * kValuePitch + tid % kValueCopies * 16,
                        source.v + at, in_range);
  }
  const size_t slot = static_cast<size_t>(chunk) * source.value_heads;
  if (tid < kFactorCopies) {
    cp_async_16(stage + kFactorAt + tid * 16, source.factors + slot * kFactorElements);
  } else if (tid < kFactorCopies + kDecayCopies) {
    cp_async_16(stage + kDecayAt + (tid - kFactorCopies) * 16, source.decay + slot * kChunk);
  }
}

// product = a * b for 16 x 16 of each, a in accumulator layout, b as fragments of its upper and
// lower part; what the two lower parts would add is below the error of the split.
__device__ __forceinline__ void multiply_split(float (&product)[2][4], const float (&a)[2][4],
                                               uint4 b_upper, uint4 b_lower) {
  unsigned upper[4];
  unsigned lower[4];
  split_bf16x2(a[0][0], a[0][1], upper[0], lower[0]);
  split_bf16x2(a[0][2], a[0][3], upper[1], lower[1]);
  split_bf16x2(a[1][0], a[1][1], upper[2], lower[2]);
  split_bf16x2(a[1][2], a[1][3], upper[3], lower[3]);
  // Three short chains instead of one long one.
  float first[2][4] = {};
  float second[2][4] = {};
  float third[2][4] = {};
  mma_m16n8k16(first[0], upper, b_upper.x, b_upper.y);
  mma_m16n8k16(first[1], upper, b_upper.z, b_upper.w);
  mma_m16n8k16(second[0], lower, b_upper.x, b_upper.y);
  mma_m16n8k16(second[1], lower, b_upper.z, b_upper.w);
  mma_m16n8k16(third[0], upper, b_lower.x, b_lower.y);
  mma_m16n8k16(third[1], upper, b_lower.z, b_lower.w);
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    product[0][i] = first[0][i] + (second[0][i] + third[0][i]);
    product[1][i] = first[1][i] + (second[1][i] + third[1][i]);
  }
}

// Stores a warp's 8 tokens x 16 columns of o, given transposed in accumulator layout, by way of
// its [token][16 columns] piece of shared memory.
__device__ __forceinline__ void store_output(bf16* o, size_t row_elements, int tokens,
                                             unsigned char* staging, const float (&out)[4]) {
  const int lane = threadIdx.x % kWarpSize;
  const int group = lane / 4;
  const int quad_lane = lane % 4;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int token = quad_lane * 2 + i % 2;
    const int column = group + i / 2 * 8;
    *reinterpret_cast<bf16*>(staging + token * kOutPitch + column * 2) = __float2bfloat16(out[i]);
  }
  __syncwarp();
  const int token = lane / 2;
  const int piece = lane % 2;
  if (token < min(tokens, kWarpTokens)) {
    *reinterpret_cast<uint4*>(o + token * row_elements + piece * 8) =
        *reinterpret_cast<const uint4*>(staging + token * kOutPitch + piece * 16);
  }
  __syncwarp();
}

extern "C" __global__ void __launch_bounds__(kThreads, 2)
    gated_delta_rule_prefill(bf16* __restrict__ o, float* __restrict__ state,
                             const int* __restrict__ slot, const bf16* __restrict__ q,
                             const bf16* __restrict__ k, const bf16* __restrict__ v,
                             const bf16* __restrict__ factors, const float* __restrict__ decay,
                             const int* __restrict__ sequence_offset, int batch, int key_heads,
                             int value_heads, int key_stride, int value_stride) {
  // [stage][k rows | q rows | v rows | factors | decay]: k and q [token][kKeyDim], v [token]
  // [kBlockColumns], rows padded by 16 bytes; factors and decay as in the workspace.
  __shared__ __align__(16) unsigned char pool[kStages * kStageBytes];
  // [warp][tile][lane]: what a warp gives its partner, K S of 8 + 8 tokens and Q S of 8.
  __shared__ float4 halves[kWarps][3][kWarpSize];
  // [warp][token][16 columns of o], rows padded by 16 bytes.
  __shared__ __align__(16) unsigned char out_rows[kWarps][kWarpTokens * kOutPitch];
  const int lane = threadIdx.x % kWarpSize;
  const int warp = threadIdx.x / kWarpSize;
  // Which keys this warp holds, and which tokens of a chunk it finishes: the first or second half.
  const int half = warp % 2;
  const int group = lane / 4;
  const int quad_lane = lane % 4;
  const int value_head = blockIdx.y;
  const int sequence = blockIdx.z;
  if (sequence >= batch) {
    return;
  }
  const int begin = sequence_offset[sequence];
  const int tokens = sequence_offset[sequence + 1] - begin;
  const int chunks = (tokens + kChunk - 1) / kChunk;
  if (chunks == 0) {
    return;
  }
  const int key_head = value_head / (value_heads / key_heads);
  const int block_column = blockIdx.x * kBlockColumns;
  const int tid = threadIdx.x;
  // Rows past the end are never read, wherever these point.
  const size_t key_at = static_cast<size_t>(begin + tid / kRowCopies) * key_stride +
                        key_head * kKeyDim + tid % kRowCopies * 8;
  const size_t value_at = static_cast<size_t>(begin + tid / kValueCopies) * value_stride +
                          value_head * kValueDim + block_column + tid % kValueCopies * 8;
  const size_t factor_slot =
      static_cast<size_t>(first_chunk(begin, sequence)) * value_heads + value_head;
  const Source source = {k + key_at,
                         q + key_at,
                         v + value_at,
                         factors + factor_slot * kFactorElements + tid * 8,
                         decay + factor_slot * kChunk + (tid - kFactorCopies) * 4,
                         tokens,
                         key_stride,
                         value_stride,
                         value_heads};
  const unsigned pool_address = shared_address(pool);
#pragma unroll
  for (int stage = 0; stage < kStages - 1; ++stage) {
    if (stage < chunks) {
      copy_chunk(source, stage, pool_address + stage * kStageBytes);
    }
    cp_async_commit();
  }

  // Tile n of S^T: rows are the pair's columns `group` and `group + 8` of S, columns are the
  // warp's keys 8n + 2 * quad_lane and the next.
  const int pair_column = warp / 2 * kPairColumns;
  float* const own_state = state +
                           (static_cast<size_t>(slot[sequence]) * value_heads + value_head) *
                               (kKeyDim * kValueDim) +
                           (half * kWarpKeys + quad_lane * 2) * kValueDim + block_column +
                           pair_column + group;
  float s[2 * kSteps][4];
#pragma unroll
  for (int n = 0; n < 2 * kSteps; ++n) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      s[n][i] = own_state[(n * 8 + i % 2) * kValueDim + i / 2 * 8];
    }
  }

  // What each lane addresses for ldmatrix, less the start of the stage. Keys as right operand of
  // S^T K^T: 8 tokens, the same 8 keys further, then the next 8 tokens likewise. As right operand
  // of U^T K, and v as accumulators of V^T: transposed, 8 tokens, then 8 further tokens or columns.
  const int row8 = lane % 8;
  const int tile = lane / 8;
  const int key_half = half * kWarpKeys * 2;
  const int key_lane = key_half + (row8 + tile / 2 * 8) * kKeyPitch + tile % 2 * 16;
  const int key_trans_lane = key_half + (row8 + tile % 2 * 8) * kKeyPitch + tile / 2 * 16;
  const int value_lane =
      kValueAt + (row8 + tile / 2 * 8) * kValuePitch + pair_column * 2 + tile % 2 * 16;
  const size_t out_row = static_cast<size_t>(value_heads) * kValueDim;
  bf16* const own_out = o + (begin + half * kWarpTokens) * out_row + value_head * kValueDim +
                        block_column + pair_column;

  int stage_index = 0;
  for (int chunk = 0; chunk < chunks; ++chunk) {
    cp_async_wait<kStages - 2>();
    __syncthreads();
    // The stage before this one is filled again: the barrier says that all are done with it.
    const int filled = stage_index == 0 ? kStages - 1 : stage_index - 1;
    if (chunk + kStages - 1 < chunks) {
      copy_chunk(source, chunk + kStages - 1, pool_address + filled * kStageBytes);
    }
    cp_async_commit();
    // [k rows | q rows | v rows | factors | decay], as the pool's comment has them.
    const unsigned char* const stage = pool + stage_index * kStageBytes;
    const unsigned stage_address = pool_address + stage_index * kStageBytes;
    stage_index = stage_index == kStages - 1 ? 0 : stage_index + 1;

    // (K S)^T and (Q S)^T over this warp's keys: [16 columns][16 tokens] in two tiles of 8 tokens.
    float ks[2][4] = {};
    float ks_rest[2][4] = {};
    float qs[2][4] = {};
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
      unsigned key_tile[4];
      unsigned query_tile[4];
      ldmatrix_x4(key_tile, stage_address + key_lane + step * 32);
      ldmatrix_x4(query_tile, stage_address + kQueryAt + key_lane + step * 32);
      unsigned upper[4];
      unsigned lower[4];
      split_bf16x2(s[2 * step][0], s[2 * step][1], upper[0], lower[0]);
      split_bf16x2(s[2 * step][2], s[2 * step][3], upper[1], lower[1]);
      split_bf16x2(s[2 * step + 1][0], s[2 * step + 1][1], upper[2], lower[2]);
      split_bf16x2(s[2 * step + 1][2], s[2 * step + 1][3], upper[3], lower[3]);
      mma_m16n8k16(ks[0], upper, key_tile[0], key_tile[1]);
      mma_m16n8k16(ks[1], upper, key_tile[2], key_tile[3]);
      mma_m16n8k16(qs[0], upper, query_tile[0], query_tile[1]);
      mma_m16n8k16(qs[1], upper, query_tile[2], query_tile[3]);
      mma_m16n8k16(ks_rest[0], lower, key_tile[0], key_tile[1]);
      mma_m16n8k16(ks_rest[1], lower, key_tile[2], key_tile[3]);
    }
#pragma unroll
    for (int n = 0; n < 2; ++n) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        ks[n][i] += ks_rest[n][i];
      }
      halves[warp][n][lane] = make_float4(ks[n][0], ks[n][1], ks[n][2], ks[n][3]);
    }
    float out[4];
    float given[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      out[i] = half == 0 ? qs[0][i] : qs[1][i];
      given[i] = half == 0 ? qs[1][i] : qs[0][i];
    }
    halves[warp][2][lane] = make_float4(given[0], given[1], given[2], given[3]);
    __syncthreads();
    // Both warps of a pair get the same sums: a + b is b + a.
    const float4 other[3] = {halves[warp ^ 1][0][lane], halves[warp ^ 1][1][lane],
                             halves[warp ^ 1][2][lane]};

    // G of tokens 2t and 2t + 1, the same 8 further, and the last token's.
    const float* const cumulative = reinterpret_cast<const float*>(stage + kDecayAt);
    const float last = cumulative[kChunk - 1];
    unsigned value_tile[4];
    ldmatrix_x4_trans(value_tile, stage_address + value_lane);
    float from_start[2][2];
    float to_end[2][2];
    float right[2][4];
#pragma unroll
    for (int n = 0; n < 2; ++n) {
      const float2 g = *reinterpret_cast<const float2*>(cumulative + n * 8 + quad_lane * 2);
      from_start[n][0] = __expf(g.x);
      from_start[n][1] = __expf(g.y);
      to_end[n][0] = __expf(last - g.x);
      to_end[n][1] = __expf(last - g.y);
      const float other_ks[4] = {other[n].x, other[n].y, other[n].z, other[n].w};
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const unsigned pair = value_tile[2 * n + i / 2];
        const float value = __uint_as_float(i % 2 == 0 ? pair << 16 : pair & 0xffff0000u);
        right[n][i] = value - from_start[n][i % 2] * (ks[n][i] + other_ks[i]);
      }
    }

    // U^T = (V - diag(exp G) K S)^T T^T.
    // [factor][lane] of 16 bytes: T upper, T lower, P.
    const uint4* const factor = reinterpret_cast<const uint4*>(stage + kFactorAt) + lane;
    float u[2][4];
    multiply_split(u, right, factor[0], factor[kWarpSize]);

    // S^T = exp(G_last) S^T + (diag(exp(G_last - G)) U)^T K.
    unsigned upper[4];
    unsigned lower[4];
#pragma unroll
    for (int n = 0; n < 2; ++n) {
      split_bf16x2(u[n][0] * to_end[n][0], u[n][1] * to_end[n][1], upper[2 * n], lower[2 * n]);
      split_bf16x2(u[n][2] * to_end[n][0], u[n][3] * to_end[n][1], upper[2 * n + 1],
                   lower[2 * n + 1]);
    }
    const float whole = __expf(last);
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
      unsigned key_tile[4];
      ldmatrix_x4_trans(key_tile, stage_address + key_trans_lane + step * 32);
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        s[2 * step][i] *= whole;
        s[2 * step + 1][i] *= whole;
      }
      mma_m16n8k16(s[2 * step], upper, key_tile[0], key_tile[1]);
      mma_m16n8k16(s[2 * step + 1], upper, key_tile[2], key_tile[3]);
      mma_m16n8k16(s[2 * step], lower, key_tile[0], key_tile[1]);
      mma_m16n8k16(s[2 * step + 1], lower, key_tile[2], key_tile[3]);
    }

    // O^T = (diag(exp G) Q S)^T + U^T P^T, for this warp's eight tokens.
    const uint4 p = factor[2 * kWarpSize];
    const float other_qs[4] = {other[2].x, other[2].y, other[2].z, other[2].w};
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const float decayed = half == 0 ? from_start[0][i % 2] : from_start[1][i % 2];
      out[i] = decayed * (out[i] + other_qs[i]);
    }
    const unsigned u_pairs[4] = {pack_bf16x2(u[0][0], u[0][1]), pack_bf16x2(u[0][2], u[0][3]),
                                 pack_bf16x2(u[1][0], u[1][1]), pack_bf16x2(u[1][2], u[1][3])};
    mma_m16n8k16(out, u_pairs, half == 0 ? p.x : p.z, half == 0 ? p.y : p.w);
    store_output(own_out + chunk * kChunk * out_row, out_row,
                 tokens - chunk * kChunk - half * kWarpTokens, out_rows[warp], out);
  }

#pragma unroll
  for (int n = 0; n < 2 * kSteps; ++n) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      own_state[(n * 8 + i % 2) * kValueDim + i / 2 * 8] = s[n][i];
    }
  }
}
