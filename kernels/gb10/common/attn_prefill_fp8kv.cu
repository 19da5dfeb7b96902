// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Causal attention for prefill over keys and values kept as fp8 (e4m3):
//
//   out[b][i][h][:] = sum over j of softmax_j( scale * q[b][i][h] . K[b][j][hk] ) * V[b][j][hk],
//                     j <= i + kv_len - q_len,  hk = h / (q_heads / kv_heads),
//                     K = k_scale[hk] * k,  V = v_scale[hk] * v
//
//   q, out            [batch][q_len][q_heads][kHeadDim]    bf16
//   k, v              [batch][kv_len][kv_heads][kHeadDim]  fp8 e4m3
//   k_scale, v_scale  [kv_heads]                           fp32, k_scale > 0
//
// The last query sees the last key, so kv_len > q_len continues a sequence whose first
// kv_len - q_len tokens are already there. Requirements: pointers 16-byte aligned,
// kv_len >= q_len >= 1, q_heads a multiple of kv_heads, scale > 0. Tolerance against fp32 on the
// same e4m3 numbers: these are exact in bf16 and the scales apply in fp32, so what attn_prefill
// says holds here. Two runs agree to the bit.
//
// NaN and infinities: one in q stays in its row, one in k reaches the rows that see the key. One in
// v can also reach earlier rows of the same 128, where it meets a probability of zero.
//
// Launch: grid (q_heads, ceil(q_len / kTileQ), batch), block (kThreads, 1, 1), dynamic shared
// memory kSharedBytes (49,152): two blocks fit the 100 KB of an SM.
//
// How: as attn_prefill, with the same two cp.async stages and two barriers per tile. The e4m3 bytes
// need no place of their own: 16 of them land in half of the 32 bytes that they become, and the
// thread that asked for them widens them to bf16 there before the barrier. A tile is widened once
// per block, not once per warp.

#include "attn_tile.cuh"
#include "e4m3_dot.cuh"

constexpr int kRawChunks = kHeadDim / kE4m3Vec;  // 16-byte loads per row of k or v
constexpr int kRawRows = kThreads / kRawChunks;  // rows that the block loads at once
static_assert(kRawRows % 8 == 0, "what a thread copies keeps its swizzle phase");

// Where this thread's 16 numbers of row threadIdx.x / kRawChunks of a tile become bf16: the chunk
// of the first 8; the other 8 go to the next chunk, at xor 16.
__device__ __forceinline__ int wide_offset() {
  return attn_tile_offset(threadIdx.x / kRawChunks, 2 * (threadIdx.x % kRawChunks));
}

// Where they wait as e4m3: in one of these chunks, so chosen that the 8 threads of a row use
// different bank groups.
__device__ __forceinline__ int raw_offset() {
  return wide_offset() ^ ((threadIdx.x % kRawChunks / 4) << 4);
}

// Starts the copy of a tile of one head. `source` is the thread's first 16 numbers there; rows from
// `rows` on become zero.
__device__ __forceinline__ void copy_raw(unsigned tile, const __nv_fp8_e4m3* source,
                                         size_t row_stride, int rows) {
  const int row = threadIdx.x / kRawChunks;
#pragma unroll
  for (int i = 0; i < kTileKv; i += kRawRows) {
    cp_async_16_or_zero(tile + raw_offset() + i * kRowBytes, source + i * row_stride,
                        i + row < rows);
  }
}

// The e4m3 pair in the lower 16 bits as a bf16 pair. Exact.
__device__ __forceinline__ unsigned widen_pair(unsigned bits) {
  const float2 pair = e4m3x2_to_float2(bits & 0xffffu);
  return pack_bf16x2(pair.x, pair.y);
}

// Stores 8 numbers, e4m3 in two words, as one 16-byte chunk of bf16.
__device__ __forceinline__ void store_widened(unsigned dst, unsigned low, unsigned high) {
  asm volatile("st.shared.v4.b32 [%0], {%1,%2,%3,%4};\n" ::"r"(dst), "r"(widen_pair(low)),
               "r"(widen_pair(low >> 16)), "r"(widen_pair(high)), "r"(widen_pair(high >> 16))
               : "memory");
}

// Widens what this thread copied: it waited for its copies, and touches nobody else's bytes.
__device__ __forceinline__ void widen_tile(unsigned tile) {
#pragma unroll
  for (int i = 0; i < kTileKv; i += kRawRows) {
    uint4 raw;
    asm volatile("ld.shared.v4.b32 {%0,%1,%2,%3}, [%4];\n"
                 : "=r"(raw.x), "=r"(raw.y), "=r"(raw.z), "=r"(raw.w)
                 : "r"(tile + raw_offset() + i * kRowBytes)
                 : "memory");
    const unsigned wide = tile + wide_offset() + i * kRowBytes;
    store_widened(wide, raw.x, raw.y);
    store_widened(wide ^ 16, raw.z, raw.w);
  }
}

extern "C" __global__ void __launch_bounds__(kThreads, 2)
    attn_prefill_fp8kv(const bf16* __restrict__ q, const __nv_fp8_e4m3* __restrict__ k,
                       const __nv_fp8_e4m3* __restrict__ v, const float* __restrict__ k_scale,
                       const float* __restrict__ v_scale, bf16* __restrict__ out, int q_len,
                       int kv_len, int q_heads, int kv_heads, float scale) {
  // Pool: Q tile [kTileQ rows][kHeadDim], then one K and one V stage [kTileKv rows][kHeadDim];
  // all bf16, chunks swizzled as attn_tile_offset says.
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
  size_t kv_rows = block.kv_offset + threadIdx.x / kRawChunks * block.kv_stride +
                   threadIdx.x % kRawChunks * kE4m3Vec;
  copy_raw(tile_k, k + kv_rows, block.kv_stride, kv_len);
  cp_async_commit();

  AttnState state;
  attn_start(state);
  const unsigned lane_q = tile_q + attn_lane_offset_q(warp, lane);
  const unsigned lane_k = tile_k + attn_lane_offset_k(lane);
  const unsigned lane_v = tile_v + attn_lane_offset_v(lane);
  const float scale_log2 = scale * kLog2e * k_scale[block.kv_head];

  for (int tile = 0; tile < block.tiles; ++tile) {
    const int first_key = tile * kTileKv;
    cp_async_wait<0>();
    widen_tile(tile_k);
    __syncthreads();  // K (at first Q too) is there, and V's stage is no longer read
    copy_raw(tile_v, v + kv_rows, block.kv_stride, kv_len - first_key);
    cp_async_commit();
    AttnScores scores = {};
    attn_score(scores, lane_q, lane_k);
    if (tile >= block.open_tiles) {
      attn_mask(scores, first_key, last_key, kv_len, lane);
    }
    attn_raise_maxima(state, scores, scale_log2);
    cp_async_wait<0>();
    widen_tile(tile_v);
    __syncthreads();  // V is there, and K's stage is no longer read
    // After the last tile this one is not used; rows past the end of k are not read.
    kv_rows += kTileKv * block.kv_stride;
    copy_raw(tile_k, k + kv_rows, block.kv_stride, kv_len - first_key - kTileKv);
    cp_async_commit();
    attn_accumulate(state, scores, scale_log2, lane_v);
  }
  cp_async_wait<0>();

  attn_stage_output(tile_q, state, v_scale[block.kv_head], warp, lane);
  attn_store_output(attn_pool, out + block.q_offset + warp_row0 * block.q_stride, block.q_stride,
                    q_len - warp_row0, warp, lane);
}
