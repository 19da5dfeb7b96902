// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Prefill of an expert layer with fp8 weights: grouped matrix product over tokens sorted by
// expert, the weights dequantised on the way to the tensor cores. moe_prefill is the same for
// NVFP4 weights.
//   y[slot][c] = scale[e][c] * sum_k x[row_of_slot[slot]][k] * w[e][c][k]
// for the slots expert_offset[e] <= slot < expert_offset[e + 1] of each expert e. A slot is one
// (token, chosen expert) pair; an expert may have none.
//
// Layouts    x: bf16 [rows][k]; row_of_slot: int32 [slots], the token of each slot (for the down
//            projection, the slot itself); expert_offset: int32 [experts + 1], from 0 to slots,
//            never falling; w: e4m3 [experts][n][k], no NaN; scale: fp32 [experts][n], one step
//            per output channel; y: bf16 [slots][n].
// Alignment  x, w and y 16 bytes; k a positive multiple of 64, n of 8;
//            at most 65535 tiles in grid.y.
// Tolerance  the weights are exact in bf16, sums are fp32, y is rounded once: rel 1e-2, and
//            abs 1e-3 where the sum cancels.
// Launch     grid (ceil_div(n, 128), slots // 64 + min(experts, slots)), which covers every way to
//            spread the slots; blocks without work return. Block (128), static shared memory only.

#include <cuda_fp8.h>

#include "e4m3_dequant.cuh"
#include "moe_grouped_gemm.cuh"

// The block's 128 channels of one expert; channels past n repeat the last one and are not stored.
struct E4m3Weights {
  // Stage: [channel][64 bytes of codes]. Rows are read 16 bytes per lane in order, which needs no
  // padding.
  static constexpr int kStageBytes = kTileChannels * kTileK;

  const __nv_fp8_e4m3* codes;   // of the first channel of the tile
  const float* channel_scale;   // of the expert
  int last_channel;             // of the tile

  // This thread's pieces of the stage: 16 bytes of every 32nd channel.
  struct Source {
    static constexpr int kPieces = kStageBytes / 16 / kThreads;
    const __nv_fp8_e4m3* codes[kPieces];

    __device__ __forceinline__ Source(const E4m3Weights& weights, int k) {
      const int tid = threadIdx.x;
#pragma unroll
      for (int i = 0; i < kPieces; ++i) {
        const int channel = min((tid + i * kThreads) / 4, weights.last_channel);
        codes[i] = weights.codes + static_cast<size_t>(channel) * k + tid % 4 * 16;
      }
    }

    __device__ __forceinline__ void copy(unsigned stage, int step) const {
#pragma unroll
      for (int i = 0; i < kPieces; ++i) {
        cp_async_16(stage + (threadIdx.x + i * kThreads) * 16, codes[i] + step * kTileK);
      }
    }
  };

  // Sixteen codes.
  using Stored = uint4;

  static __device__ __forceinline__ Stored load(const unsigned char* stage, int channel,
                                                int quad_lane) {
    return *reinterpret_cast<const uint4*>(stage + channel * kTileK + quad_lane * 16);
  }

  static __device__ __forceinline__ void unpack(const Stored& stored, int half,
                                                unsigned (&pairs)[4]) {
    unpack_e4m3x4(half == 0 ? stored.x : stored.z, pairs[0], pairs[1]);
    unpack_e4m3x4(half == 0 ? stored.y : stored.w, pairs[2], pairs[3]);
  }

  __device__ __forceinline__ float scale(int channel) const { return channel_scale[channel]; }
};

constexpr int kPoolBytes = kStages * (kActivationBytes + E4m3Weights::kStageBytes);

extern "C" __global__ void __launch_bounds__(kThreads, 2)
    moe_prefill_fp8(bf16* __restrict__ y, const bf16* __restrict__ x,
                    const int* __restrict__ row_of_slot, const int* __restrict__ expert_offset,
                    const __nv_fp8_e4m3* __restrict__ w, const float* __restrict__ scale,
                    int slots, int experts, int n, int k) {
  // [stage][activation tile: slot rows of 128 bytes, chunks swizzled | weight tile: channel rows
  // of 64 bytes of codes].
  __shared__ __align__(16) unsigned char pool[kPoolBytes];
  // Before the stages come, the block's work lies at the start of the pool: one record, no rows.
  ExpertTile* const found = reinterpret_cast<ExpertTile*>(pool);
  if (threadIdx.x < kWarpSize) {
    find_expert_tile(*found, expert_offset, experts, blockIdx.y);
  }
  __syncthreads();
  const ExpertTile tile = *found;
  __syncthreads();
  if (tile.slots == 0 || tile.first_slot >= slots) {
    return;
  }
  const int first_channel = blockIdx.x * kTileChannels;
  const size_t expert_channel = static_cast<size_t>(tile.expert) * n;
  const E4m3Weights weights = {w + (expert_channel + first_channel) * k, scale + expert_channel,
                               min(kTileChannels, n - first_channel) - 1};
  grouped_gemm_tile(y, x, row_of_slot, weights, tile, pool, first_channel, n, k);
}
