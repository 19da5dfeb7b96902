// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The baseline's KV append for heads of 64 values; the formula, layouts and launch are in the
// included file.

#define HEAD_DIM 64
#include "../../common/reshape_and_cache.cu"
