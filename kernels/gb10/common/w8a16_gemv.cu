// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Matrix-vector product of int8 weights and bf16 activations, for decode steps:
//
//   y[s][i] = bf16( scale[i] * sum over p of x[s][p] * w[i][p] )
//
//   x      [tokens][k] bf16: activations
//   w      [n][k]      int8, symmetric: one output channel per row
//   scale  [n]         fp32: step of each output channel
//   y      [tokens][n] bf16
//
// Requirements: x and w 16-byte aligned, k a positive multiple of 16, n any positive number. Sums
// are fp32 in one fixed order: two runs agree to the bit. Tolerance against fp32: the final
// rounding to bf16 (relative 2^-9); int8 weights are exact in fp32.
//
// Launch: grid (ceil(n / kRows), tokens, 1), block (kThreads, 1, 1), no dynamic shared memory.
// Meant for few tokens: the weights are read once per token, from L2 if they fit there.
//
// How: a warp owns one row of w and walks k in chunks of 16 weights per lane, kDepth chunks in
// flight. Weights pass L1 by, so that the activations, which all rows share, stay there.

#include <cstdint>

#include "bf16x8.cuh"
#include "load_streaming.cuh"
#include "reduce.cuh"

constexpr int kThreads = 256;
constexpr int kRows = kThreads / kWarpSize;  // rows of w, so outputs, per block
constexpr int kChunk = 16;                   // weights of one 16-byte load
constexpr int kDepth = 4;                    // chunks that a lane has in flight

// Byte kByte of `word`, a signed number plus 128, as fp32. The byte becomes the low mantissa bits
// of 2^23, from which 2^23 + 128 is taken: exact, and cheaper than a conversion instruction.
template <int kByte>
__device__ __forceinline__ float weight_of(unsigned word) {
  return __uint_as_float(__byte_perm(word, 0x4B000000u, 0x7440 + kByte)) - 8388736.0f;
}

// sum + the 4 weights of `word` times the 4 activations packed in x01 and x23, in that order.
__device__ __forceinline__ float dot_word(float sum, unsigned word, unsigned x01, unsigned x23) {
  const unsigned shifted = word ^ 0x80808080u;  // signed byte to byte + 128
  float x[4];
  unpack_bf16x2(x01, x[0], x[1]);
  unpack_bf16x2(x23, x[2], x[3]);
  sum = fmaf(x[0], weight_of<0>(shifted), sum);
  sum = fmaf(x[1], weight_of<1>(shifted), sum);
  sum = fmaf(x[2], weight_of<2>(shifted), sum);
  return fmaf(x[3], weight_of<3>(shifted), sum);
}

extern "C" __global__ void __launch_bounds__(kThreads, 4)
    w8a16_gemv(const bf16* __restrict__ x, const int8_t* __restrict__ w,
               const float* __restrict__ scale, bf16* __restrict__ y, int n, int k) {
  const int lane = threadIdx.x % kWarpSize;
  const int row = blockIdx.x * kRows + threadIdx.x / kWarpSize;
  if (row >= n) {
    return;
  }
  const int chunks = k / kChunk;
  const int8_t* const w_row = w + static_cast<size_t>(row) * k;
  const bf16* const x_row = x + static_cast<size_t>(blockIdx.y) * k;

  float sum = 0.0f;
  for (int first = lane; first < chunks; first += kWarpSize * kDepth) {
    uint4 weights[kDepth];
#pragma unroll
    for (int d = 0; d < kDepth; ++d) {
      // A chunk past the end reads the last one, and meets activations of zero.
      weights[d] = load_streaming(w_row + kChunk * min(first + kWarpSize * d, chunks - 1));
    }
#pragma unroll
    for (int d = 0; d < kDepth; ++d) {
      const int chunk = first + kWarpSize * d;
      uint4 low = make_uint4(0, 0, 0, 0);
      uint4 high = low;
      if (chunk < chunks) {
        low = load_bf16x8(x_row + kChunk * chunk);
        high = load_bf16x8(x_row + kChunk * chunk + kVec);
      }
      sum = dot_word(sum, weights[d].x, low.x, low.y);
      sum = dot_word(sum, weights[d].y, low.z, low.w);
      sum = dot_word(sum, weights[d].z, high.x, high.y);
      sum = dot_word(sum, weights[d].w, high.z, high.w);
    }
  }

  sum = warp_sum(sum);
  if (lane == 0) {
    y[static_cast<size_t>(blockIdx.y) * n + row] = __float2bfloat16(sum * scale[row]);
  }
}
