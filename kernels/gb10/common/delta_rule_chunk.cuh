// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What the two phases of gated_delta_rule_prefill share: the chunk, its place in the workspace, and
// fp32 numbers as a sum of two bf16, which the tensor cores take.
//
// Within a chunk of kChunk tokens that starts with the state S, with G_i the sum of g up to token
// i, the recurrence is solved at once. With u_i = beta_i (v_i - D_i^T k_i) as each step's addition
// along k_i,
//   (I + A) U = diag(beta) (V - diag(exp G) K S)    A_ij = beta_i exp(G_i - G_j) k_i.k_j,  j < i
//   O         = diag(exp G) Q S + P U               P_ij = exp(G_i - G_j) q_i.k_j,         j <= i
//   S after   = exp(G_last) S + K^T diag(exp(G_last - G)) U
// The first phase computes T = (I + A)^-1 diag(beta) and P of all chunks in parallel, the second
// walks the chunks with S in registers.
#pragma once

#include <cuda_bf16.h>

#include "mma_bf16.cuh"
#include "reduce.cuh"

using bf16 = __nv_bfloat16;

// Head dimensions; a leaf may define others before it includes a kernel's file.
#ifndef GDR_KEY_DIM
#define GDR_KEY_DIM 128
#endif
#ifndef GDR_VALUE_DIM
#define GDR_VALUE_DIM 128
#endif

constexpr int kKeyDim = GDR_KEY_DIM;
constexpr int kValueDim = GDR_VALUE_DIM;
// Tokens of a chunk: the depth of one tensor-core step.
constexpr int kChunk = 16;
// Workspace of one chunk and value head. The factors are the B fragments of T^T and P^T as the
// tensor cores take them: [T upper, T lower, P][lane][8 values], where "upper" is the number
// rounded to bf16 and "lower" what that leaves. T acts on the state, which must not lose digits
// from chunk to chunk; P only on the output, which is rounded to bf16 itself.
constexpr int kFactors = 3;
constexpr int kFactorElements = kFactors * kWarpSize * 8;

static_assert(kKeyDim % 32 == 0, "keys are read 16 bytes per lane of a quad");

// The first chunk of a sequence in the workspace. Sequences don't share chunks, so this leaves at
// most one chunk per sequence unused: total_tokens / kChunk + batch chunks are enough.
__device__ __forceinline__ int first_chunk(int first_token, int sequence) {
  return first_token / kChunk + sequence;
}

// Two fp32 numbers as bf16 pairs that sum to them with a relative error below 2^-16.
__device__ __forceinline__ void split_bf16x2(float low, float high, unsigned& upper,
                                             unsigned& lower) {
  upper = pack_bf16x2(low, high);
  lower = pack_bf16x2(low - __uint_as_float(upper << 16),
                      high - __uint_as_float(upper & 0xffff0000u));
}
