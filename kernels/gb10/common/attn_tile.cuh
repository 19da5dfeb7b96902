// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What the prefill attention kernels share: a block's part of the problem, the copy of a bf16 tile,
// and what a warp computes per tile of keys: scores, causal mask, online softmax, product with the
// values. When a tile is copied, and from which format, is each kernel's.
//
// All tiles in shared memory are [row][kHeadDim] bf16, kRowBytes per row, with the 16-byte chunks
// of a row permuted as attn_tile_offset says. A warp owns kWarpRows query rows as kTilesM MMA tiles
// of 16; in each a lane (g = lane / 4, t = lane % 4) sees rows g and g + 8.
#pragma once

#include "cp_async.cuh"
#include "mma_bf16.cuh"

constexpr int kHeadDim = 128;
constexpr int kRowBytes = kHeadDim * 2;
constexpr int kRowChunks = kRowBytes / 16;
constexpr int kWarps = 4;
constexpr int kThreads = 32 * kWarps;
constexpr int kTilesM = 2;
constexpr int kWarpRows = 16 * kTilesM;
constexpr int kTileQ = kWarps * kWarpRows;  // query rows per block
constexpr int kTileKv = 32;                 // keys per step
constexpr int kTilesN = kTileKv / 8;        // MMA tiles of scores along the keys
constexpr int kTilesD = kHeadDim / 8;       // MMA tiles of the output along the head dimension
constexpr int kCopyRows = kThreads / kRowChunks;  // tile rows that the block copies at once
constexpr int kTileQBytes = kTileQ * kRowBytes;
constexpr int kTileKvBytes = kTileKv * kRowBytes;
constexpr int kSharedBytes = kTileQBytes + 2 * kTileKvBytes;
static_assert(kSharedBytes <= 49 * 1024, "two blocks per SM of GB10");
static_assert(kCopyRows % 8 == 0, "what a thread copies keeps its swizzle phase");
constexpr float kLog2e = 1.44269504f;
// The running maximum is raised only when a score passes it by this many powers of two: the sums
// stay far from overflow, and most steps need no rescaling of the output.
constexpr float kSlack = 8.0f;

// Byte offset of chunk `chunk` of row `row`: the low three bits are xored with row % 8, so that the
// 8 rows of an ldmatrix tile fall in 8 different 16-byte bank groups.
__device__ __forceinline__ int attn_tile_offset(int row, int chunk) {
  return row * kRowBytes + ((chunk ^ (row & 7)) << 4);
}

// The part of the problem that a block has, from its place in the grid.
struct AttnBlock {
  int row0;         // first query row
  int history;      // keys before the first query: query row i sees keys up to i + history
  int tiles;        // tiles of keys up to the diagonal
  int open_tiles;   // of these, the first ones, which every row sees whole
  size_t q_stride;  // elements between query rows, and between key rows
  size_t kv_stride;
  size_t q_offset;  // elements to row 0 of the block's head in q and out, and in k and v
  size_t kv_offset;
  int kv_head;
};

// Grid (q_heads, ceil(q_len / kTileQ), batch); blocks with most tiles of keys come first.
__device__ __forceinline__ AttnBlock attn_block(int q_len, int kv_len, int q_heads, int kv_heads) {
  AttnBlock block;
  block.row0 = (gridDim.y - 1 - blockIdx.y) * kTileQ;
  block.history = kv_len - q_len;
  block.tiles = (min(block.row0 + kTileQ + block.history, kv_len) + kTileKv - 1) / kTileKv;
  block.open_tiles = min(block.row0 + block.history + 1, kv_len) / kTileKv;
  block.q_stride = static_cast<size_t>(q_heads) * kHeadDim;
  block.kv_stride = static_cast<size_t>(kv_heads) * kHeadDim;
  block.kv_head = blockIdx.x / (q_heads / kv_heads);
  block.q_offset = blockIdx.z * q_len * block.q_stride + blockIdx.x * kHeadDim;
  block.kv_offset = blockIdx.z * kv_len * block.kv_stride + block.kv_head * kHeadDim;
  return block;
}

// Starts the copy of kRows rows of one head to the tile at `dst`. `source` is the thread's first 16
// bytes there, attn_copy_offset elements into the tile; rows from `rows` on become zero.
template <int kRows>
__device__ __forceinline__ void attn_copy_tile(unsigned dst, const bf16* source, size_t row_stride,
                                               int rows) {
  const int row = threadIdx.x / kRowChunks;
  const unsigned thread_dst = dst + attn_tile_offset(row, threadIdx.x % kRowChunks);
#pragma unroll
  for (int i = 0; i < kRows; i += kCopyRows) {
    cp_async_16_or_zero(thread_dst + i * kRowBytes, source + i * row_stride, i + row < rows);
  }
}

__device__ __forceinline__ size_t attn_copy_offset(size_t row_stride) {
  return threadIdx.x / kRowChunks * row_stride + 8 * (threadIdx.x % kRowChunks);
}

// Output and softmax statistics of a warp's rows; index [i][h] is row 16 i + 8 h + g.
struct AttnState {
  float o[kTilesM][kTilesD][4];
  float max[kTilesM][2];  // reference maximum, in units of log2
  float sum[kTilesM][2];  // this lane's share of the sum of 2^(score - max)
};

__device__ __forceinline__ void attn_start(AttnState& state) {
#pragma unroll
  for (int i = 0; i < kTilesM; ++i) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      state.max[i][h] = -INFINITY;
      state.sum[i][h] = 0.0f;
    }
#pragma unroll
    for (int d = 0; d < kTilesD; ++d) {
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        state.o[i][d][e] = 0.0f;
      }
    }
  }
}

// Scores of one step: [i][j] is the 16 x 8 tile of rows 16 i.. and keys 8 j.. .
using AttnScores = float[kTilesM][kTilesN][4];

// Lane offsets for ldmatrix at the first 16 dims of the first 16 rows; attn_lane_address gives the
// others'. 16 rows down keep the swizzle phase, 64 dims on pass over the three swizzled bits, and
// 16 dims on, which are two chunks, become an xor.
__device__ __forceinline__ int attn_lane_offset_q(int warp, int lane) {
  return attn_tile_offset(warp * kWarpRows + (lane & 15), lane >> 4);
}
__device__ __forceinline__ int attn_lane_offset_k(int lane) {
  return attn_tile_offset((lane & 7) + ((lane >> 4) << 3), (lane >> 3) & 1);
}
__device__ __forceinline__ int attn_lane_offset_v(int lane) {
  return attn_tile_offset(lane & 15, lane >> 4);
}

__device__ __forceinline__ unsigned attn_lane_address(unsigned lane_address, int rows16,
                                                      int dims16) {
  return (lane_address ^ ((dims16 & 3) << 5)) + (dims16 >> 2) * 128 + rows16 * 16 * kRowBytes;
}

// scores = Q K^T for one tile of keys.
__device__ __forceinline__ void attn_score(AttnScores& scores, unsigned lane_q, unsigned lane_k) {
#pragma unroll
  for (int step = 0; step < kHeadDim / 16; ++step) {
    unsigned q[kTilesM][4];
#pragma unroll
    for (int i = 0; i < kTilesM; ++i) {
      ldmatrix_x4(q[i], attn_lane_address(lane_q, i, step));
    }
#pragma unroll
    for (int j = 0; j < kTilesN / 2; ++j) {
      unsigned k[4];
      ldmatrix_x4(k, attn_lane_address(lane_k, j, step));
#pragma unroll
      for (int i = 0; i < kTilesM; ++i) {
        mma_m16n8k16(scores[i][2 * j], q[i], k[0], k[1]);
        mma_m16n8k16(scores[i][2 * j + 1], q[i], k[2], k[3]);
      }
    }
  }
}

// Hides the keys that a row may not see: row 16 i + 8 h + g of the warp sees keys up to
// last_key + 16 i + 8 h, and none past kv_len.
__device__ __forceinline__ void attn_mask(AttnScores& scores, int first_key, int last_key,
                                          int kv_len, int lane) {
#pragma unroll
  for (int i = 0; i < kTilesM; ++i) {
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      const int limit = min(last_key + 16 * i + 8 * (e >> 1), kv_len - 1);
#pragma unroll
      for (int j = 0; j < kTilesN; ++j) {
        if (first_key + 8 * j + 2 * (lane & 3) + (e & 1) > limit) {
          scores[i][j][e] = -INFINITY;
        }
      }
    }
  }
}

__device__ __forceinline__ float attn_exp2(float x) {
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;\n" : "=f"(result) : "f"(x));
  return result;
}

// Moves the reference maximum of each row that `top` (raw scores, this lane's share) passes by
// kSlack up to it, and rescales what was summed against the old one. Other rows keep theirs to the
// bit: what a row gets depends on no other row.
__device__ __forceinline__ void attn_rescale(AttnState& state, const float (&top)[kTilesM][2],
                                             float scale_log2) {
#pragma unroll
  for (int i = 0; i < kTilesM; ++i) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const float old = state.max[i][h];
      float raised = top[i][h];
      raised = fmaxf(raised, __shfl_xor_sync(0xFFFFFFFFu, raised, 1));
      raised = fmaxf(raised, __shfl_xor_sync(0xFFFFFFFFu, raised, 2)) * scale_log2;
      raised = (raised > old + kSlack) ? raised : old;
      // The first step comes from -inf: the factor is 0, and so are the sums.
      const float factor = attn_exp2(old - raised);
      state.max[i][h] = raised;
      state.sum[i][h] *= factor;
#pragma unroll
      for (int d = 0; d < kTilesD; ++d) {
        state.o[i][d][2 * h] *= factor;
        state.o[i][d][2 * h + 1] *= factor;
      }
    }
  }
}

// Raises the reference maxima where scores of this step pass them by kSlack.
__device__ __forceinline__ void attn_raise_maxima(AttnState& state, const AttnScores& scores,
                                                  float scale_log2) {
  float top[kTilesM][2];
  bool passed = false;
#pragma unroll
  for (int i = 0; i < kTilesM; ++i) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      top[i][h] = fmaxf(scores[i][0][2 * h], scores[i][0][2 * h + 1]);
#pragma unroll
      for (int j = 1; j < kTilesN; ++j) {
        top[i][h] = fmaxf(top[i][h], fmaxf(scores[i][j][2 * h], scores[i][j][2 * h + 1]));
      }
      passed = passed || top[i][h] * scale_log2 > state.max[i][h] + kSlack;
    }
  }
  if (__any_sync(0xFFFFFFFFu, passed)) {
    attn_rescale(state, top, scale_log2);
  }
}

// 2^(score * scale_log2 - max), added to the row's sum.
__device__ __forceinline__ float attn_weight(float score, float scale_log2, float max, float& sum) {
  const float weight = attn_exp2(fmaf(score, scale_log2, -max));
  sum += weight;
  return weight;
}

// o += P V for one tile of values, P = 2^(scores - max). The score tiles of 16 keys are, rounded to
// bf16, an A fragment. Exponentials of one step run beside the tensor-core work of the step before.
__device__ __forceinline__ void attn_accumulate(AttnState& state, const AttnScores& scores,
                                                float scale_log2, unsigned lane_v) {
#pragma unroll
  for (int step = 0; step < kTileKv / 16; ++step) {
    unsigned p[kTilesM][4];
#pragma unroll
    for (int i = 0; i < kTilesM; ++i) {
#pragma unroll
      for (int r = 0; r < 4; ++r) {
        const int h = r & 1;
        const float* const pair = &scores[i][2 * step + (r >> 1)][2 * h];
        const float low = attn_weight(pair[0], scale_log2, state.max[i][h], state.sum[i][h]);
        const float high = attn_weight(pair[1], scale_log2, state.max[i][h], state.sum[i][h]);
        p[i][r] = pack_bf16x2(low, high);
      }
    }
#pragma unroll
    for (int d = 0; d < kTilesD / 2; ++d) {
      unsigned v[4];
      ldmatrix_x4_trans(v, attn_lane_address(lane_v, step, d));
#pragma unroll
      for (int i = 0; i < kTilesM; ++i) {
        mma_m16n8k16(state.o[i][2 * d], p[i], v[0], v[1]);
        mma_m16n8k16(state.o[i][2 * d + 1], p[i], v[2], v[3]);
      }
    }
  }
}

// Divides by the sums, multiplies by `factor`, rounds to bf16, and puts the warp's rows where its
// query rows were, which nobody else reads: [row][kHeadDim], swizzled as they were.
__device__ __forceinline__ void attn_stage_output(unsigned tile_q, AttnState& state, float factor,
                                                  int warp, int lane) {
  const int g = lane >> 2;
#pragma unroll
  for (int i = 0; i < kTilesM; ++i) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      float sum = state.sum[i][h];
      sum += __shfl_xor_sync(0xFFFFFFFFu, sum, 1);
      sum += __shfl_xor_sync(0xFFFFFFFFu, sum, 2);
      const float inverse = factor / sum;
      const int row = warp * kWarpRows + 16 * i + 8 * h + g;
#pragma unroll
      for (int d = 0; d < kTilesD; ++d) {
        const unsigned packed =
            pack_bf16x2(state.o[i][d][2 * h] * inverse, state.o[i][d][2 * h + 1] * inverse);
        const unsigned at = tile_q + attn_tile_offset(row, d) + 4 * (lane & 3);
        asm volatile("st.shared.b32 [%0], %1;\n" ::"r"(at), "r"(packed) : "memory");
      }
    }
  }
  __syncwarp();
}

// Writes the warp's staged rows to out (row stride in elements), `rows` of them at most, 16 bytes
// per lane: 16 lanes per row, two rows at a time.
__device__ __forceinline__ void attn_store_output(const unsigned char* tile_q, bf16* out,
                                                  size_t row_stride, int rows, int warp, int lane) {
  const int chunk = lane & 15;
  for (int row = lane >> 4; row < min(kWarpRows, rows); row += 2) {
    *reinterpret_cast<uint4*>(out + row * row_stride + 8 * chunk) =
        *reinterpret_cast<const uint4*>(tile_q + attn_tile_offset(warp * kWarpRows + row, chunk));
  }
}
