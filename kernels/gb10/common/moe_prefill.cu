// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Prefill of an expert layer with NVFP4 weights: grouped matrix product over tokens sorted by
// expert, the weights dequantised on the way to the tensor cores.
//   w[e][c][k]    = value(code[e][c][k]) * block_scale[e][c][k / 16] * global_scale[e]
//   y[slot][c]    = sum_k x[row_of_slot[slot]][k] * w[e][c][k]
// for the slots expert_offset[e] <= slot < expert_offset[e + 1] of each expert e. A slot is one
// (token, chosen expert) pair; an expert may have none. The weighted sum over a token's slots is
// moe_prefill_combine.
//
// Layouts    x: bf16 [rows][k]; row_of_slot: int32 [slots], the token of each slot (for the down
//            projection, the slot itself); expert_offset: int32 [experts + 1], from 0 to slots,
//            never falling; w_packed: [experts][n][k / 2] bytes of two E2M1 codes, the even k in
//            the lower nibble; block_scale: e4m3 [experts][n][k / 16], never NaN; global_scale:
//            fp32 [experts]; y: bf16 [slots][n].
// Alignment  x, w_packed and y 16 bytes, block_scale 4 bytes; k a positive multiple of 64, n of
//            8; at most 65535 tiles in grid.y.
// Tolerance  the weights are exact in bf16 up to the global scale, sums are fp32, y is rounded
//            once: rel 1e-2, and abs 1e-3 where the sum cancels.
// Launch     grid (ceil_div(n, 128), slots // 64 + min(experts, slots)), which covers every way to
//            spread the slots; blocks without work return. Block (128), static shared memory only.

#include <cuda_fp8.h>

#include <cstdint>

#include "e2m1_dequant.cuh"
#include "moe_grouped_gemm.cuh"

constexpr int kScaleBlock = 16;

// The block's 128 channels of one expert; channels past n repeat the last one and are not stored.
struct Nvfp4Weights {
  // Stage: [channel][32 bytes of codes], then [channel][4 block scales]. Rows of 32 bytes are read
  // 8 bytes per lane in order, which needs no padding.
  static constexpr int kCodeRow = kTileK / 2;
  static constexpr int kScaleRow = kTileK / kScaleBlock;
  static constexpr int kCodeBytes = kTileChannels * kCodeRow;
  static constexpr int kStageBytes = kCodeBytes + kTileChannels * kScaleRow;

  const uint8_t* codes;              // of the first channel of the tile
  const __nv_fp8_e4m3* block_scale;  // likewise
  float global_scale;
  int last_channel;  // of the tile

  // This thread's pieces of the stage: 16 bytes of codes of two channels, the scales of one.
  struct Source {
    static constexpr int kPieces = kCodeBytes / 16 / kThreads;
    const uint8_t* codes[kPieces];
    const __nv_fp8_e4m3* block_scale;

    __device__ __forceinline__ Source(const Nvfp4Weights& weights, int k) {
      const int tid = threadIdx.x;
#pragma unroll
      for (int i = 0; i < kPieces; ++i) {
        const int channel = min((tid + i * kThreads) / 2, weights.last_channel);
        codes[i] = weights.codes + static_cast<size_t>(channel) * (k / 2) + tid % 2 * 16;
      }
      const int channel = min(tid, weights.last_channel);
      block_scale = weights.block_scale + static_cast<size_t>(channel) * (k / kScaleBlock);
    }

    __device__ __forceinline__ void copy(unsigned stage, int step) const {
#pragma unroll
      for (int i = 0; i < kPieces; ++i) {
        cp_async_16(stage + (threadIdx.x + i * kThreads) * 16, codes[i] + step * kCodeRow);
      }
      cp_async_4(stage + kCodeBytes + threadIdx.x * kScaleRow, block_scale + step * kScaleRow);
    }
  };

  // Sixteen codes and the scale of their block.
  struct Stored {
    uint2 codes;
    __nv_bfloat162 scale;
  };

  static __device__ __forceinline__ Stored load(const unsigned char* stage, int channel,
                                                int quad_lane) {
    // [channel][4 block scales], one for each lane of a quad.
    const unsigned char* const scales = stage + kCodeBytes + channel * kScaleRow;
    return {*reinterpret_cast<const uint2*>(stage + channel * kCodeRow + quad_lane * 8),
            e2m1_block_scale(*reinterpret_cast<const __nv_fp8_e4m3*>(scales + quad_lane))};
  }

  static __device__ __forceinline__ void unpack(const Stored& stored, int half,
                                                unsigned (&pairs)[4]) {
    unpack_e2m1x8(half == 0 ? stored.codes.x : stored.codes.y, stored.scale, pairs);
  }

  __device__ __forceinline__ float scale(int) const { return global_scale * kE2m1Residual; }
};

constexpr int kPoolBytes = kStages * (kActivationBytes + Nvfp4Weights::kStageBytes);

extern "C" __global__ void __launch_bounds__(kThreads, 2)
    moe_prefill(bf16* __restrict__ y, const bf16* __restrict__ x,
                const int* __restrict__ row_of_slot, const int* __restrict__ expert_offset,
                const uint8_t* __restrict__ w_packed,
                const __nv_fp8_e4m3* __restrict__ block_scale,
                const float* __restrict__ global_scale, int slots, int experts, int n, int k) {
  // [stage][activation tile: slot rows of 128 bytes, chunks swizzled | weight tile: channel rows
  // of 32 bytes of codes, then of 4 block scales].
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
  const size_t channel = static_cast<size_t>(tile.expert) * n + first_channel;
  const Nvfp4Weights weights = {w_packed + channel * (k / 2),
                                block_scale + channel * (k / kScaleBlock),
                                global_scale[tile.expert],
                                min(kTileChannels, n - first_channel) - 1};
  grouped_gemm_tile(y, x, row_of_slot, weights, tile, pool, first_channel, n, k);
}
