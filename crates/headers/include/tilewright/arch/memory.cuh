// How addresses are formed, and how results leave.
#pragma once

namespace tw {
namespace arch {

#ifdef TILEWRIGHT_HOST
template <class T> inline const T* pin(const T* p) { return p; }
// Reads it, so that a wrong address is found.
inline void prefetch(const void* p) { (void)*(const volatile char*)p; }
template <bool streaming, class T> inline void store(T* p, T v) { *p = v; }
template <int count> inline void words(const void* p, unsigned (&to)[count]) { __builtin_memcpy(to, p, 4 * count); }
#else
// The address as it stands. The compiler would otherwise take sums of addresses apart to share what is uniform, which costs
// two additions per access where one multiply-add does.
template <class T> __device__ __forceinline__ const T* pin(const T* p) {
  asm("" : "+l"(p));
  __builtin_assume(__isGlobal(p));
  return p;
}
// Has the L2 cache read what global memory holds there.
__device__ __forceinline__ void prefetch(const void* p) { asm volatile("prefetch.global.L2 [%0];" ::"l"(p)); }
// A result; `streaming` ones are not read again soon, and leave the L2 cache to what is.
template <bool streaming, class T> __device__ __forceinline__ void store(T* p, T v) {
  if (streaming) {
    __stcs(p, v);
  } else {
    *p = v;
  }
}
template <bool streaming> __device__ __forceinline__ void store(bool* p, bool v) {
  store<streaming>((unsigned char*)p, (unsigned char)v);
}
// Words that begin at any byte, from the aligned ones around them. Each that is read has a byte of what is asked for.
template <int count, class T> __device__ __forceinline__ void words(const T* p, unsigned (&to)[count]) {
  const unsigned beyond = (unsigned)(unsigned long long)p % 4;
  const unsigned* const from = (const unsigned*)((const char*)p - beyond);
  unsigned low = from[0];
  _Pragma("unroll") for (int i = 0; i < count; ++i) {
    const unsigned high = i + 1 < count || beyond ? from[i + 1] : 0;
    to[i] = __funnelshift_r(low, high, beyond * 8);
    low = high;
  }
}
#endif

// Four of the eight bytes of two words, the first word's first, chosen by the digits of `which`, the last digit for the lowest byte.
#ifdef TILEWRIGHT_HOST
template <unsigned which> inline unsigned bytes(unsigned low, unsigned high) {
  const unsigned long long all = (unsigned long long)high << 32 | low;
  unsigned chosen = 0;
  for (int i = 0; i < 4; ++i) chosen |= (unsigned)(all >> (which >> 4 * i) % 16 * 8 & 255) << 8 * i;
  return chosen;
}
#else
template <unsigned which> __device__ __forceinline__ unsigned bytes(unsigned low, unsigned high) {
  return __byte_perm(low, high, which);
}
#endif

template <class T> TW_DEVICE T far(const unsigned char* p) { return __ldg((const T*)p); }
template <> TW_DEVICE bool far<bool>(const unsigned char* p) { return __ldg(p) != 0; }
// Element of an operand that travels with the launch: `at` bytes into the parameter block's room for them, or into the device
// buffer that takes its place when there are too many.
template <class T, class Params> TW_DEVICE T sent(const Params& p, int at) {
  return p.far ? far<T>(p.far + at) : *(const T*)(p.sent + at);
}

}  // namespace arch
}  // namespace tw
