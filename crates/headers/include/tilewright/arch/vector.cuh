// Vectors of 2, 4, 8 or 16 bytes, moved by one instruction.
#pragma once

#include "tilewright/arch/caller.cuh"

namespace tw {

// N elements of T; in memory it stands at a multiple of its size.
template <class T, int N> struct alignas(sizeof(T) * N) Vector {
  static constexpr int bytes = (int)sizeof(T) * N;
  static_assert(bytes == 2 || bytes == 4 || bytes == 8 || bytes == 16, "a vector has 2, 4, 8 or 16 bytes");
  T values[N];
  TW_DEVICE T& operator[](int i) { return values[i]; }
  TW_DEVICE const T& operator[](int i) const { return values[i]; }
};

namespace arch {

// How a vector travels: plainly, from or to any memory; from or to global memory, not to be read again soon; from global memory
// that nobody writes during the kernel, which may then be cached closer; to global memory, by one instruction in any case (the
// compiler takes plain stores apart where it sees no reason not to).
enum class Access { Plain, Streaming, Constant, Global };

#ifdef TILEWRIGHT_HOST
inline void check_vector(const void* address, int bytes, Place place) {
  const int rest = (int)((unsigned long long)address % (unsigned)bytes);
  if (rest == 0) return;
  char rule[128];
  __builtin_snprintf(rule, sizeof rule, "a vector of %d bytes stands %d bytes past a multiple of its size", bytes, rest);
  host::misuse(rule, place);
}
template <class T, int N, Access access> struct Move {
  static Vector<T, N> load(const T* from, Place place) {
    check_vector(from, sizeof(T) * N, place);
    host::shared_read(from, from, sizeof(T) * N, {place});
    Vector<T, N> v;
    __builtin_memcpy(&v, from, sizeof v);
    return v;
  }
  static void store(T* to, Vector<T, N> v, Place place) {
    check_vector(to, sizeof(T) * N, place);
    host::shared_write(to, to, sizeof(T) * N, {place});
    __builtin_memcpy(to, &v, sizeof v);
  }
};
#else
template <int bytes> struct Word;
template <> struct Word<2> { using Type = unsigned short; };
template <> struct Word<4> { using Type = unsigned; };
template <> struct Word<8> { using Type = uint2; };
template <> struct Word<16> { using Type = uint4; };

template <class T, int N, Access access> struct Move {
  using Bits = typename Word<sizeof(T) * N>::Type;
  static __device__ __forceinline__ Vector<T, N> load(const T* from, Place) {
    Bits bits;
    if constexpr (access == Access::Streaming) {
      bits = __ldcs((const Bits*)from);
    } else if constexpr (access == Access::Constant) {
      bits = __ldg((const Bits*)from);
    } else {
      bits = *(const Bits*)from;
    }
    return *(const Vector<T, N>*)&bits;
  }
  static __device__ __forceinline__ void store(T* to, Vector<T, N> v, Place) {
    if constexpr (access == Access::Streaming) {
      __stcs((Bits*)to, *(const Bits*)&v);
    } else if constexpr (access == Access::Global) {
      __stwb((Bits*)to, *(const Bits*)&v);
    } else {
      *(Bits*)to = *(const Bits*)&v;
    }
  }
};
#endif

}  // namespace arch

// N elements from `from` on, which stands at a multiple of N elements' bytes.
template <int N, class T> TW_DEVICE Vector<T, N> load(const T* from, Place place = Place::here()) {
  return arch::Move<T, N, arch::Access::Plain>::load(from, place);
}
// From global memory that nobody writes during the kernel.
template <int N, class T> TW_DEVICE Vector<T, N> load_constant(const T* from, Place place = Place::here()) {
  return arch::Move<T, N, arch::Access::Constant>::load(from, place);
}
// From global memory that is not read again soon: it makes room in the caches for what is.
template <int N, class T> TW_DEVICE Vector<T, N> load_streaming(const T* from, Place place = Place::here()) {
  return arch::Move<T, N, arch::Access::Streaming>::load(from, place);
}
template <class T, int N> TW_DEVICE void store(T* to, Vector<T, N> v, Place place = Place::here()) {
  arch::Move<T, N, arch::Access::Plain>::store(to, v, place);
}
// To global memory.
template <class T, int N> TW_DEVICE void store_global(T* to, Vector<T, N> v, Place place = Place::here()) {
  arch::Move<T, N, arch::Access::Global>::store(to, v, place);
}
// To global memory that is not read again soon.
template <class T, int N> TW_DEVICE void store_streaming(T* to, Vector<T, N> v, Place place = Place::here()) {
  arch::Move<T, N, arch::Access::Streaming>::store(to, v, place);
}

}  // namespace tw
