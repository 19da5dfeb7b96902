// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The baseline's RoPE for heads of 64 values, all rotating; the formula, layouts and launch are in
// the included file: 32 tokens per block.

#define HEAD_DIM 64
#include "../../common/rope.cu"
