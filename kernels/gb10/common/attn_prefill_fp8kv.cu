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
// How: as attn_prefill, with the same two stages and barriers. A second, raw copy of the tiles
// would not fit twice into an SM, so the e4m3 bytes wait in registers instead (32 per thread and
// tile): V is requested before the scores and K of the next tile before the product with V; the
// block widens each tile to bf16 once, on its way into shared memory. Q comes by cp.async.

#include "attn_tile.cuh"
#include "cp_async.cuh"
#include "e4m3_dot.cuh"

constexpr int kSharedBytes = kTileQBytes + 2 * kTileKvBytes;
constexpr int kRowsPerPassQ = kThreads / kRowChunks;  // query rows that the block copies at once
constexpr int kRowChunksKv = kHeadDim / kE4m3Vec;     // 16-byte loads per row of k or v
constexpr int kRowsPerPassKv = kThreads / kRowChunksKv;
constexpr int kPassesKv = kTileKv / kRowsPerPassKv;
static_assert(kSharedBytes <= 49 * 1024, "two blocks per SM");
static_assert(kRowsPerPassQ % 8 == 0 && kRowsPerPassKv % 8 == 0, "a pass keeps the swizzle phase");

// One thread's part of a tile of k or v: 16 e4m3 numbers of each kRowsPerPassKv-th row.
struct RawTile {
  uint4 bytes[kPassesKv];
};

// Requests rows `first`.. of one head; rows from `count` on become zero.
__device__ __forceinline__ void load_raw(RawTile& raw, const __nv_fp8_e4m3* head, size_t row_stride,
                                         int first, int count) {
#pragma unroll
  for (int pass = 0; pass < kPassesKv; ++pass) {
    const int row = first + threadIdx.x / kRowChunksKv + pass * kRowsPerPassKv;
    raw.bytes[pass] = make_uint4(0, 0, 0, 0);
    if (row < count) {
      raw.bytes[pass] = __ldg(reinterpret_cast<const uint4*>(
          head + row * row_stride + kE4m3Vec * (threadIdx.x % kRowChunksKv)));
    }
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

// Puts the block's raw tile into the bf16 tile at `dst`: [row][kHeadDim], swizzled.
__device__ __forceinline__ void store_tile(unsigned dst, const RawTile& raw) {
  const int chunk = 2 * (threadIdx.x % kRowChunksKv);
#pragma unroll
  for (int pass = 0; pass < kPassesKv; ++pass) {
    const int row = threadIdx.x / kRowChunksKv + pass * kRowsPerPassKv;
    store_widened(dst + attn_tile_offset(row, chunk), raw.bytes[pass].x, raw.bytes[pass].y);
    store_widened(dst + attn_tile_offset(row, chunk + 1), raw.bytes[pass].z, raw.bytes[pass].w);
  }
}

// Starts the copy of the block's query rows; rows from `count` on become zero.
__device__ __forceinline__ void copy_queries(unsigned dst, const bf16* head, size_t row_stride,
                                             int first, int count) {
  const int chunk = threadIdx.x % kRowChunks;
  const int copy_row = threadIdx.x / kRowChunks;
  const unsigned lane_dst = dst + attn_tile_offset(copy_row, chunk);
#pragma unroll
  for (int pass = 0; pass < kTileQ / kRowsPerPassQ; ++pass) {
    const int row = first + copy_row + pass * kRowsPerPassQ;
    cp_async_16_or_zero(lane_dst + pass * kRowsPerPassQ * kRowBytes,
                        head + min(row, count - 1) * row_stride + 8 * chunk, row < count);
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

  copy_queries(tile_q, q + q_offset, q_stride, row0, q_len);
  cp_async_commit();
  RawTile raw;
  load_raw(raw, k + kv_offset, kv_stride, 0, kv_len);

  AttnState state;
  attn_start(state);
  const unsigned lane_q = tile_q + attn_lane_offset_q(warp, lane);
  const unsigned lane_k = tile_k + attn_lane_offset_k(lane);
  const unsigned lane_v = tile_v + attn_lane_offset_v(lane);
  const float scale_log2 = scale * kLog2e * k_scale[kv_head];

  cp_async_wait<0>();
  for (int tile = 0; tile < tiles; ++tile) {
    store_tile(tile_k, raw);
    __syncthreads();  // K (at first Q too) is there, and V's stage is no longer read
    load_raw(raw, v + kv_offset, kv_stride, tile * kTileKv, kv_len);
    AttnScores scores = {};
    attn_score(scores, lane_q, lane_k);
    if (tile >= open_tiles) {
      attn_mask(scores, tile * kTileKv, last_key, kv_len, lane);
    }
    attn_raise_maxima(state, scores, scale_log2);
    store_tile(tile_v, raw);
    __syncthreads();  // V is there, and K's stage is no longer read
    if (tile + 1 < tiles) {
      load_raw(raw, k + kv_offset, kv_stride, (tile + 1) * kTileKv, kv_len);
    }
    attn_accumulate(state, scores, scale_log2, lane_v);
  }

  attn_stage_output(tile_q, state, v_scale[kv_head], warp, lane);
  const int warp_row0 = row0 + warp * kWarpRows;
  attn_store_output(attn_pool, out + q_offset + warp_row0 * q_stride, q_stride, q_len - warp_row0,
                    warp, lane);
}
