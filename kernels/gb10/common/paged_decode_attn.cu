// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Decode attention over a paged KV cache, first of two phases: each block attends one part (split)
// of one sequence; paged_decode_attn_reduce joins the splits.
//
//   o[b][h][:] = sum over s of softmax_s( scale * q[b][h] . k_s ) * v_s,   s < seq_lens[b]
//
//   q            [batch][q_heads][kHeadDim]                      bf16, one token per sequence
//   k_cache      [pages][kPageSize][kv_heads][kHeadDim]          bf16
//   v_cache      [pages][kPageSize][kv_heads][kHeadDim]          bf16
//   block_table  [batch][table_stride]                           int32: page of tokens 16i..16i+15
//   seq_lens     [batch]                                         int32: 0 is allowed
//   partial_o    [batch][q_heads][splits][kHeadDim]              fp32: sum of 2^(s - max) * v
//   partial_max  [batch][q_heads][splits]                        fp32: in units of log2
//   partial_sum  [batch][q_heads][splits]                        fp32: sum of 2^(s - max)
//
// Query head h reads kv head h / (q_heads / kv_heads). A split of no tokens writes max = -inf,
// sum = 0 and a zero row. Requirements: q and the caches 16-byte aligned; q_heads a multiple of
// kv_heads. Slots of a page past the sequence's end may hold anything, NaN included.
// Tolerance after the reduce: q . k and p . v accumulate in fp32, p is rounded to bf16 (2^-9).
//
// Launch: grid (kv_heads * ceil(q_heads / kv_heads / 8), splits, batch), block (kThreads, 1, 1), no
// dynamic shared memory. The launch site picks `splits` so that the grid fills the device: many
// for a small batch of long sequences, 1 when batch * kv_heads suffices; two blocks per SM are a
// good start. All splits of a sequence but the last ones hold the same number of pages; the same
// count gives the same bits.
//
// How: memory-bound, so everything is laid out for full-width loads. Both products run transposed,
// with up to 8 query heads as the n = 8 side of m16n8k16: S^T = K Q^T and O^T = V^T P^T. A warp
// takes one page (16 tokens) at a time straight from global memory into MMA fragments: the order
// of the head dimension inside a product is free, so lane (g, t) takes 16 bytes of token g for K,
// and 16 bytes of tokens 2t, 2t+1, 2t+8, 2t+9 for V. The next page's K travels during the softmax.

#include "load_streaming.cuh"
#include "mma_bf16.cuh"

constexpr int kHeadDim = 128;
constexpr int kPageSize = 16;  // tokens per cache page: one MMA tile
constexpr int kHeadTile = 8;   // query heads that one block serves
constexpr int kWarps = 4;
constexpr int kThreads = 32 * kWarps;
static_assert(kThreads == kHeadDim, "one thread per dim joins the warps");
constexpr int kPad = 4;  // floats after a row of warp results
constexpr float kLog2e = 1.44269504f;
// The running maximum is raised only when a score passes it by this many powers of two: sums stay
// far from overflow, and most pages need no rescaling.
constexpr float kSlack = 8.0f;

// Transposes an 8x8 tile of 16-bit numbers across the warp.
__device__ __forceinline__ unsigned transpose_8x8(unsigned packed) {
  unsigned result;
  asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;\n" : "=r"(result) : "r"(packed));
  return result;
}

__device__ __forceinline__ float exp2_fast(float x) {
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;\n" : "=f"(result) : "f"(x));
  return result;
}

// K of one page for a lane: tokens g and g + 8, dims 32i + 8t .. 32i + 8t + 7.
struct PageK {
  uint4 token[2][4];
};

// V of one page for a lane: tokens 2t, 2t+1, 2t+8, 2t+9, dims 8g .. 8g+7 and 64 + 8g .. 64 + 8g+7.
struct PageV {
  uint4 token[4][2];
};

// What one warp has summed up: O^T as 8 tiles (tile i: row g is dim 8g + i, row g + 8 is dim
// 64 + 8g + i; columns are heads 2t, 2t + 1), and the statistics of heads 2t and 2t + 1.
struct State {
  float o[8][4];
  float max[2];
  float sum[2];
};

__device__ __forceinline__ void load_k(PageK& page, const bf16* base, int token_stride, int lane) {
  const bf16* const source = base + (lane >> 2) * token_stride + 8 * (lane & 3);
#pragma unroll
  for (int half = 0; half < 2; ++half) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      page.token[half][i] = load_streaming(source + half * 8 * token_stride + 32 * i);
    }
  }
}

// Tokens from `valid` on become zero: their probability is zero, and 0 * NaN must not come up.
__device__ __forceinline__ void load_v(PageV& page, const bf16* base, int token_stride, int valid,
                                       int lane) {
  const int token0 = 2 * (lane & 3);
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int token = token0 + (i & 1) + 8 * (i >> 1);
    const bf16* const source = base + token * token_stride + 8 * (lane >> 2);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      page.token[i][half] = make_uint4(0, 0, 0, 0);
      if (token < valid) {
        page.token[i][half] = load_streaming(source + 64 * half);
      }
    }
  }
}

// S^T of one page: scores[0..1] are token g, heads 2t and 2t+1; scores[2..3] token g + 8.
__device__ __forceinline__ void score_page(float (&scores)[4], const PageK& page,
                                           const uint4 (&q)[4]) {
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const uint4 near = page.token[0][i];
    const uint4 far = page.token[1][i];
    const unsigned a_first[4] = {near.x, far.x, near.y, far.y};
    const unsigned a_second[4] = {near.z, far.z, near.w, far.w};
    mma_m16n8k16(scores, a_first, q[i].x, q[i].y);
    mma_m16n8k16(scores, a_second, q[i].z, q[i].w);
  }
}

// Raises the running maximum of each head whose scores in this page pass it by kSlack; all lanes
// take part.
__device__ __forceinline__ void raise_maxima(State& state, const float (&scores)[4]) {
  float top[2] = {fmaxf(scores[0], scores[2]), fmaxf(scores[1], scores[3])};
  const bool passed = top[0] > state.max[0] + kSlack || top[1] > state.max[1] + kSlack;
  if (!__any_sync(0xFFFFFFFFu, passed)) {
    return;
  }
#pragma unroll
  for (int h = 0; h < 2; ++h) {
#pragma unroll
    for (int step = 4; step < 32; step <<= 1) {
      top[h] = fmaxf(top[h], __shfl_xor_sync(0xFFFFFFFFu, top[h], step));
    }
    // A head that is not passed keeps its maximum: what it gets depends on no other head.
    const float raised = (top[h] > state.max[h] + kSlack) ? top[h] : state.max[h];
    // While both are -inf, what was summed so far is zero or NaN, and stays so.
    const float factor = (raised == -INFINITY) ? 1.0f : exp2_fast(state.max[h] - raised);
    state.max[h] = raised;
    state.sum[h] *= factor;
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      state.o[i][h] *= factor;
      state.o[i][2 + h] *= factor;
    }
  }
}

// The 16-bit halves kHalf of `low` and `high` side by side.
template <int kHalf>
__device__ __forceinline__ unsigned pair(unsigned low, unsigned high) {
  return __byte_perm(low, high, kHalf == 0 ? 0x5410 : 0x7632);
}

// O^T tiles 2 * kWord and 2 * kWord + 1: `v` holds word kWord of the lane's tokens and dim halves.
__device__ __forceinline__ void accumulate_word(float (&even)[4], float (&odd)[4],
                                                const unsigned (&v)[4][2], unsigned p_low,
                                                unsigned p_high) {
  const unsigned a_even[4] = {pair<0>(v[0][0], v[1][0]), pair<0>(v[0][1], v[1][1]),
                              pair<0>(v[2][0], v[3][0]), pair<0>(v[2][1], v[3][1])};
  const unsigned a_odd[4] = {pair<1>(v[0][0], v[1][0]), pair<1>(v[0][1], v[1][1]),
                             pair<1>(v[2][0], v[3][0]), pair<1>(v[2][1], v[3][1])};
  mma_m16n8k16(even, a_even, p_low, p_high);
  mma_m16n8k16(odd, a_odd, p_low, p_high);
}

__device__ __forceinline__ unsigned word_of(const uint4& words, int index) {
  return index == 0 ? words.x : index == 1 ? words.y : index == 2 ? words.z : words.w;
}

__device__ __forceinline__ void accumulate_page(State& state, const PageV& page,
                                                const float (&p)[4]) {
  const unsigned p_low = transpose_8x8(pack_bf16x2(p[0], p[1]));
  const unsigned p_high = transpose_8x8(pack_bf16x2(p[2], p[3]));
#pragma unroll
  for (int word = 0; word < 4; ++word) {
    unsigned v[4][2];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      v[i][0] = word_of(page.token[i][0], word);
      v[i][1] = word_of(page.token[i][1], word);
    }
    accumulate_word(state.o[2 * word], state.o[2 * word + 1], v, p_low, p_high);
  }
}

// What the warps of a block hand over when they are done.
struct WarpParts {
  float o[kWarps][kHeadTile][kHeadDim + kPad];
  float max[kWarps][kHeadTile];
  float sum[kWarps][kHeadTile];
};

__device__ __forceinline__ void store_part(WarpParts& parts, const State& state, int warp,
                                           int lane) {
  const int g = lane >> 2;
  const int t = lane & 3;
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    const int head = 2 * t + h;
    float sum = state.sum[h];
#pragma unroll
    for (int step = 4; step < 32; step <<= 1) {
      sum += __shfl_xor_sync(0xFFFFFFFFu, sum, step);
    }
    if (g == 0) {
      parts.max[warp][head] = state.max[h];
      parts.sum[warp][head] = sum;
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      // Tiles 4 (i % 2) .. + 3 of dims half i / 2: four neighbouring dims.
      const int tile = 4 * (i & 1);
      const int value = 2 * (i >> 1) + h;
      *reinterpret_cast<float4*>(&parts.o[warp][head][64 * (i >> 1) + 8 * g + tile]) =
          make_float4(state.o[tile][value], state.o[tile + 1][value], state.o[tile + 2][value],
                      state.o[tile + 3][value]);
    }
  }
}

// Dim threadIdx.x of one head over all warps, each scaled to the block's maximum; row `row` of the
// partial results.
__device__ __forceinline__ void join_parts(const WarpParts& parts, int head, size_t row,
                                           float* partial_o, float* partial_max,
                                           float* partial_sum) {
  float top = -INFINITY;
#pragma unroll
  for (int i = 0; i < kWarps; ++i) {
    top = fmaxf(top, parts.max[i][head]);
  }
  float sum = 0.0f;
  float o = 0.0f;
#pragma unroll
  for (int i = 0; i < kWarps; ++i) {
    // A warp without a page has max = -inf and zero sums; where all have, top is -inf too.
    const float factor = (top == -INFINITY) ? 1.0f : exp2_fast(parts.max[i][head] - top);
    sum += factor * parts.sum[i][head];
    o += factor * parts.o[i][head][threadIdx.x];
  }
  partial_o[row * kHeadDim + threadIdx.x] = o;
  if (threadIdx.x == 0) {
    partial_max[row] = top;
    partial_sum[row] = sum;
  }
}

extern "C" __global__ void __launch_bounds__(kThreads, 3)
    paged_decode_attn(const bf16* __restrict__ q, const bf16* __restrict__ k_cache,
                      const bf16* __restrict__ v_cache, const int* __restrict__ block_table,
                      const int* __restrict__ seq_lens, float* __restrict__ partial_o,
                      float* __restrict__ partial_max, float* __restrict__ partial_sum, int q_heads,
                      int kv_heads, int splits, int table_stride, float scale) {
  // o: [warp][head][dim], padded so that the heads of one store fall in different banks; max and
  // sum: [warp][head].
  __shared__ __align__(16) WarpParts parts;

  const int lane = threadIdx.x & 31;
  const int warp = threadIdx.x >> 5;
  const int g = lane >> 2;
  const int t = lane & 3;
  const int batch = blockIdx.z;
  const int group = q_heads / kv_heads;
  const int tiles = (group + kHeadTile - 1) / kHeadTile;
  const int kv_head = blockIdx.x / tiles;
  const int first_in_group = (blockIdx.x % tiles) * kHeadTile;
  const int head0 = kv_head * group + first_in_group;
  const int heads = min(kHeadTile, group - first_in_group);

  const int length = seq_lens[batch];
  const int pages = (length + kPageSize - 1) / kPageSize;
  const int pages_per_split = (pages + splits - 1) / splits;
  const int page_begin = min(pages, static_cast<int>(blockIdx.y) * pages_per_split);
  const int page_end = min(pages, page_begin + pages_per_split);

  // Q^T fragments of head g, in the order of dims that load_k gives K.
  uint4 q_words[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    q_words[i] = make_uint4(0, 0, 0, 0);
    if (g < heads) {
      q_words[i] = *reinterpret_cast<const uint4*>(
          q + (static_cast<size_t>(batch) * q_heads + head0 + g) * kHeadDim + 32 * i + 8 * t);
    }
  }

  State state = {};
  state.max[0] = -INFINITY;
  state.max[1] = -INFINITY;
  const int token_stride = kv_heads * kHeadDim;
  const size_t page_stride = static_cast<size_t>(kPageSize) * token_stride;
  const int* const table = block_table + static_cast<size_t>(batch) * table_stride;
  const bf16* const k_head = k_cache + kv_head * kHeadDim;
  const bf16* const v_head = v_cache + kv_head * kHeadDim;
  const float scale_log2 = scale * kLog2e;

  int page = page_begin + warp;
  PageK keys;
  PageV values;
  size_t offset = 0;
  int next_entry = 0;
  if (page < page_end) {
    offset = table[page] * page_stride;
    load_k(keys, k_head + offset, token_stride, lane);
    next_entry = table[min(page + kWarps, page_end - 1)];
  }
  for (; page < page_end; page += kWarps) {
    const int valid = length - page * kPageSize;
    load_v(values, v_head + offset, token_stride, valid, lane);
    float scores[4] = {};
    score_page(scores, keys, q_words);
    if (page + kWarps < page_end) {
      offset = next_entry * page_stride;
      load_k(keys, k_head + offset, token_stride, lane);
      next_entry = table[min(page + 2 * kWarps, page_end - 1)];
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      scores[i] = (g + 8 * (i >> 1) < valid) ? scores[i] * scale_log2 : -INFINITY;
    }
    raise_maxima(state, scores);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      scores[i] = exp2_fast(scores[i] - state.max[i & 1]);
      state.sum[i & 1] += scores[i];
    }
    accumulate_page(state, values, scores);
  }

  store_part(parts, state, warp, lane);
  __syncthreads();
  for (int head = 0; head < heads; ++head) {
    const size_t row = (static_cast<size_t>(batch) * q_heads + head0 + head) * splits + blockIdx.y;
    join_parts(parts, head, row, partial_o, partial_max, partial_sum);
  }
}
