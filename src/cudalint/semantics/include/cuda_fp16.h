#pragma once
struct __half {
  unsigned short __x;
};
struct __half2 {
  __half x, y;
};
struct __half_raw {
  unsigned short x;
};
struct __half2_raw {
  unsigned short x, y;
};
typedef __half half;
typedef __half2 half2;
typedef __half nv_half;
typedef __half2 nv_half2;
