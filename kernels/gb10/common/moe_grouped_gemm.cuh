// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The grouped matrix product of an expert layer, for weights that are dequantised on the way from
// shared memory to the tensor cores. How a weight format is stored is the template argument's
// business; the kernels are moe_prefill.cu and its variants.
//
// A block owns 128 output channels x 64 slots of one expert, four warps side by side over the
// channels, each with all 64 slots: a weight is dequantised once per block. The weights are the
// left operand, so that they are unpacked into the very registers that the tensor cores read, and
// the activations the right one, whose register pairs come out of 16-byte loads as they are.
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
// The 16-channel tiles of a warp.
constexpr int kChannelTiles = kWarpChannels / 16;
// Activation tile: [slot][eight 16-byte chunks of k], chunk c of slot s at c ^ (s & 1), so that the
// eight 16-byte reads of a quarter warp, four from each of two slots, fall in different banks.
constexpr int kRowBytes = kTileK * 2;
constexpr int kRowChunks = kRowBytes / 16;
constexpr int kActivationBytes = kTileSlots * kRowBytes;
// Rows that the block copies at once.
constexpr int kPassRows = kThreads / kRowChunks;
// Finished tile: [slot][channel] bf16, rows padded by 16 bytes.
constexpr int kOutPitch = kTileChannels * 2 + 16;

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

// The left operand of the two tensor-core steps of half a tile, for 16 channels.
using HalfOperand = unsigned[2][4];

// Unpacks half of the weights of channels g and g + 8 of a 16-channel tile.
template <class Weights>
__device__ __forceinline__ void unpack_half(HalfOperand& a, const typename Weights::Stored& low,
                                            const typename Weights::Stored& high, int half) {
  unsigned low_pairs[4];
  unsigned high_pairs[4];
  Weights::unpack(low, half, low_pairs);
  Weights::unpack(high, half, high_pairs);
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    a[i / 2][i % 2 * 2] = low_pairs[i];
    a[i / 2][i % 2 * 2 + 1] = high_pairs[i];
  }
}

// sum += the unpacked weights times the activations of kSlotTiles x 8 slots, over half of the
// tile's k. `row` is this lane's first slot of the activation tile, `chunk` its chunk there.
template <int kSlotTiles>
__device__ __forceinline__ void multiply_half(float (&sum)[kChannelTiles][kSlotTiles][4],
                                              const HalfOperand (&a)[kChannelTiles],
                                              const unsigned char* row, int chunk) {
#pragma unroll
  for (int i = 0; i < kSlotTiles; ++i) {
    const uint4 b = *reinterpret_cast<const uint4*>(row + i * 8 * kRowBytes + chunk * 16);
#pragma unroll
    for (int j = 0; j < kChannelTiles; ++j) {
      mma_m16n8k16(sum[j][i], a[j][0], b.x, b.y);
      mma_m16n8k16(sum[j][i], a[j][1], b.z, b.w);
    }
  }
}

// Scales the sums, rounds them, and stores the tile through `staging`, which holds
// [slot][channel] rows of kOutPitch bytes.
template <int kSlotTiles, class Weights>
__device__ __forceinline__ void store_tile(bf16* __restrict__ y, const Weights& weights,
                                           const ExpertTile& tile,
                                           const float (&sum)[kChannelTiles][kSlotTiles][4],
                                           unsigned char* staging, int first_channel, int n) {
  const int lane = threadIdx.x % kWarpSize;
#pragma unroll
  for (int j = 0; j < 2 * kChannelTiles; ++j) {
    const int channel = threadIdx.x / kWarpSize * kWarpChannels + j * 8 + lane / 4;
    const float scale = weights.scale(min(first_channel + channel, n - 1));
#pragma unroll
    for (int i = 0; i < 2 * kSlotTiles; ++i) {
      const int slot = i / 2 * 8 + lane % 4 * 2 + i % 2;
      *reinterpret_cast<bf16*>(staging + slot * kOutPitch + channel * 2) =
          __float2bfloat16(sum[j / 2][i / 2][j % 2 * 2 + i % 2] * scale);
    }
  }
  __syncthreads();
  constexpr int kRowPieces = kTileChannels * 2 / 16;
  const int channel = first_channel + threadIdx.x % kRowPieces * 8;
  for (int slot = threadIdx.x / kRowPieces; slot < tile.slots; slot += kThreads / kRowPieces) {
    if (channel < n) {
      *reinterpret_cast<uint4*>(y + static_cast<size_t>(tile.first_slot + slot) * n + channel) =
          *reinterpret_cast<const uint4*>(staging + slot * kOutPitch +
                                          threadIdx.x % kRowPieces * 16);
    }
  }
}

// The product for a tile of at most kSlotTiles x 8 slots; see grouped_gemm_tile.
template <int kSlotTiles, class Weights>
__device__ __forceinline__ void multiply_tile(bf16* __restrict__ y, const bf16* __restrict__ x,
                                              const int* __restrict__ row_of_slot,
                                              const Weights& weights, const ExpertTile& tile,
                                              unsigned char* pool, int first_channel, int n,
                                              int k) {
  constexpr int kStageBytes = kActivationBytes + Weights::kStageBytes;
  constexpr int kPasses = (kSlotTiles * 8 + kPassRows - 1) / kPassRows;
  static_assert(kTileSlots * kOutPitch <= kStages * kStageBytes, "the pool holds the result");
  const int tid = threadIdx.x;
  const int lane = tid % kWarpSize;
  const int group = lane / 4;
  const int quad_lane = lane % 4;

  // Each thread copies 16 bytes of every 16th row. Rows past the expert's last become zero.
  const int copy_row = tid / kRowChunks;
  const int copy_chunk = tid % kRowChunks;
  const bf16* source[kPasses];
#pragma unroll
  for (int i = 0; i < kPasses; ++i) {
    const int row = min(copy_row + i * kPassRows, tile.slots - 1);
    source[i] = x + static_cast<size_t>(row_of_slot[tile.first_slot + row]) * k + copy_chunk * 8;
  }
  const unsigned copy_to =
      shared_address(pool) + copy_row * kRowBytes + (copy_chunk ^ (copy_row & 1)) * 16;
  const typename Weights::Source weight_source(weights, k);
  const auto copy_stage = [&](int step, int slot) {
    const unsigned to = copy_to + slot * kStageBytes;
#pragma unroll
    for (int i = 0; i < kPasses; ++i) {
      cp_async_16_or_zero(to + i * kPassRows * kRowBytes, source[i] + step * kTileK,
                          copy_row + i * kPassRows < tile.slots);
    }
    weight_source.copy(shared_address(pool) + slot * kStageBytes + kActivationBytes, step);
  };

  const int steps = k / kTileK;
#pragma unroll
  for (int step = 0; step < kStages - 1; ++step) {
    if (step < steps) {
      copy_stage(step, step);
    }
    cp_async_commit();
  }
  cp_async_wait<kStages - 2>();
  __syncthreads();

  // Weights are unpacked half a step before they meet the activations, so that the integer
  // instructions of one half run beside the tensor-core instructions of the other.
  float sum[kChannelTiles][kSlotTiles][4] = {};
  typename Weights::Stored stored[2 * kChannelTiles];
  HalfOperand first_half[kChannelTiles];
  HalfOperand second_half[kChannelTiles];
  const int chunk = (quad_lane * 2) ^ (group & 1);
  const int channel = tid / kWarpSize * kWarpChannels + group;
#pragma unroll
  for (int j = 0; j < 2 * kChannelTiles; ++j) {
    stored[j] = Weights::load(pool + kActivationBytes, channel + j * 8, quad_lane);
  }
#pragma unroll
  for (int j = 0; j < kChannelTiles; ++j) {
    unpack_half<Weights>(first_half[j], stored[2 * j], stored[2 * j + 1], 0);
  }
  int slot = 0;
  for (int step = 0; step < steps; ++step) {
    // [slot][chunk] of the activation tile: this lane's slot of the first 8.
    const unsigned char* const row = pool + slot * kStageBytes + group * kRowBytes;
#pragma unroll
    for (int j = 0; j < kChannelTiles; ++j) {
      unpack_half<Weights>(second_half[j], stored[2 * j], stored[2 * j + 1], 1);
    }
    multiply_half<kSlotTiles>(sum, first_half, row, chunk);

    // The next stage must have landed, and all warps be done with the stage before this one, which
    // is filled again.
    cp_async_wait<kStages - 3>();
    __syncthreads();
    const int filled = slot == 0 ? kStages - 1 : slot - 1;
    if (step + kStages - 1 < steps) {
      copy_stage(step + kStages - 1, filled);
    }
    cp_async_commit();
    slot = slot == kStages - 1 ? 0 : slot + 1;
    if (step + 1 < steps) {
      // The weight tile of the next stage, as Weights lays it out.
      const unsigned char* const next = pool + slot * kStageBytes + kActivationBytes;
#pragma unroll
      for (int j = 0; j < 2 * kChannelTiles; ++j) {
        stored[j] = Weights::load(next, channel + j * 8, quad_lane);
      }
    }
    multiply_half<kSlotTiles>(sum, second_half, row, chunk ^ 1);
#pragma unroll
    for (int j = 0; j < kChannelTiles; ++j) {
      unpack_half<Weights>(first_half[j], stored[2 * j], stored[2 * j + 1], 0);
    }
  }
  __syncthreads();
  store_tile(y, weights, tile, sum, pool, first_channel, n);
}

// y[slot][channel] = scale(channel) * sum_k x[row_of_slot[slot]][k] * weight(channel, k), for the
// block's tile. `Weights` gives kStageBytes (a multiple of 16) and
//   Source(weights, k)       what this thread copies of the block's 128 channels; its
//   copy(stage, step)        starts the copies of 64 of k
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
    multiply_tile<8>(y, x, row_of_slot, weights, tile, pool, first_channel, n, k);
  } else if (tile.slots > 8) {
    multiply_tile<4>(y, x, row_of_slot, weights, tile, pool, first_channel, n, k);
  } else {
    multiply_tile<1>(y, x, row_of_slot, weights, tile, pool, first_channel, n, k);
  }
}
