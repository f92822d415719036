// wgmma: a warpgroup's product of a 64 x 16 and a 16 x N matrix of f16 or bf16, added to a 64 x N matrix of f32, or of a 64 x 256
// and a 256 x N matrix of bits, whose common ones are counted in a 64 x N matrix of int, while the threads go on (sm_90a alone: TargetKind::ArchSpecific). In order: wgmma_fence, products, wgmma_commit, wgmma_wait.
// A function that is not inlined between them makes ptxas wait after each (warning C7510).
#pragma once

#include "tilewright/arch/proxy.cuh"
#include "tilewright/arch/warp.cuh"
#include "tilewright/bit_word.cuh"
#include "tilewright/half.cuh"

namespace tw {
namespace arch {

// How rows of 128, 64 or 32 bytes are permuted in shared memory: bits 4.. of an address change by bits 7..; None: the matrix
// stands in pieces of 8 rows of 16 bytes each.
enum class Swizzle : unsigned { None = 0, Bytes128 = 1, Bytes64 = 2, Bytes32 = 3 };

// A matrix in shared memory: its first byte, at a multiple of 16, and two distances in bytes. Where K is contiguous: `stride`
// from 8 rows to the next 8, `leading` (Swizzle::None alone) from 8 elements along K to the next 8. Where the other dimension
// is contiguous (transposed): swizzled, `leading` from one swizzled row's length along that dimension to the next, `stride`
// from 8 of K to the next 8; Swizzle::None has the two the other way round.
#ifdef TILEWRIGHT_HOST
inline unsigned operand_address(const void* start, Place place) {
  const long long at = (const unsigned char*)start - host::shared_memory();
  if (at % 16 == 0 && at >= 0 && at < (long long)host::shared_bytes()) return (unsigned)at;
  char rule[160];
  __builtin_snprintf(rule, sizeof rule, "wgmma: an operand at byte %lld of %llu of shared memory, not at a multiple of 16", at,
                     host::shared_bytes());
  host::misuse(rule, place);
}
#else
__device__ __forceinline__ unsigned operand_address(const void* start, Place) {
  return shared_address(start);
}
#endif
TW_DEVICE unsigned long long wgmma_descriptor(const void* start, Swizzle swizzle, int leading, int stride,
                                              Place place = Place::here()) {
  return (unsigned long long)(operand_address(start, place) >> 4 & 0x3fff) |
         (unsigned long long)(leading >> 4 & 0x3fff) << 16 | (unsigned long long)(stride >> 4 & 0x3fff) << 32 |
         (unsigned long long)swizzle << 62;
}
// The same matrix `bytes` further on: 32 bytes are 16 elements along K, in a swizzled row as well.
TW_DEVICE unsigned long long wgmma_advance(unsigned long long descriptor, int bytes) { return descriptor + (bytes >> 4); }

// `Wgmma<T, N>::run<a_transposed, b_transposed>(d, a, b, accumulate, place)`: d = a b, plus d if `accumulate`, with descriptors
// of a and b; `run_registers<b_transposed>` has a in 4 registers, laid out per warp as operand A of mma.sync. d has N / 2
// elements a thread; it stays in one place, unread, until the product has been waited for. Of bits (BitWord) there is
// `run(d, a, b, accumulate, place)` alone, with both operands in shared memory and K contiguous.
template <class T, int N> struct Wgmma {
  static_assert(sizeof(T) == 0, "wgmma: f16 or bf16, and N is 8, 16, 32, 64, 128 or 256; or BitWord, and N is 64, 128, 192 or 256");
};

#ifdef TILEWRIGHT_HOST
template <class T> float value_of(unsigned short bits) {
  T value;
  value.bits = bits;
  return (float)value;
}
#define TW_WGMMA(T, N)                                                                                                    \
  template <> struct Wgmma<T, N> {                                                                                        \
    template <bool a_transposed, bool b_transposed>                                                                       \
    static void run(float (&d)[N / 2], unsigned long long a, unsigned long long b, bool accumulate, Place place) {        \
      host::WgmmaOperands mine = {d, nullptr, {a}, {b}, N, accumulate, a_transposed, b_transposed, value_of<T>};          \
      host::wgmma(mine, place);                                                                                           \
    }                                                                                                                     \
    template <bool b_transposed>                                                                                          \
    static void run_registers(float (&d)[N / 2], const unsigned* a, unsigned long long b, bool accumulate, Place place) { \
      host::WgmmaOperands mine = {d, a, {0}, {b}, N, accumulate, false, b_transposed, value_of<T>};                       \
      host::wgmma(mine, place);                                                                                           \
    }                                                                                                                     \
  };
#define TW_WGMMAS(N, H, P, Q, R, S, T, U, V) TW_WGMMA(f16, N) TW_WGMMA(bf16, N)
#define TW_WGMMA_BITS(N, H, P, Q, R)                                                                                      \
  template <> struct Wgmma<BitWord, N> {                                                                                  \
    static void run(int (&d)[N / 2], unsigned long long a, unsigned long long b, bool accumulate, Place place) {          \
      host::WgmmaOperands mine = {d, nullptr, {a}, {b}, N, accumulate, false, false, nullptr};                            \
      host::wgmma(mine, place);                                                                                           \
    }                                                                                                                     \
  };

inline void wgmma_fence(Place place = Place::here()) { host::wgmma_fence(place); }
inline void wgmma_commit(Place place = Place::here()) { host::wgmma_commit(place); }
template <int left> void wgmma_wait(Place place = Place::here()) { host::wgmma_wait(left, place); }
template <class T, int count> void hold(T (&)[count]) {}
template <int registers> void more_registers(Place place = Place::here()) {
  static_assert(registers >= 24 && registers <= 256 && registers % 8 == 0, "a multiple of 8 from 24 to 256");
  host::wait_for_warp(~0u, host::resolve_whole_warp, "setmaxnreg", place);
}
template <int registers> void fewer_registers(Place place = Place::here()) { more_registers<registers>(place); }
#else
// Operands 0 to H - 1 are d (H is N / 2); those behind have the numbers P, Q, ..
#define TW_WGMMA(TYPE, N, H, P, Q, R, S, T)                                                                               \
  template <> struct Wgmma<TYPE, N> {                                                                                     \
    template <bool a_transposed, bool b_transposed>                                                                       \
    static __device__ __forceinline__ void run(float (&d)[N / 2], unsigned long long a, unsigned long long b,             \
                                               bool accumulate, Place) {                                                  \
      asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %" #R ", 0;\n"                                                       \
                   "wgmma.mma_async.sync.aligned.m64n" #N "k16.f32." #TYPE "." #TYPE                                      \
                   " {" TW_LIST_##H "}, %" #P ", %" #Q ", p, 1, 1, %" #S ", %" #T ";\n}\n"                                \
                   : TW_OUTPUTS_##H(0)                                                                                    \
                   : "l"(a), "l"(b), "r"((int)accumulate), "n"((int)a_transposed), "n"((int)b_transposed)                 \
                   : "memory");                                                                                           \
    }
#define TW_WGMMA_REGISTERS(TYPE, N, H, P, Q, R, S, T, U, V)                                                               \
    template <bool b_transposed>                                                                                          \
    static __device__ __forceinline__ void run_registers(float (&d)[N / 2], const unsigned* a, unsigned long long b,      \
                                                         bool accumulate, Place) {                                        \
      asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %" #U ", 0;\n"                                                       \
                   "wgmma.mma_async.sync.aligned.m64n" #N "k16.f32." #TYPE "." #TYPE                                      \
                   " {" TW_LIST_##H "}, {%" #P ", %" #Q ", %" #R ", %" #S "}, %" #T ", p, 1, 1, %" #V ";\n}\n"            \
                   : TW_OUTPUTS_##H(0)                                                                                    \
                   : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"((int)accumulate), "n"((int)b_transposed)     \
                   : "memory");                                                                                           \
    }                                                                                                                     \
  };
#define TW_WGMMAS(N, H, P, Q, R, S, T, U, V)                                                                              \
  TW_WGMMA(f16, N, H, P, Q, R, S, T)                                                                                      \
  TW_WGMMA_REGISTERS(f16, N, H, P, Q, R, S, T, U, V)                                                                      \
  TW_WGMMA(bf16, N, H, P, Q, R, S, T)                                                                                     \
  TW_WGMMA_REGISTERS(bf16, N, H, P, Q, R, S, T, U, V)
#define TW_WGMMA_BITS(N, H, P, Q, R)                                                                                      \
  template <> struct Wgmma<BitWord, N> {                                                                                  \
    static __device__ __forceinline__ void run(int (&d)[N / 2], unsigned long long a, unsigned long long b,               \
                                               bool accumulate, Place) {                                                  \
      asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %" #R ", 0;\n"                                                       \
                   "wgmma.mma_async.sync.aligned.m64n" #N "k256.s32.b1.b1.and.popc"                                       \
                   " {" TW_LIST_##H "}, %" #P ", %" #Q ", p;\n}\n"                                                        \
                   : TW_COUNTS_##H(0)                                                                                     \
                   : "l"(a), "l"(b), "r"((int)accumulate)                                                                 \
                   : "memory");                                                                                           \
    }                                                                                                                     \
  };
#define TW_COUNTS_4(i) "+r"(d[i]), "+r"(d[i + 1]), "+r"(d[i + 2]), "+r"(d[i + 3])
#define TW_COUNTS_16(i) TW_COUNTS_4(i), TW_COUNTS_4(i + 4), TW_COUNTS_4(i + 8), TW_COUNTS_4(i + 12)
#define TW_COUNTS_32(i) TW_COUNTS_16(i), TW_COUNTS_16(i + 16)
#define TW_COUNTS_64(i) TW_COUNTS_32(i), TW_COUNTS_32(i + 32)
#define TW_COUNTS_96(i) TW_COUNTS_64(i), TW_COUNTS_32(i + 64)
#define TW_COUNTS_128(i) TW_COUNTS_64(i), TW_COUNTS_64(i + 64)
#define TW_OUTPUTS_4(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define TW_OUTPUTS_8(i) TW_OUTPUTS_4(i), TW_OUTPUTS_4(i + 4)
#define TW_OUTPUTS_16(i) TW_OUTPUTS_8(i), TW_OUTPUTS_8(i + 8)
#define TW_OUTPUTS_32(i) TW_OUTPUTS_16(i), TW_OUTPUTS_16(i + 16)
#define TW_OUTPUTS_64(i) TW_OUTPUTS_32(i), TW_OUTPUTS_32(i + 32)
#define TW_OUTPUTS_128(i) TW_OUTPUTS_64(i), TW_OUTPUTS_64(i + 64)
#define TW_LIST_4 "%0, %1, %2, %3"
#define TW_LIST_8 TW_LIST_4 ", " "%4, %5, %6, %7"
#define TW_LIST_16 TW_LIST_8 ", " "%8, %9, %10, %11, %12, %13, %14, %15"
#define TW_LIST_32 TW_LIST_16 ", " "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define TW_LIST_64 TW_LIST_32 ", " "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47"       \
  ", %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define TW_LIST_96 TW_LIST_64 ", " "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79"       \
  ", %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95"
#define TW_LIST_128 TW_LIST_96                                                                                            \
  ", %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111"                          \
  ", %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"

// Before the first product, and between an access to d's or a's registers and the next product.
__device__ __forceinline__ void wgmma_fence(Place = {}) { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
// Makes a group of the products since the last one.
__device__ __forceinline__ void wgmma_commit(Place = {}) { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
// Until at most `left` groups are on their way.
template <int left> __device__ __forceinline__ void wgmma_wait(Place = {}) {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(left) : "memory");
}
// Keeps the compiler from moving accesses to d across this point: behind a wait.
template <int count> __device__ __forceinline__ void hold(float (&d)[count]) {
  TW_UNROLL
  for (int i = 0; i < count; ++i) asm volatile("" : "+f"(d[i])::"memory");
}
template <int count> __device__ __forceinline__ void hold(int (&d)[count]) {
  TW_UNROLL
  for (int i = 0; i < count; ++i) asm volatile("" : "+r"(d[i])::"memory");
}
// Changes how many registers each thread of the warpgroup has; all of its warps call it. The kernel has
// __launch_bounds__(threads, 1), which says how many there are at its start, or ptxas ignores this (C7508). One that asks for
// more than others gave up never goes on.
template <int registers> __device__ __forceinline__ void more_registers(Place = {}) {
  static_assert(registers >= 24 && registers <= 256 && registers % 8 == 0, "a multiple of 8 from 24 to 256");
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(registers));
}
template <int registers> __device__ __forceinline__ void fewer_registers(Place = {}) {
  static_assert(registers >= 24 && registers <= 256 && registers % 8 == 0, "a multiple of 8 from 24 to 256");
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(registers));
}
#endif
TW_WGMMAS(8, 4, 4, 5, 6, 7, 8, 9, 10)
TW_WGMMAS(16, 8, 8, 9, 10, 11, 12, 13, 14)
TW_WGMMAS(32, 16, 16, 17, 18, 19, 20, 21, 22)
TW_WGMMAS(64, 32, 32, 33, 34, 35, 36, 37, 38)
TW_WGMMAS(128, 64, 64, 65, 66, 67, 68, 69, 70)
TW_WGMMAS(256, 128, 128, 129, 130, 131, 132, 133, 134)
TW_WGMMA_BITS(64, 32, 32, 33, 34)
TW_WGMMA_BITS(128, 64, 64, 65, 66)
TW_WGMMA_BITS(192, 96, 96, 97, 98)
TW_WGMMA_BITS(256, 128, 128, 129, 130)
#undef TW_WGMMAS
#undef TW_WGMMA_BITS
#undef TW_WGMMA
#ifndef TILEWRIGHT_HOST
#undef TW_WGMMA_REGISTERS
#undef TW_OUTPUTS_4
#undef TW_LIST_4
#undef TW_OUTPUTS_8
#undef TW_LIST_8
#undef TW_OUTPUTS_16
#undef TW_LIST_16
#undef TW_OUTPUTS_32
#undef TW_LIST_32
#undef TW_OUTPUTS_64
#undef TW_LIST_64
#undef TW_OUTPUTS_128
#undef TW_LIST_96
#undef TW_LIST_128
#undef TW_COUNTS_4
#undef TW_COUNTS_16
#undef TW_COUNTS_32
#undef TW_COUNTS_64
#undef TW_COUNTS_96
#undef TW_COUNTS_128
#endif

}  // namespace arch
}  // namespace tw
