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
  const AttnBlock block = attn_block(q_len, kv_len, q_heads, kv_heads);
  const int warp_row0 = block.row0 + warp * kWarpRows;
  const int last_key = warp_row0 + (lane >> 2) + block.history;

  const size_t q_rows = block.q_offset + block.row0 * block.q_stride;
  attn_copy_tile<kTileQ>(tile_q, q + q_rows + attn_copy_offset(block.q_stride), block.q_stride,
                         q_len - block.row0);
  size_t kv_rows = block.kv_offset + attn_copy_offset(block.kv_stride);
  attn_copy_tile<kTileKv>(tile_k, k + kv_rows, block.kv_stride, kv_len);
  cp_async_commit();

  AttnState state;
  attn_start(state);
  const unsigned lane_q = tile_q + attn_lane_offset_q(warp, lane);
  const unsigned lane_k = tile_k + attn_lane_offset_k(lane);
  const unsigned lane_v = tile_v + attn_lane_offset_v(lane);
  const float scale_log2 = scale * kLog2e;

  for (int tile = 0; tile < block.tiles; ++tile) {
    const int first_key = tile * kTileKv;
    cp_async_wait<0>();
    __syncthreads();  // K has landed, and V's stage is no longer read
    attn_copy_tile<kTileKv>(tile_v, v + kv_rows, block.kv_stride, kv_len - first_key);
    cp_async_commit();
    AttnScores scores = {};
    attn_score(scores, lane_q, lane_k);
    if (tile >= block.open_tiles) {
      attn_mask(scores, first_key, last_key, kv_len, lane);
    }
    attn_raise_maxima(state, scores, scale_log2);
    cp_async_wait<0>();
    __syncthreads();  // V has landed, and K's stage is no longer read
    // After the last tile this one is not used; rows past the end of k are not read.
    kv_rows += kTileKv * block.kv_stride;
    attn_copy_tile<kTileKv>(tile_k, k + kv_rows, block.kv_stride, kv_len - first_key - kTileKv);
    cp_async_commit();
    attn_accumulate(state, scores, scale_log2, lane_v);
  }

  cp_async_wait<0>();

  attn_stage_output(tile_q, state, 1.0f, warp, lane);
  attn_store_output(attn_pool, out + block.q_offset + warp_row0 * block.q_stride, block.q_stride,
                    q_len - warp_row0, warp, lane);
}
