#pragma once
typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned int __nv_fp8x4_storage_t;
#define CUDALINT_FP8(format)                                        \
  struct __nv_fp8_##format { __nv_fp8_storage_t __x; };             \
  struct __nv_fp8x2_##format { __nv_fp8x2_storage_t __x; };         \
  struct __nv_fp8x4_##format { __nv_fp8x4_storage_t __x; };
CUDALINT_FP8(e4m3)
CUDALINT_FP8(e5m2)
CUDALINT_FP8(e8m0)
#undef CUDALINT_FP8
enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 };
