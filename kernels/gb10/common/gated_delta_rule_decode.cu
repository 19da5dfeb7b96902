// SPDX-License-Identifier: MIT OR Apache-2.0
//
// One decode step of the gated delta rule, for each sequence and value head:
//   D = exp(g) * S                      decayed state, [key dim][value dim]
//   S = D + beta * k (v - D^T k)^T      written back in place
//   o = S^T q
// Each output column needs its own state column only, and o = D^T q + (k.q) * beta * (v - D^T k),
// so D is read once, held in registers, and one reduction gives both products.
//
// Layouts    q, k: bf16 [batch] rows of [key_heads][kKeyDim], key_stride elements apart; v: bf16
//            [batch] rows of [value_heads][kValueDim], value_stride elements apart, so that q, k
//            and v may be parts of one wider row; o: bf16 [batch][value_heads][kValueDim]; g,
//            beta: fp32 [batch][value_heads]; state: fp32 [slots][value_heads][kKeyDim]
//            [kValueDim]; slot: int32 [batch], all different. A slot of -1 marks a padding row:
//            nothing else of it is read or written.
//            Value head h reads key head h / (value_heads / key_heads). The caller has normalised
//            q and k, and scaled q.
// Alignment  state 16 bytes; v and o 8 bytes, value_stride a multiple of 4; value_heads a multiple
//            of key_heads; batch and value_heads <= 65535.
// Tolerance  fp32 arithmetic; o is rounded to bf16 once (rel 1e-2, abs 1e-3 where the sum
//            cancels), the state has rel 1e-5, abs 1e-6.
// Launch     grid (kValueDim / 64, value_heads, batch), block (128), no dynamic shared memory.
//
// How        A block owns 64 state columns; a thread holds four columns of every eighth row.
//            Limited by memory bandwidth: the state is read once and written once.

#include "bf16x8.cuh"
#include "reduce.cuh"

// Head dimensions; a leaf may define others before it includes this file.
#ifndef GDR_KEY_DIM
#define GDR_KEY_DIM 128
#endif
#ifndef GDR_VALUE_DIM
#define GDR_VALUE_DIM 128
#endif

constexpr int kKeyDim = GDR_KEY_DIM;
constexpr int kValueDim = GDR_VALUE_DIM;
constexpr int kThreads = 128;
constexpr int kWarps = kThreads / kWarpSize;
// State columns per block and per thread (16 bytes).
constexpr int kColumns = 64;
constexpr int kLaneColumns = 4;
constexpr int kRowLanes = kColumns / kLaneColumns;
// Threads that share a column, and the rows that each of them holds.
constexpr int kRowGroups = kThreads / kRowLanes;
constexpr int kRows = kKeyDim / kRowGroups;

static_assert(kValueDim % kColumns == 0, "a block owns 64 whole columns");
static_assert(kKeyDim % kRowGroups == 0, "the row groups share the rows evenly");
static_assert(kKeyDim <= kThreads, "each thread stages at most one element of q and of k");
static_assert(kRowLanes * 2 == kWarpSize, "the shuffle adds the two rows of a warp");

extern "C" __global__ void __launch_bounds__(kThreads, 4)
    gated_delta_rule_decode(bf16* __restrict__ o, float* __restrict__ state,
                            const int* __restrict__ slot, const bf16* __restrict__ q,
                            const bf16* __restrict__ k, const bf16* __restrict__ v,
                            const float* __restrict__ g, const float* __restrict__ beta,
                            int batch, int key_heads, int value_heads, int key_stride,
                            int value_stride) {
  // One row of q and one of k, as fp32: [row], read as broadcasts.
  __shared__ float q_row[kKeyDim];
  __shared__ float k_row[kKeyDim];
  // [warp][column]: each warp's share of D^T k and of D^T q, 16 bytes per lane.
  __shared__ float4 state_k[kWarps][kRowLanes];
  __shared__ float4 state_q[kWarps][kRowLanes];
  // [warp]: each warp's share of k.q.
  __shared__ float warp_sums[kWarps];

  const int head = blockIdx.y;
  const int sequence = blockIdx.z;
  const int state_slot = sequence < batch ? slot[sequence] : -1;
  if (state_slot < 0) {
    return;
  }
  const int tid = threadIdx.x;
  const int warp = tid / kWarpSize;
  const int row_lane = tid % kRowLanes;
  const int row_group = tid / kRowLanes;
  const int column = blockIdx.x * kColumns + row_lane * kLaneColumns;
  const size_t value_head = static_cast<size_t>(sequence) * value_heads + head;
  const int key_head = head / (value_heads / key_heads);
  const size_t key_at = static_cast<size_t>(sequence) * key_stride + key_head * kKeyDim + tid;

  float* const columns =
      state + (static_cast<size_t>(state_slot) * value_heads + head) * (kKeyDim * kValueDim) +
      row_group * kValueDim + column;
  float4 d[kRows];
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    d[r] = __ldcs(reinterpret_cast<const float4*>(columns + r * kRowGroups * kValueDim));
  }

  const float q_own = tid < kKeyDim ? __bfloat162float(q[key_at]) : 0.0f;
  const float k_own = tid < kKeyDim ? __bfloat162float(k[key_at]) : 0.0f;
  if (tid < kKeyDim) {
    q_row[tid] = q_own;
    k_row[tid] = k_own;
  }
  // The barrier inside also publishes q_row and k_row.
  const float kq = block_sum<kWarps>(q_own * k_own, warp_sums);

  const float decay = expf(g[value_head]);
  float4 dk = {};
  float4 dq = {};
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    const float k_r = k_row[row_group + r * kRowGroups];
    const float q_r = q_row[row_group + r * kRowGroups];
    d[r].x *= decay;
    d[r].y *= decay;
    d[r].z *= decay;
    d[r].w *= decay;
    dk.x = fmaf(d[r].x, k_r, dk.x);
    dk.y = fmaf(d[r].y, k_r, dk.y);
    dk.z = fmaf(d[r].z, k_r, dk.z);
    dk.w = fmaf(d[r].w, k_r, dk.w);
    dq.x = fmaf(d[r].x, q_r, dq.x);
    dq.y = fmaf(d[r].y, q_r, dq.y);
    dq.z = fmaf(d[r].z, q_r, dq.z);
    dq.w = fmaf(d[r].w, q_r, dq.w);
  }
  // A warp holds two row groups: lanes 0..15 and 16..31.
  dk.x += __shfl_xor_sync(kFullMask, dk.x, kRowLanes);
  dk.y += __shfl_xor_sync(kFullMask, dk.y, kRowLanes);
  dk.z += __shfl_xor_sync(kFullMask, dk.z, kRowLanes);
  dk.w += __shfl_xor_sync(kFullMask, dk.w, kRowLanes);
  dq.x += __shfl_xor_sync(kFullMask, dq.x, kRowLanes);
  dq.y += __shfl_xor_sync(kFullMask, dq.y, kRowLanes);
  dq.z += __shfl_xor_sync(kFullMask, dq.z, kRowLanes);
  dq.w += __shfl_xor_sync(kFullMask, dq.w, kRowLanes);
  if (tid % kWarpSize < kRowLanes) {
    state_k[warp][row_lane] = dk;
    state_q[warp][row_lane] = dq;
  }
  __syncthreads();
  dk = {};
  dq = {};
#pragma unroll
  for (int w = 0; w < kWarps; ++w) {
    const float4 k_part = state_k[w][row_lane];
    const float4 q_part = state_q[w][row_lane];
    dk.x += k_part.x;
    dk.y += k_part.y;
    dk.z += k_part.z;
    dk.w += k_part.w;
    dq.x += q_part.x;
    dq.y += q_part.y;
    dq.z += q_part.z;
    dq.w += q_part.w;
  }

  // u = beta * (v - D^T k): what the step adds to the state along k.
  const size_t v_at = static_cast<size_t>(sequence) * value_stride + head * kValueDim + column;
  const uint2 v_bits = *reinterpret_cast<const uint2*>(v + v_at);
  const float step = beta[value_head];
  float4 u;
  unpack_bf16x2(v_bits.x, u.x, u.y);
  unpack_bf16x2(v_bits.y, u.z, u.w);
  u.x = step * (u.x - dk.x);
  u.y = step * (u.y - dk.y);
  u.z = step * (u.z - dk.z);
  u.w = step * (u.w - dk.w);
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    const float k_r = k_row[row_group + r * kRowGroups];
    d[r].x = fmaf(k_r, u.x, d[r].x);
    d[r].y = fmaf(k_r, u.y, d[r].y);
    d[r].z = fmaf(k_r, u.z, d[r].z);
    d[r].w = fmaf(k_r, u.w, d[r].w);
    __stcs(reinterpret_cast<float4*>(columns + r * kRowGroups * kValueDim), d[r]);
  }
  if (row_group == 0) {
    const uint2 o_bits = make_uint2(pack_bf16x2(fmaf(kq, u.x, dq.x), fmaf(kq, u.y, dq.y)),
                                    pack_bf16x2(fmaf(kq, u.z, dq.z), fmaf(kq, u.w, dq.w)));
    *reinterpret_cast<uint2*>(o + value_head * kValueDim + column) = o_bits;
  }
}
