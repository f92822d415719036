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

template <class T> TW_DEVICE T far(const unsigned char* p) { return __ldg((const T*)p); }
template <> TW_DEVICE bool far<bool>(const unsigned char* p) { return __ldg(p) != 0; }
// Element of an operand that travels with the launch: `at` bytes into the parameter block's room for them, or into the device
// buffer that takes its place when there are too many.
template <class T, class Params> TW_DEVICE T sent(const Params& p, int at) {
  return p.far ? far<T>(p.far + at) : *(const T*)(p.sent + at);
}

}  // namespace arch
}  // namespace tw
