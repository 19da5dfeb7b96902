// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The baseline's RMSNorm for a hidden size of 8192; the formula, layouts and launch are in the
// included file: grid (rows), block (512).

#define HIDDEN 8192
#include "../../common/rms_norm.cu"
