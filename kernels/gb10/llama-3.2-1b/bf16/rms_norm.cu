// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The baseline's RMSNorm for a hidden size of 2048; the formula, layouts and launch are in the
// included file: grid (rows), block (128).

#define HIDDEN 2048
#include "../../common/rms_norm.cu"
