// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Output gate of a gated delta-net layer, per value head of kDim = 128:
//   out[r][i] = x[r][i] * rsqrt(mean_j(x[r][j]^2) + eps) * weight[i] * silu(gate[r][i])
// Only this model family has it, so it lives in the leaf and not in the baseline.
//
// Layouts    x, gate, out: bf16 [rows][128], dense, rows = tokens * value heads;
//            weight: fp32 [128]. out may be x or gate itself.
// Alignment  all pointers 16 bytes.
// Tolerance  fp32 arithmetic, one rounding to bf16: within one bf16 ulp (rel 4e-3).
// Launch     grid (ceil_div(rows, 32)), block (256), no dynamic shared memory.

#include "bf16x8.cuh"
#include "reduce.cuh"
#include "silu.cuh"

constexpr int kDim = 128;
constexpr int kThreads = 256;
// Lanes that share a row, eight values each.
constexpr int kLanes = kDim / kVec;
// Rows of one thread, for four loads in flight.
constexpr int kRows = 2;
constexpr int kRowsPerPass = kThreads / kLanes;

extern "C" __global__ void __launch_bounds__(kThreads, 4)
    gdn_gated_norm(bf16* out, const bf16* x, const bf16* gate, const float* __restrict__ weight,
                   float eps, int rows) {
  const int lane = threadIdx.x % kLanes;
  const int first = blockIdx.x * (kRowsPerPass * kRows) + threadIdx.x / kLanes;

  uint4 values[kRows];
  uint4 gates[kRows];
#pragma unroll
  for (int i = 0; i < kRows; ++i) {
    // Lanes past the end stay for the warp's shuffles, on the last row.
    const int row = min(first + i * kRowsPerPass, rows - 1);
    const size_t at = static_cast<size_t>(row) * kDim + lane * kVec;
    values[i] = load_bf16x8(x + at);
    gates[i] = load_bf16x8(gate + at);
  }
  const float4 w_low = reinterpret_cast<const float4*>(weight)[lane * 2];
  const float4 w_high = reinterpret_cast<const float4*>(weight)[lane * 2 + 1];
  const float w[kVec] = {w_low.x,  w_low.y,  w_low.z,  w_low.w,
                         w_high.x, w_high.y, w_high.z, w_high.w};

#pragma unroll
  for (int i = 0; i < kRows; ++i) {
    float v[kVec];
    float g[kVec];
    unpack_bf16x8(values[i], v);
    unpack_bf16x8(gates[i], g);
    float squares = 0.0f;
#pragma unroll
    for (int j = 0; j < kVec; ++j) {
      squares += v[j] * v[j];
    }
    const float scale = rsqrtf(warp_sum<kLanes>(squares) / kDim + eps);
#pragma unroll
    for (int j = 0; j < kVec; ++j) {
      v[j] = v[j] * scale * w[j] * silu(g[j]);
    }
    const int row = first + i * kRowsPerPass;
    if (row < rows) {
      store_bf16x8(out + static_cast<size_t>(row) * kDim + lane * kVec, pack_bf16x8(v));
    }
  }
}
