// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Causal attention for prefill, flash-attention 2 style, bf16:
//
//   out[b][i][h][:] = sum over j of softmax_j( scale * q[b][i][h] . k[b][j][hk] ) * v[b][j][hk],
//                     j <= i + kv_len - q_len,  hk = h / (q_heads / kv_heads)
//
//   q, out  [batch][q_len][q_heads][kHeadDim]    bf16
//   k, v    [batch][kv_len][kv_heads][kHeadDim]  bf16
//
// The last query sees the last key, so kv_len > q_len continues a sequence whose first
// kv_len - q_len tokens are already there. Requirements: pointers 16-byte aligned,
// kv_len >= q_len >= 1, q_heads a multiple of kv_heads, scale > 0. Tolerance against fp32: scores
// and sums are fp32, probabilities are rounded to bf16 (relative 2^-9) before the product with v.
// Every output has one writer and one order of summation: two runs agree to the bit.
//
// NaN and infinities: one in q stays in its row, one in k reaches the rows that see the key. One in
// v can also reach earlier rows of the same 128, where it meets a probability of zero.
//
// Launch: grid (q_heads, ceil(q_len / kTileQ), batch), block (kThreads, 1, 1), dynamic shared
// memory kSharedBytes (49,152): two blocks fit the 100 KB of an SM.
//
// How: a block owns kTileQ = 128 query rows of one head, a warp 32 of them. Keys and values come in
// tiles of 32 tokens through two cp.async stages, one for K and one for V: V of a tile travels
// while its scores are computed, K of the next tile during softmax and the product with V. Two
// barriers per tile. Tiles past the diagonal are not visited; blocks with most tiles start first.

#include "attn_tile.cuh"
#include "cp_async.cuh"

constexpr int kSharedBytes = kTileQBytes + 2 * kTileKvBytes;
constexpr int kRowsPerPass = kThreads / kRowChunks;  // tile rows that the block copies at once
static_assert(kSharedBytes <= 49 * 1024, "two blocks per SM");
static_assert(kRowsPerPass == 8, "a pass keeps the swizzle phase");

// Starts the copy of kRows rows of one head, from `first` on, into the tile at `dst`; rows from
// `count` on become zero.
template <int kRows>
__device__ __forceinline__ void copy_tile(unsigned dst, const bf16* head, size_t row_stride,
                                          int first, int count) {
  const int chunk = threadIdx.x % kRowChunks;
  const int copy_row = threadIdx.x / kRowChunks;
  const unsigned lane_dst = dst + attn_tile_offset(copy_row, chunk);
#pragma unroll
  for (int pass = 0; pass < kRows / kRowsPerPass; ++pass) {
    const int row = first + copy_row + pass * kRowsPerPass;
    cp_async_16_or_zero(lane_dst + pass * kRowsPerPass * kRowBytes,
                        head + min(row, count - 1) * row_stride + 8 * chunk, row < count);
  }
}

extern "C" __global__ void __launch_bounds__(kThreads, 2)
    attn_prefill(const bf16* __restrict__ q, const bf16* __restrict__ k, const bf16* __restrict__ v,
                 bf16* __restrict__ out, int q_len, int kv_len, int q_heads, int kv_heads,
                 float scale) {
  // Pool: Q tile [kTileQ rows][kHeadDim], then one K and one V stage [kTileKv rows][kHeadDim];
  // chunks swizzled as attn_tile_offset says.
  extern __shared__ __align__(128) unsigned char attn_pool[];
  const unsigned tile_q = shared_address(attn_pool);
  const unsigned tile_k = tile_q + kTileQBytes;
  const unsigned tile_v = tile_k + kTileKvBytes;

  const int lane = threadIdx.x & 31;
  const int warp = threadIdx.x >> 5;
  const int head = blockIdx.x;
  const int kv_head = head / (q_heads / kv_heads);
  const int row0 = (gridDim.y - 1 - blockIdx.y) * kTileQ;
  const int history = kv_len - q_len;
  const size_t q_stride = static_cast<size_t>(q_heads) * kHeadDim;
  const size_t kv_stride = static_cast<size_t>(kv_heads) * kHeadDim;
  const size_t q_offset = blockIdx.z * static_cast<size_t>(q_len) * q_stride + head * kHeadDim;
  const size_t kv_offset =
      blockIdx.z * static_cast<size_t>(kv_len) * kv_stride + kv_head * kHeadDim;

  // Tiles below `open_tiles` are seen whole by every row of the block.
  const int open_tiles = min(row0 + history + 1, kv_len) / kTileKv;
  const int tiles = (min(row0 + kTileQ + history, kv_len) + kTileKv - 1) / kTileKv;
  const int last_key = row0 + warp * kWarpRows + (lane >> 2) + history;

  copy_tile<kTileQ>(tile_q, q + q_offset, q_stride, row0, q_len);
  copy_tile<kTileKv>(tile_k, k + kv_offset, kv_stride, 0, kv_len);
  cp_async_commit();

  AttnState state;
  attn_start(state);
  const unsigned lane_q = tile_q + attn_lane_offset_q(warp, lane);
  const unsigned lane_k = tile_k + attn_lane_offset_k(lane);
  const unsigned lane_v = tile_v + attn_lane_offset_v(lane);
  const float scale_log2 = scale * kLog2e;

  for (int tile = 0; tile < tiles; ++tile) {
    cp_async_wait<0>();
    __syncthreads();  // K has landed, and V's stage is no longer read
    copy_tile<kTileKv>(tile_v, v + kv_offset, kv_stride, tile * kTileKv, kv_len);
    cp_async_commit();
    AttnScores scores = {};
    attn_score(scores, lane_q, lane_k);
    if (tile >= open_tiles) {
      attn_mask(scores, tile * kTileKv, last_key, kv_len, lane);
    }
    attn_raise_maxima(state, scores, scale_log2);
    cp_async_wait<0>();
    __syncthreads();  // V has landed, and K's stage is no longer read
    if (tile + 1 < tiles) {
      copy_tile<kTileKv>(tile_k, k + kv_offset, kv_stride, (tile + 1) * kTileKv, kv_len);
      cp_async_commit();
    }
    attn_accumulate(state, scores, scale_log2, lane_v);
  }

  attn_stage_output(tile_q, state, 1.0f, warp, lane);
  const int warp_row0 = row0 + warp * kWarpRows;
  attn_store_output(attn_pool, out + q_offset + warp_row0 * q_stride, q_stride, q_len - warp_row0,
                    warp, lane);
}
