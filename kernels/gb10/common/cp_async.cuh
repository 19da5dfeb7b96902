// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Asynchronous copies from global to shared memory (cp.async, sm_80 and later).
// A copy is visible to its own thread after cp_async_wait, and to the block only after a
// __syncthreads() that follows the wait. Addresses on both sides are aligned to the copy's size.
#pragma once

// Copies 16 bytes past L1; the L2 is asked for the whole 128-byte line.
__device__ __forceinline__ void cp_async_16(unsigned shared_dst, const void* global_src) {
  asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;\n" ::"r"(shared_dst),
               "l"(global_src)
               : "memory");
}

// Copies 4 bytes through L1.
__device__ __forceinline__ void cp_async_4(unsigned shared_dst, const void* global_src) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;\n" ::"r"(shared_dst), "l"(global_src)
               : "memory");
}

// As cp_async_16, but with `in_range` false nothing is read and the 16 destination bytes become
// zero.
__device__ __forceinline__ void cp_async_16_or_zero(unsigned shared_dst, const void* global_src,
                                                    bool in_range) {
  const int bytes_read = in_range ? 16 : 0;
  asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;\n" ::"r"(shared_dst),
               "l"(global_src), "r"(bytes_read)
               : "memory");
}

// Closes the group of the copies that this thread issued since the last commit.
__device__ __forceinline__ void cp_async_commit() {
  asm volatile("cp.async.commit_group;\n" ::: "memory");
}

// Waits until at most kPending of this thread's newest groups are still in flight.
template <int kPending>
__device__ __forceinline__ void cp_async_wait() {
  asm volatile("cp.async.wait_group %0;\n" ::"n"(kPending) : "memory");
}
