// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Where a token's keys and values lie in a paged cache.
//
// A cache is [pages][page_tokens][kv_heads][head_dim]. A slot numbers a token's place in it:
// page * page_tokens + place in the page. A negative slot marks a padding token, which has none.
#pragma once

#include <cstddef>

// Offset in elements of head 0 of a token. Slots are dense, so the page size drops out.
__device__ __forceinline__ size_t slot_offset(int slot, int kv_heads, int head_dim) {
  return static_cast<size_t>(slot) * kv_heads * head_dim;
}
