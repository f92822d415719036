// mma.sync: a warp's product of a 16 x K and a K x 8 matrix, added to a 16 x 8 matrix of f32 (sm_80 and up).
// A lane holds K/4 elements of A per row pair, as registers of 32 bits: which ones, fragment.cuh says. The order of the sums is
// the GPU's own: compare with a tolerance.
#pragma once

#include "tilewright/arch/caller.cuh"
#include "tilewright/bit_word.cuh"
#include "tilewright/half.cuh"

namespace tw {
namespace arch {

// d = a b + c with elements of T (BitWord: words of 32 bits, whose common ones are counted, and c and d are int); `run(d, a, b, c, place)` is called by all 32 lanes. d may be c.
template <class T, int K> struct Mma {
  static_assert(sizeof(T) == 0, "mma: f16 and bf16 have K = 8 and 16, tf32 has K = 4 and 8, BitWord has K = 8");
};

#ifdef TILEWRIGHT_HOST
struct MmaOperands {
  float* d;
  const unsigned *a, *b;
  const float* c;
};
template <class T> float element(const unsigned* registers, int number) {
  T value;
  __builtin_memcpy(&value, (const unsigned char*)registers + number * sizeof(T), sizeof(T));
  return (float)value;
}
template <class T, int K> void resolve_mma(host::Thread* lanes, unsigned members) {
  constexpr int per_register = 4 / sizeof(T), row_registers = 4 * per_register;
  host::need_whole_warp(lanes, members);
  float a[16][K], b[K][8];
  for (int lane = 0; lane < 32; ++lane) {
    const MmaOperands& mine = host::deposited<MmaOperands>(lanes, lane);
    for (int k = lane % 4 * per_register; k < K; k += row_registers) {
      for (int part = 0; part < per_register; ++part) {
        const int block = k / row_registers;
        a[lane / 4][k + part] = element<T>(mine.a, 2 * block * per_register + part);
        a[lane / 4 + 8][k + part] = element<T>(mine.a, (2 * block + 1) * per_register + part);
        b[k + part][lane / 4] = element<T>(mine.b, block * per_register + part);
      }
    }
  }
  for (int lane = 0; lane < 32; ++lane) {
    const MmaOperands& mine = host::deposited<MmaOperands>(lanes, lane);
    for (int i = 0; i < 4; ++i) {
      const int row = lane / 4 + 8 * (i / 2), column = lane % 4 * 2 + i % 2;
      double sum = mine.c[i];
      for (int k = 0; k < K; ++k) sum += (double)a[row][k] * b[k][column];
      mine.d[i] = (float)sum;
    }
  }
}
struct BitMmaOperands {
  int* d;
  const unsigned *a, *b;
  const int* c;
};
inline void resolve_bit_mma(host::Thread* lanes, unsigned members) {
  host::need_whole_warp(lanes, members);
  unsigned a[16][8], b[8][8];
  for (int lane = 0; lane < 32; ++lane) {
    const BitMmaOperands& mine = host::deposited<BitMmaOperands>(lanes, lane);
    for (int i = 0; i < 4; ++i) a[lane / 4 + 8 * (i % 2)][lane % 4 + 4 * (i / 2)] = mine.a[i];
    for (int i = 0; i < 2; ++i) b[lane % 4 + 4 * i][lane / 4] = mine.b[i];
  }
  for (int lane = 0; lane < 32; ++lane) {
    const BitMmaOperands& mine = host::deposited<BitMmaOperands>(lanes, lane);
    for (int i = 0; i < 4; ++i) {
      int count = mine.c[i];
      for (int k = 0; k < 8; ++k) count += __builtin_popcount(a[lane / 4 + 8 * (i / 2)][k] & b[k][lane % 4 * 2 + i % 2]);
      mine.d[i] = count;
    }
  }
}
template <> struct Mma<BitWord, 8> {
  static void run(int* d, const unsigned* a, const unsigned* b, const int* c, Place place) {
    BitMmaOperands mine = {d, a, b, c};
    host::whole_warp(mine, resolve_bit_mma, "mma.sync", place);
  }
};
#define TW_MMA(T, K, TYPES, NAME)                                                                                \
  template <> struct Mma<T, K> {                                                                                 \
    static void run(float* d, const unsigned* a, const unsigned* b, const float* c, Place place) {               \
      MmaOperands mine = {d, a, b, c};                                                                           \
      host::whole_warp(mine, resolve_mma<T, K>, "mma.sync", place);                                              \
    }                                                                                                            \
  };
#else
#define TW_MMA_LONG(SHAPE, TYPES)                                                                                \
  asm volatile("mma.sync.aligned." SHAPE ".row.col." TYPES                                                                \
      " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"                                     \
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])                                                           \
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]),                                        \
        "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]));
#define TW_MMA_SHORT(SHAPE, TYPES)                                                                               \
  asm volatile("mma.sync.aligned." SHAPE ".row.col." TYPES " {%0, %1, %2, %3}, {%4, %5}, {%6}, {%7, %8, %9, %10};"        \
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])                                                           \
      : "r"(a[0]), "r"(a[1]), "r"(b[0]), "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]));
template <> struct Mma<BitWord, 8> {
  static __device__ __forceinline__ void run(int* d, const unsigned* a, const unsigned* b, const int* c, Place) {
    asm volatile("mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc"
                 " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"
                 : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]));
  }
};
#define TW_MMA(T, K, TYPES, NAME)                                                                                \
  template <> struct Mma<T, K> {                                                                                 \
    static __device__ __forceinline__ void run(float* d, const unsigned* a, const unsigned* b, const float* c,   \
                                               Place) {                                                          \
      NAME("m16n8k" #K, TYPES)                                                                                   \
    }                                                                                                            \
  };
#endif
TW_MMA(f16, 8, "f32.f16.f16.f32", TW_MMA_SHORT)
TW_MMA(f16, 16, "f32.f16.f16.f32", TW_MMA_LONG)
TW_MMA(bf16, 8, "f32.bf16.bf16.f32", TW_MMA_SHORT)
TW_MMA(bf16, 16, "f32.bf16.bf16.f32", TW_MMA_LONG)
TW_MMA(tf32, 4, "f32.tf32.tf32.f32", TW_MMA_SHORT)
TW_MMA(tf32, 8, "f32.tf32.tf32.f32", TW_MMA_LONG)
#undef TW_MMA
#ifndef TILEWRIGHT_HOST
#undef TW_MMA_LONG
#undef TW_MMA_SHORT
#endif

}  // namespace arch
}  // namespace tw
