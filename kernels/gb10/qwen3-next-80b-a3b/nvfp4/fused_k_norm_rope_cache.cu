// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The baseline's fused key append for heads of 256 values of which the first 64 rotate, and norm
// weights stored minus one; the formula, layouts and launch are in the included file.

#define HEAD_DIM 256
#define ROTARY_DIM 64
#define WEIGHT_BASE 1.0f
#include "../../common/fused_k_norm_rope_cache.cu"
