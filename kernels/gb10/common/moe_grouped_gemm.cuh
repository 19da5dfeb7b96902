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
// Stages of the copy pipeline: one is read, one is read next, one is being filled.
constexpr int kStages = 3;
constexpr int kWarpChannels = 32;
// The 8-channel tiles of a warp.
constexpr int kChannelTiles = kWarpChannels / 8;
// Activation tile: [slot][eight 16-byte chunks of k], chunk c of slot s at c ^ (s & 1), so that the
// eight 16-byte reads of a quarter warp, four from each of two slots, fall in different banks.
constexpr int kRowBytes = kTileK * 2;
constexpr int kRowChunks = kRowBytes / 16;
constexpr int kActivationBytes = kTileSlots * kRowBytes;
// Rows that the block copies at once.
constexpr int kPassRows = kThreads / kRowChunks;

static_assert(kTileChannels == kThreads / kWarpSize * kWarpChannels, "the warps cover the tile");
static_assert(kPassRows == 16, "a pass fills one 16-slot tile");

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

// A pair of bf16 pairs for one 8-channel tile: the right operand of two tensor-core steps.
using StepPair = unsigned[4];

// sum += the products of kSlotTiles x 16 slots with the unpacked weights, over half of the tile's
// k. `row` is this lane's first slot of the activation tile, `chunk` its chunk there.
template <int kSlotTiles>
__device__ __forceinline__ void multiply_half(float (&sum)[kSlotTiles][kChannelTiles][4],
                                              const unsigned char* row, int chunk,
                                              const StepPair (&b)[kChannelTiles]) {
#pragma unroll
  for (int i = 0; i < kSlotTiles; ++i) {
    const unsigned char* const at = row + i * 16 * kRowBytes + chunk * 16;
    const uint4 upper = *reinterpret_cast<const uint4*>(at);
    const uint4 lower = *reinterpret_cast<const uint4*>(at + 8 * kRowBytes);
    const unsigned first[4] = {upper.x, lower.x, upper.y, lower.y};
    const unsigned second[4] = {upper.z, lower.z, upper.w, lower.w};
#pragma unroll
    for (int j = 0; j < kChannelTiles; ++j) {
      mma_m16n8k16(sum[i][j], first, b[j][0], b[j][1]);
      mma_m16n8k16(sum[i][j], second, b[j][2], b[j][3]);
    }
  }
}

// The product for a tile of at most kSlotTiles x 16 slots; see grouped_gemm_tile.
template <int kSlotTiles, class Weights>
__device__ __forceinline__ void multiply_tile(bf16* __restrict__ y, const bf16* __restrict__ x,
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
  const int copy_row = tid / kRowChunks;
  const int copy_chunk = tid % kRowChunks;
  const bf16* source[kSlotTiles];
#pragma unroll
  for (int i = 0; i < kSlotTiles; ++i) {
    const int row = min(copy_row + i * kPassRows, tile.slots - 1);
    source[i] = x + static_cast<size_t>(row_of_slot[tile.first_slot + row]) * k + copy_chunk * 8;
  }
  const auto copy_stage = [&](int step) {
    unsigned char* const stage = pool + step % kStages * kStageBytes;
    const unsigned to =
        shared_address(stage) + copy_row * kRowBytes + (copy_chunk ^ (copy_row & 1)) * 16;
#pragma unroll
    for (int i = 0; i < kSlotTiles; ++i) {
      cp_async_16_or_zero(to + i * kPassRows * kRowBytes, source[i] + step * kTileK,
                          copy_row + i * kPassRows < tile.slots);
    }
    weights.copy(stage + kActivationBytes, step * kTileK);
  };

  const int steps = k / kTileK;
#pragma unroll
  for (int step = 0; step < kStages - 1; ++step) {
    if (step < steps) {
      copy_stage(step);
    }
    cp_async_commit();
  }
  cp_async_wait<kStages - 2>();
  __syncthreads();

  // Weights are unpacked half a step before they meet the activations, so that the integer
  // instructions of one half run beside the tensor-core instructions of the other.
  float sum[kSlotTiles][kChannelTiles][4] = {};
  typename Weights::Stored stored[kChannelTiles];
  StepPair first_half[kChannelTiles];
  StepPair second_half[kChannelTiles];
  const int chunk = (quad_lane * 2) ^ (group & 1);
#pragma unroll
  for (int j = 0; j < kChannelTiles; ++j) {
    stored[j] = weights.load(pool + kActivationBytes, warp_channel + j * 8 + group, quad_lane);
    weights.unpack(stored[j], 0, first_half[j]);
  }
  for (int step = 0; step < steps; ++step) {
    // [slot][chunk] of the activation tile: this lane's slot of the first 8.
    const unsigned char* const row = pool + step % kStages * kStageBytes + group * kRowBytes;
#pragma unroll
    for (int j = 0; j < kChannelTiles; ++j) {
      weights.unpack(stored[j], 1, second_half[j]);
    }
    multiply_half<kSlotTiles>(sum, row, chunk, first_half);

    // The next stage must have landed, and all warps be done with the stage before this one, which
    // is filled again.
    cp_async_wait<kStages - 3>();
    __syncthreads();
    if (step + kStages - 1 < steps) {
      copy_stage(step + kStages - 1);
    }
    cp_async_commit();
    // After the last step, once more the last stage: nothing comes of it.
    const int next = min(step + 1, steps - 1);
    // The weight tile of the next stage, as Weights lays it out.
    const unsigned char* const next_weights =
        pool + next % kStages * kStageBytes + kActivationBytes;
#pragma unroll
    for (int j = 0; j < kChannelTiles; ++j) {
      stored[j] = weights.load(next_weights, warp_channel + j * 8 + group, quad_lane);
    }
    multiply_half<kSlotTiles>(sum, row, chunk ^ 1, second_half);
#pragma unroll
    for (int j = 0; j < kChannelTiles; ++j) {
      weights.unpack(stored[j], 0, first_half[j]);
    }
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

// y[slot][channel] = scale(channel) * sum_k x[row_of_slot[slot]][k] * weight(channel, k), for the
// block's tile. `Weights` gives kStageBytes (a multiple of 16) and
//   copy(stage, k)           starts the copies of the block's 128 channels x 64 of k
//   Stored                   a lane's sixteen weights of a channel, as they are stored
//   load(stage, channel, quad_lane)
//                            reads them from the weight tile
//   unpack(stored, half, pairs)
//                            eight of them as bf16 pairs
//   scale(channel)           what remains to be multiplied after the sum
// `pool` holds kStages stages, each [activation tile | weight tile]. Tiles of few slots skip what
// they have no rows for.
template <class Weights>
__device__ __forceinline__ void grouped_gemm_tile(bf16* __restrict__ y, const bf16* __restrict__ x,
                                                  const int* __restrict__ row_of_slot,
                                                  const Weights& weights, const ExpertTile& tile,
                                                  unsigned char* pool, int first_channel, int n,
                                                  int k) {
  if (tile.slots > 32) {
    multiply_tile<4>(y, x, row_of_slot, weights, tile, pool, first_channel, n, k);
  } else if (tile.slots > 16) {
    multiply_tile<2>(y, x, row_of_slot, weights, tile, pool, first_channel, n, k);
  } else {
    multiply_tile<1>(y, x, row_of_slot, weights, tile, pool, first_channel, n, k);
  }
}
