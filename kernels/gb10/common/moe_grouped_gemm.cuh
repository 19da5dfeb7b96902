// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The grouped matrix product of an expert layer, for weights that are dequantised on the way from
// shared memory to the tensor cores. How a weight format is stored is the template argument's
// business; the kernels are moe_prefill.cu and its variants.
//
// A block owns 64 slots of one expert x 128 output channels, four warps side by side over the
// channels, each with all 64 slots: a weight is dequantised once per block.
//
// The order of the summation index within a 64-deep tile is free as long as both operands agree.
// Lane t of a quad takes the sixteen neighbours 16t..16t+15, four per tensor-core step, so both
// operands come from shared memory in wide loads, and one E2M1 block scale serves them all.
#pragma once

#include <cuda_bf16.h>

#include "cp_async.cuh"
#include "mma_bf16.cuh"
#include "reduce.cuh"

using bf16 = __nv_bfloat16;

constexpr int kTileSlots = 64;
constexpr int kTileChannels = 128;
constexpr int kTileK = 64;
constexpr int kThreads = 128;
constexpr int kStages = 2;
constexpr int kWarpChannels = 32;
// Tensor-core steps of 16 in a tile, and the 16 x 8 tiles of a warp in both directions.
constexpr int kSteps = kTileK / 16;
constexpr int kSlotTiles = kTileSlots / 16;
constexpr int kChannelTiles = kWarpChannels / 8;
// Activation tile: [slot][64 of k], rows padded by 16 bytes so that the eight 16-byte reads of a
// quarter warp fall in different banks.
constexpr int kRowBytes = kTileK * 2 + 16;
constexpr int kActivationBytes = kTileSlots * kRowBytes;
// 16-byte copies: 8 per row of the activation tile, so a pass of the block covers 16 rows.
constexpr int kRowCopies = kTileK * 2 / 16;
constexpr int kPassRows = kThreads / kRowCopies;
constexpr int kPasses = kTileSlots / kPassRows;

static_assert(kTileChannels == kThreads / kWarpSize * kWarpChannels, "the warps cover the tile");

// The part of one expert's slots that a block works on; no slots where the block has no work.
struct ExpertTile {
  int expert;
  int first_slot;
  int slots;
};

// Finds the `tile`-th tile of 64 slots, counted over the experts in their order; experts without
// slots have none. All lanes of one warp take part; `found` is in shared memory.
__device__ __forceinline__ void find_expert_tile(ExpertTile& found, const int* expert_offset,
                                                 int experts, int tile) {
  const int lane = threadIdx.x % kWarpSize;
  if (lane == 0) {
    found = {0, 0, 0};
  }
  __syncwarp();
  int tiles_before = 0;
  for (int first = 0; first < experts; first += kWarpSize) {
    const int expert = first + lane;
    const int begin = expert_offset[min(expert, experts)];
    const int end = expert_offset[min(expert + 1, experts)];
    const int tiles = (end - begin + kTileSlots - 1) / kTileSlots;
    int up_to = tiles;
#pragma unroll
    for (int distance = 1; distance < kWarpSize; distance *= 2) {
      const int below = __shfl_up_sync(kFullMask, up_to, distance);
      up_to += lane >= distance ? below : 0;
    }
    const int index = tile - (tiles_before + up_to - tiles);
    if (index >= 0 && index < tiles) {
      const int slot = begin + index * kTileSlots;
      found = {expert, slot, min(kTileSlots, end - slot)};
    }
    tiles_before += __shfl_sync(kFullMask, up_to, kWarpSize - 1);
  }
}

// y[slot][channel] = scale(channel) * sum_k x[row_of_slot[slot]][k] * weight(channel, k), for the
// block's tile. `Weights` gives kStageBytes (a multiple of 16) and
//   copy(stage, k)           starts the copies of the block's 128 channels x 64 of k
//   load(stage, channel, quad_lane, pairs)
//                            this lane's sixteen weights of a channel of the tile, as bf16 pairs
//   scale(channel)           what remains to be multiplied after the sum
// `pool` holds kStages stages, each [activation tile | weight tile].
template <class Weights>
__device__ __forceinline__ void grouped_gemm_tile(bf16* __restrict__ y, const bf16* __restrict__ x,
                                                  const int* __restrict__ row_of_slot,
                                                  const Weights& weights, const ExpertTile& tile,
                                                  unsigned char* pool, int first_channel, int n,
                                                  int k) {
  constexpr int kStageBytes = kActivationBytes + Weights::kStageBytes;
  const int tid = threadIdx.x;
  const int lane = tid % kWarpSize;
  const int warp_channel = tid / kWarpSize * kWarpChannels;
  const int group = lane / 4;
  const int quad_lane = lane % 4;

  // Each thread copies 16 bytes of every 16th row. Rows past the expert's last become zero.
  const int copy_row = tid / kRowCopies;
  const int copy_column = tid % kRowCopies * 8;
  const bf16* source[kPasses];
#pragma unroll
  for (int i = 0; i < kPasses; ++i) {
    const int row = min(copy_row + i * kPassRows, tile.slots - 1);
    source[i] = x + static_cast<size_t>(row_of_slot[tile.first_slot + row]) * k + copy_column;
  }
  const auto copy_stage = [&](int step, unsigned char* stage) {
    const unsigned to = shared_address(stage) + copy_row * kRowBytes + copy_column * 2;
#pragma unroll
    for (int i = 0; i < kPasses; ++i) {
      cp_async_16_or_zero(to + i * kPassRows * kRowBytes, source[i] + step * kTileK,
                          copy_row + i * kPassRows < tile.slots);
    }
    weights.copy(stage + kActivationBytes, step * kTileK);
    cp_async_commit();
  };

  float sum[kSlotTiles][kChannelTiles][4] = {};
  const int steps = k / kTileK;
  copy_stage(0, pool);
  for (int step = 0; step < steps; ++step) {
    // The stage of the next step was read to its end before the barrier that closed the last one.
    if (step + 1 < steps) {
      copy_stage(step + 1, pool + (step + 1) % kStages * kStageBytes);
    } else {
      cp_async_commit();
    }
    cp_async_wait<kStages - 1>();
    __syncthreads();

    const unsigned char* const stage = pool + step % kStages * kStageBytes;
    unsigned b[kChannelTiles][2 * kSteps];
#pragma unroll
    for (int j = 0; j < kChannelTiles; ++j) {
      weights.load(stage + kActivationBytes, warp_channel + j * 8 + group, quad_lane, b[j]);
    }
#pragma unroll
    for (int i = 0; i < kSlotTiles; ++i) {
      const unsigned char* const low = stage + (i * 16 + group) * kRowBytes + quad_lane * 32;
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const uint4 upper_rows = *reinterpret_cast<const uint4*>(low + half * 16);
        const uint4 lower_rows =
            *reinterpret_cast<const uint4*>(low + 8 * kRowBytes + half * 16);
        const unsigned first[4] = {upper_rows.x, lower_rows.x, upper_rows.y, lower_rows.y};
        const unsigned second[4] = {upper_rows.z, lower_rows.z, upper_rows.w, lower_rows.w};
#pragma unroll
        for (int j = 0; j < kChannelTiles; ++j) {
          mma_m16n8k16(sum[i][j], first, b[j][4 * half], b[j][4 * half + 1]);
          mma_m16n8k16(sum[i][j], second, b[j][4 * half + 2], b[j][4 * half + 3]);
        }
      }
    }
    __syncthreads();
  }

#pragma unroll
  for (int j = 0; j < kChannelTiles; ++j) {
    const int channel = first_channel + warp_channel + j * 8 + quad_lane * 2;
    if (channel < n) {
      const float scale_low = weights.scale(channel);
      const float scale_high = weights.scale(channel + 1);
#pragma unroll
      for (int i = 0; i < 2 * kSlotTiles; ++i) {
        const int row = i * 8 + group;
        const float low = sum[i / 2][j][i % 2 * 2] * scale_low;
        const float high = sum[i / 2][j][i % 2 * 2 + 1] * scale_high;
        if (row < tile.slots) {
          bf16* const to = y + static_cast<size_t>(tile.first_slot + row) * n + channel;
          *reinterpret_cast<__nv_bfloat162*>(to) = __floats2bfloat162_rn(low, high);
        }
      }
    }
  }
}
