// The block's shared memory: one dynamic buffer, which typed views divide.
#pragma once

namespace tw {

// Aligned to 1024 bytes. On the host model every byte is 0xff when a block starts.
#ifdef TILEWRIGHT_HOST
inline unsigned char* shared_memory() { return host::shared_memory(); }
#else
__device__ __forceinline__ unsigned char* shared_memory() {
  extern __shared__ __align__(1024) unsigned char tilewright_shared[];
  return tilewright_shared;
}
#endif

namespace arch {

// The same pointer, which the compiler keeps in a register from here on: where it knows what it points to, it would rather work the
// address out again at every use.
#ifdef TILEWRIGHT_HOST
template <class T> T* kept(T* p) { return p; }
#else
template <class T> __device__ __forceinline__ T* kept(T* p) {
  asm("" : "+l"(p));
  return p;
}
#endif

// The address within the block's shared memory, as PTX wants it, and what it points to. Through such a pointer the compiler reads
// without asking which memory it is.
#ifdef TILEWRIGHT_HOST
inline unsigned shared_address(const void* p) { return (unsigned)((const unsigned char*)p - host::shared_memory()); }
inline void* shared_pointer(unsigned address) { return host::shared_memory() + address; }
#else
__device__ __forceinline__ unsigned shared_address(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ __forceinline__ void* shared_pointer(unsigned address) { return __cvta_shared_to_generic(address); }
#endif

}  // namespace arch
}  // namespace tw
