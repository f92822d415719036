// CUDA's vector types, with CUDA's alignment, and their makers.
#pragma once

using size_t = decltype(sizeof(0));

#define TW_HOST_VECTORS(NAME, T, ALIGN2, ALIGN4)                                                  \
  struct NAME##1 { T x; };                                                                        \
  struct alignas(ALIGN2) NAME##2 { T x, y; };                                                     \
  struct NAME##3 { T x, y, z; };                                                                  \
  struct alignas(ALIGN4) NAME##4 { T x, y, z, w; };                                               \
  inline NAME##1 make_##NAME##1(T x) { return {x}; }                                              \
  inline NAME##2 make_##NAME##2(T x, T y) { return {x, y}; }                                      \
  inline NAME##3 make_##NAME##3(T x, T y, T z) { return {x, y, z}; }                              \
  inline NAME##4 make_##NAME##4(T x, T y, T z, T w) { return {x, y, z, w}; }

TW_HOST_VECTORS(char, signed char, 2, 4)
TW_HOST_VECTORS(uchar, unsigned char, 2, 4)
TW_HOST_VECTORS(short, short, 4, 8)
TW_HOST_VECTORS(ushort, unsigned short, 4, 8)
TW_HOST_VECTORS(int, int, 8, 16)
TW_HOST_VECTORS(uint, unsigned int, 8, 16)
TW_HOST_VECTORS(longlong, long long, 16, 16)
TW_HOST_VECTORS(ulonglong, unsigned long long, 16, 16)
TW_HOST_VECTORS(float, float, 8, 16)
TW_HOST_VECTORS(double, double, 16, 16)
#undef TW_HOST_VECTORS

// Three extents; those left out are 1.
struct dim3 {
  unsigned int x, y, z;
  constexpr dim3(unsigned int x = 1, unsigned int y = 1, unsigned int z = 1) : x(x), y(y), z(z) {}
};
