// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The bf16 tensor-core step m16n8k16 with fp32 accumulation, and the loads of its fragments.
//
// Fragment layout, with g = lane / 4 and t = lane % 4 (rows x columns of one warp's step):
//   A (16 x 16)  a[0]: (g, 2t..2t+1)    a[1]: (g+8, 2t..)   a[2]: (g, 2t+8..)  a[3]: (g+8, 2t+8..)
//   B (16 x 8)   b[0]: (2t..2t+1, g)    b[1]: (2t+8.., g)
//   C (16 x 8)   c[0..1]: (g, 2t..2t+1) c[2..3]: (g+8, 2t..2t+1)
#pragma once

#include "bf16x8.cuh"

// The 32-bit address of a shared-memory object, as ldmatrix and cp.async take it.
__device__ __forceinline__ unsigned shared_address(const void* object) {
  return static_cast<unsigned>(__cvta_generic_to_shared(object));
}

// Four 8x8 tiles; lane i gives the address of row i % 8 of tile i / 8 (16 bytes, aligned).
__device__ __forceinline__ void ldmatrix_x4(unsigned (&fragment)[4], unsigned row_address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];\n"
               : "=r"(fragment[0]), "=r"(fragment[1]), "=r"(fragment[2]), "=r"(fragment[3])
               : "r"(row_address)
               : "memory");
}

// Same, each 8x8 tile transposed on the way.
__device__ __forceinline__ void ldmatrix_x4_trans(unsigned (&fragment)[4], unsigned row_address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];\n"
               : "=r"(fragment[0]), "=r"(fragment[1]), "=r"(fragment[2]), "=r"(fragment[3])
               : "r"(row_address)
               : "memory");
}

// c += a * b for one 16x8 tile.
__device__ __forceinline__ void mma_m16n8k16(float (&c)[4], const unsigned (&a)[4], unsigned b_low,
                                             unsigned b_high) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
      "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};\n"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b_low), "r"(b_high));
}
