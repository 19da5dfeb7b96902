// SPDX-License-Identifier: MIT OR Apache-2.0
//
// RMSNorm over rows of kHidden values:
//   out[r][i] = x[r][i] * rsqrt(mean_j(x[r][j]^2) + eps) * (kWeightBase + weight[i])
//
// Layouts    x, out: bf16 [rows][kHidden], row-major and dense; weight: bf16 [kHidden].
//            out may be x itself: a row is in registers before it is written.
// Alignment  all pointers 16 bytes; kHidden a multiple of 512.
// Tolerance  statistics in fp32, one rounding to bf16 at the end: within one bf16 ulp (rel 4e-3)
//            of an fp32 reference. A NaN in a row makes that row NaN and no other; an infinity
//            gives NaN in its own place and zero in the rest of its row.
// Launch     grid (rows), block (kThreads = kHidden / 16), no dynamic shared memory.

#include "bf16x8.cuh"
#include "reduce.cuh"

// Hidden size; a leaf for another model defines it before it includes this file.
#ifndef HIDDEN
#define HIDDEN 4096
#endif
// 1.0f for models that store their weights minus one (zero-centred norms).
#ifndef WEIGHT_BASE
#define WEIGHT_BASE 0.0f
#endif

constexpr int kHidden = HIDDEN;
constexpr float kWeightBase = WEIGHT_BASE;
// Two 16-byte loads per thread: a row stays in registers between its two uses.
constexpr int kVectors = 2;
constexpr int kThreads = kHidden / (kVectors * kVec);
constexpr int kWarps = kThreads / kWarpSize;
// As many blocks as the 1536 threads of an sm_121 multiprocessor hold.
constexpr int kMinBlocks = 1536 / kThreads;

static_assert(kHidden % (kVectors * kVec * kWarpSize) == 0, "a row must fill whole warps");
static_assert(kThreads <= 1024, "one block holds one row");

extern "C" __global__ void __launch_bounds__(kThreads, kMinBlocks)
    rms_norm(bf16* out, const bf16* x, const bf16* __restrict__ weight, float eps, int rows) {
  // [warp], one partial sum of squares each.
  __shared__ float warp_sums[kWarps];

  const int row = blockIdx.x;
  if (row >= rows) {
    return;
  }
  const size_t base = static_cast<size_t>(row) * kHidden;

  uint4 raw[kVectors];
#pragma unroll
  for (int i = 0; i < kVectors; ++i) {
    raw[i] = load_bf16x8(x + base + (i * kThreads + threadIdx.x) * kVec);
  }

  float squares = 0.0f;
#pragma unroll
  for (int i = 0; i < kVectors; ++i) {
    float v[kVec];
    unpack_bf16x8(raw[i], v);
#pragma unroll
    for (int j = 0; j < kVec; ++j) {
      squares += v[j] * v[j];
    }
  }
  const float scale = rsqrtf(block_sum<kWarps>(squares, warp_sums) / kHidden + eps);

#pragma unroll
  for (int i = 0; i < kVectors; ++i) {
    const int column = (i * kThreads + threadIdx.x) * kVec;
    float v[kVec];
    float w[kVec];
    unpack_bf16x8(raw[i], v);
    unpack_bf16x8(load_bf16x8(weight + column), w);
#pragma unroll
    for (int j = 0; j < kVec; ++j) {
      v[j] = v[j] * scale * (kWeightBase + w[j]);
    }
    store_bf16x8(out + base + column, pack_bf16x8(v));
  }
}
