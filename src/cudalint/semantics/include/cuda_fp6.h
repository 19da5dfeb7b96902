#pragma once
typedef unsigned char __nv_fp6_storage_t;
typedef unsigned short __nv_fp6x2_storage_t;
typedef unsigned int __nv_fp6x4_storage_t;
struct __nv_fp6_e2m3 {
  __nv_fp6_storage_t __x;
};
struct __nv_fp6_e3m2 {
  __nv_fp6_storage_t __x;
};
