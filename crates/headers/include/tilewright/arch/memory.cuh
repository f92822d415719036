// How addresses are formed, and how results leave.
#pragma once

namespace tw {
namespace arch {

#ifdef TILEWRIGHT_HOST
template <class T> inline const T* pin(const T* p) { return p; }
template <bool streaming, class T> inline void store(T* p, T v) { *p = v; }
#else
// The address as it stands. The compiler would otherwise take sums of addresses apart to share what is uniform, which costs
// two additions per access where one multiply-add does.
template <class T> __device__ __forceinline__ const T* pin(const T* p) {
  asm("" : "+l"(p));
  __builtin_assume(__isGlobal(p));
  return p;
}
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
#endif

}  // namespace arch
}  // namespace tw
