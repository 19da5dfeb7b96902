// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Depthwise causal convolution of width 4 with SiLU, as Mamba-like layers put before their scan:
//   out[b][t][c] = silu(bias[c] + sum_{j<4} weight[c][j] * in[b][t - 3 + j][c])
// where in[b] is state_in[b] (three tokens) followed by x[b]. The last three tokens of that are
// state_out[b], so chunks of a sequence, and single decode steps, continue one another.
//
// Layouts    x, out: bf16 [batch][seq][channels]; weight: bf16 [channels][4], oldest tap first;
//            bias: bf16 [channels]; state_in, state_out: bf16 [batch][3][channels], oldest first.
//            state_out may be state_in only when seq <= kTokens: one thread then reads and writes
//            all of a channel's state. Zeros in state_in start a sequence.
// Alignment  all pointers 16 bytes; channels a multiple of 8; seq >= 1.
// Tolerance  fp32 arithmetic, one rounding to bf16: rel 1e-2, abs 1e-3 where the taps cancel.
// Launch     grid (ceil_div(channels, 1024), ceil_div(seq, 8), batch), block (128),
//            no dynamic shared memory.

#include "bf16x8.cuh"
#include "silu.cuh"

constexpr int kWidth = 4;
constexpr int kHistory = kWidth - 1;
constexpr int kThreads = 128;
// Tokens of one thread, all of whose loads are in flight together. The three tokens before them
// are another thread's too and come from L2 the second time.
constexpr int kTokens = 8;

extern "C" __global__ void __launch_bounds__(kThreads, 4)
    causal_conv1d(bf16* __restrict__ out, bf16* state_out, const bf16* __restrict__ x,
                  const bf16* state_in, const bf16* __restrict__ weight,
                  const bf16* __restrict__ bias, int batch, int seq, int channels) {
  const int c = (blockIdx.x * kThreads + threadIdx.x) * kVec;
  if (c >= channels || blockIdx.z >= batch) {
    return;
  }
  const int begin = blockIdx.y * kTokens;
  const size_t sequence = static_cast<size_t>(blockIdx.z) * seq;
  const size_t history = static_cast<size_t>(blockIdx.z) * kHistory;

  // Token t of the sequence with its history: t < 0 lies in the state.
  const auto load_token = [&](int t) {
    return t >= 0 ? load_bf16x8(x + (sequence + t) * channels + c)
                  : load_bf16x8(state_in + (history + t + kHistory) * channels + c);
  };

  // The three tokens before this thread's own, then its own.
  uint4 window[kHistory + kTokens];
#pragma unroll
  for (int j = 0; j < kHistory + kTokens; ++j) {
    const int t = begin - kHistory + j;
    if (t < seq) {
      window[j] = load_token(t);
    }
  }

  float w[kWidth][kVec];
#pragma unroll
  for (int pair = 0; pair < kVec / 2; ++pair) {
    // Sixteen bytes hold the four taps of two channels.
    float taps[kVec];
    unpack_bf16x8(load_bf16x8(weight + (c + 2 * pair) * kWidth), taps);
#pragma unroll
    for (int j = 0; j < kWidth; ++j) {
      w[j][2 * pair] = taps[j];
      w[j][2 * pair + 1] = taps[kWidth + j];
    }
  }
  const uint4 bias_bits = load_bf16x8(bias + c);

#pragma unroll
  for (int i = 0; i < kTokens; ++i) {
    if (begin + i < seq) {
      float sum[kVec];
      unpack_bf16x8(bias_bits, sum);
#pragma unroll
      for (int j = 0; j < kWidth; ++j) {
        float v[kVec];
        unpack_bf16x8(window[i + j], v);
#pragma unroll
        for (int e = 0; e < kVec; ++e) {
          sum[e] += w[j][e] * v[e];
        }
      }
#pragma unroll
      for (int e = 0; e < kVec; ++e) {
        sum[e] = silu(sum[e]);
      }
      store_bf16x8(out + (sequence + begin + i) * channels + c, pack_bf16x8(sum));
    }
  }

  if (begin + kTokens >= seq) {
    // All three are read before any is written: state_out may be state_in.
    uint4 last[kHistory];
#pragma unroll
    for (int j = 0; j < kHistory; ++j) {
      last[j] = load_token(seq - kHistory + j);
    }
#pragma unroll
    for (int j = 0; j < kHistory; ++j) {
      store_bf16x8(state_out + (history + j) * channels + c, last[j]);
    }
  }
}
