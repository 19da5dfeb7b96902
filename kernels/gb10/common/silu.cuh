// SPDX-License-Identifier: MIT OR Apache-2.0
//
// SiLU in fp32 with the fast exponential: about 2 ulp of fp32, far below one bf16 ulp.
#pragma once

// v * sigmoid(v). -inf gives NaN, as in PyTorch; a large negative v gives -0.
__device__ __forceinline__ float silu(float v) { return v / (1.0f + __expf(-v)); }
