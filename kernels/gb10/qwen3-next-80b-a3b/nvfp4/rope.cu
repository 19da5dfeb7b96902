// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The baseline's RoPE for heads of 256 values of which the first 64 rotate; the formula, layouts
// and launch are in the included file: 32 tokens per block.

#define HEAD_DIM 256
#define ROTARY_DIM 64
#include "../../common/rope.cu"
