// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Residual add and RMSNorm in one pass over rows of kHidden = 2048 values:
//   residual[r][i] = bf16(residual[r][i] + x[r][i])
//   out[r][i]      = residual[r][i] * rsqrt(mean_j(residual[r][j]^2) + eps) * weight[i]
// The norm reads the rounded sum, as the unfused pair of kernels does.
//
// Layouts    residual, x, out: bf16 [rows][2048], dense; weight: bf16 [2048]. residual is updated
//            in place; out may be x itself.
// Alignment  all pointers 16 bytes.
// Tolerance  residual exact; out within one bf16 ulp (rel 4e-3) of an fp32 reference.
// Launch     grid (rows), block (128), no dynamic shared memory.

#include "bf16x8.cuh"
#include "reduce.cuh"

constexpr int kHidden = 2048;
constexpr int kVectors = 2;
constexpr int kThreads = kHidden / (kVectors * kVec);
constexpr int kWarps = kThreads / kWarpSize;

// The rounded sum of eight pairs, and the squares of what was rounded added to `squares`.
__device__ __forceinline__ uint4 add_and_square(uint4 left, uint4 right, float& squares) {
  float a[kVec];
  float b[kVec];
  unpack_bf16x8(left, a);
  unpack_bf16x8(right, b);
#pragma unroll
  for (int j = 0; j < kVec; ++j) {
    a[j] += b[j];
  }
  const uint4 sum = pack_bf16x8(a);
  unpack_bf16x8(sum, a);
#pragma unroll
  for (int j = 0; j < kVec; ++j) {
    squares += a[j] * a[j];
  }
  return sum;
}

extern "C" __global__ void __launch_bounds__(kThreads, 12)
    rms_norm_residual(bf16* out, bf16* __restrict__ residual, const bf16* x,
                      const bf16* __restrict__ weight, float eps, int rows) {
  // [warp], one partial sum of squares each.
  __shared__ float warp_sums[kWarps];

  const int row = blockIdx.x;
  if (row >= rows) {
    return;
  }
  const size_t base = static_cast<size_t>(row) * kHidden;

  uint4 left[kVectors];
  uint4 right[kVectors];
#pragma unroll
  for (int i = 0; i < kVectors; ++i) {
    const size_t at = base + (i * kThreads + threadIdx.x) * kVec;
    left[i] = load_bf16x8(residual + at);
    right[i] = load_bf16x8(x + at);
  }
  float squares = 0.0f;
#pragma unroll
  for (int i = 0; i < kVectors; ++i) {
    left[i] = add_and_square(left[i], right[i], squares);
    store_bf16x8(residual + base + (i * kThreads + threadIdx.x) * kVec, left[i]);
  }
  const float scale = rsqrtf(block_sum<kWarps>(squares, warp_sums) / kHidden + eps);

#pragma unroll
  for (int i = 0; i < kVectors; ++i) {
    const int column = (i * kThreads + threadIdx.x) * kVec;
    float v[kVec];
    float w[kVec];
    unpack_bf16x8(left[i], v);
    unpack_bf16x8(load_bf16x8(weight + column), w);
#pragma unroll
    for (int j = 0; j < kVec; ++j) {
      v[j] = v[j] * scale * w[j];
    }
    store_bf16x8(out + base + column, pack_bf16x8(v));
  }
}
