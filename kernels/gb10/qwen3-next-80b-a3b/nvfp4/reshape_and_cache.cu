// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The baseline's KV append for heads of 256 values; the formula, layouts and launch are in the
// included file.

#define HEAD_DIM 256
#include "../../common/reshape_and_cache.cu"
