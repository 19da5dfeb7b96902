#pragma once
#define CUDALINT_VECTORS(type, name)                  \
  struct name##1 { type x; };                         \
  struct name##2 { type x, y; };                      \
  struct name##3 { type x, y, z; };                   \
  struct name##4 { type x, y, z, w; };
CUDALINT_VECTORS(signed char, char)
CUDALINT_VECTORS(unsigned char, uchar)
CUDALINT_VECTORS(short, short)
CUDALINT_VECTORS(unsigned short, ushort)
CUDALINT_VECTORS(int, int)
CUDALINT_VECTORS(unsigned int, uint)
CUDALINT_VECTORS(long, long)
CUDALINT_VECTORS(unsigned long, ulong)
CUDALINT_VECTORS(long long, longlong)
CUDALINT_VECTORS(unsigned long long, ulonglong)
CUDALINT_VECTORS(float, float)
CUDALINT_VECTORS(double, double)
#undef CUDALINT_VECTORS
struct dim3 {
  unsigned int x, y, z;
  constexpr dim3(unsigned int a = 1, unsigned int b = 1, unsigned int c = 1) : x(a), y(b), z(c) {}
  constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
};
