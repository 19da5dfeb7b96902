// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The baseline's expert choice with 512 experts instead of 256; the formula, layouts and launch are
// in the included file.

#define EXPERTS 512
#include "../../common/moe_gate_topk.cu"
