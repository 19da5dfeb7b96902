// SPDX-License-Identifier: MIT OR Apache-2.0
//
// SwiGLU between the two expert GEMMs:
//   out[r][i] = silu(gate_up[r][i]) * gate_up[r][inter + i],   silu(v) = v / (1 + exp(-v))
//
// Layouts    gate_up: bf16 [rows][2 * inter], the gate's half first; out: bf16 [rows][inter].
//            Rows are (token, expert) pairs in the order of the grouped GEMM.
// Alignment  all pointers 16 bytes; inter a multiple of 8; rows * inter / 8 below 2^31.
// Tolerance  fp32 arithmetic, one rounding to bf16: within one bf16 ulp (rel 4e-3).
// Launch     grid (ceil_div(rows * inter, kTile = 4096)), block (256), no dynamic shared memory.

#include "bf16x8.cuh"
#include "silu.cuh"

constexpr int kThreads = 256;
// 16-byte vectors of gate, and of up, that a thread has in flight.
constexpr int kVectors = 2;
constexpr int kTile = kThreads * kVectors * kVec;

extern "C" __global__ void __launch_bounds__(kThreads, 6)
    moe_silu_mul(bf16* __restrict__ out, const bf16* __restrict__ gate_up, int rows, int inter) {
  const unsigned row_vectors = inter / kVec;
  const unsigned total = rows * row_vectors;
  const unsigned begin = blockIdx.x * (kTile / kVec) + threadIdx.x;

  uint4 gate[kVectors];
  uint4 up[kVectors];
#pragma unroll
  for (int i = 0; i < kVectors; ++i) {
    const unsigned v = begin + i * kThreads;
    if (v < total) {
      const unsigned row = v / row_vectors;
      const size_t at = (static_cast<size_t>(row) * row_vectors + v) * kVec;
      gate[i] = load_bf16x8(gate_up + at);
      up[i] = load_bf16x8(gate_up + at + inter);
    }
  }
#pragma unroll
  for (int i = 0; i < kVectors; ++i) {
    const unsigned v = begin + i * kThreads;
    if (v < total) {
      float g[kVec];
      float u[kVec];
      unpack_bf16x8(gate[i], g);
      unpack_bf16x8(up[i], u);
#pragma unroll
      for (int j = 0; j < kVec; ++j) {
        g[j] = silu(g[j]) * u[j];
      }
      store_bf16x8(out + static_cast<size_t>(v) * kVec, pack_bf16x8(g));
    }
  }
}
