// ldmatrix and stmatrix: 8 x 8 matrices of 16-bit elements between shared memory and the registers of a warp. Lane l gives the
// address of row l % 8 of matrix l / 8, 16 bytes on a boundary of 16; lane l holds elements 2 (l % 4) and the next of row l / 4
// (transposed: of column l / 4), one register a matrix. Lanes beyond 8 a matrix give addresses that nobody reads.
#pragma once

#include "tilewright/arch/warp.cuh"

namespace tw {
namespace arch {

#ifdef TILEWRIGHT_HOST
struct MatrixRow {
  unsigned short row[8];
  unsigned* registers;
};
inline void check_row(const void* row, const char* operation, Place place) {
  const unsigned char *at = (const unsigned char*)row, *shared = host::shared_memory();
  char rule[160];
  if ((unsigned long long)at % 16 != 0) {
    __builtin_snprintf(rule, sizeof rule, "%s: a row's address is %llu bytes past a multiple of 16", operation,
                       (unsigned long long)at % 16);
    host::misuse(rule, place);
  }
  if (at < shared || at + 16 > shared + host::shared_bytes()) {
    __builtin_snprintf(rule, sizeof rule, "%s: a row at byte %lld of %llu bytes of shared memory", operation,
                       (long long)(at - shared), host::shared_bytes());
    host::misuse(rule, place);
  }
}
// Element `part` of lane `lane`'s register `matrix`, in the row that some lane deposited.
template <bool transposed> unsigned short& matrix_element(host::Thread* lanes, int matrix, int lane, int part) {
  const int own = lane / 4, pair = lane % 4 * 2 + part;
  const int row = transposed ? pair : own, column = transposed ? own : pair;
  return host::deposited<MatrixRow>(lanes, 8 * matrix + row).row[column];
}
template <int count, bool transposed> void resolve_ldmatrix(host::Thread* lanes, unsigned members) {
  host::need_whole_warp(lanes, members);
  for (int lane = 0; lane < 32; ++lane) {
    for (int matrix = 0; matrix < count; ++matrix) {
      const unsigned low = matrix_element<transposed>(lanes, matrix, lane, 0);
      const unsigned high = matrix_element<transposed>(lanes, matrix, lane, 1);
      host::deposited<MatrixRow>(lanes, lane).registers[matrix] = low | high << 16;
    }
  }
}
template <int count, bool transposed> void resolve_stmatrix(host::Thread* lanes, unsigned members) {
  host::need_whole_warp(lanes, members);
  for (int lane = 0; lane < 32; ++lane) {
    for (int matrix = 0; matrix < count; ++matrix) {
      const unsigned both = host::deposited<MatrixRow>(lanes, lane).registers[matrix];
      matrix_element<transposed>(lanes, matrix, lane, 0) = (unsigned short)both;
      matrix_element<transposed>(lanes, matrix, lane, 1) = (unsigned short)(both >> 16);
    }
  }
}

// Loads `count` (1, 2, 4) matrices, one register each.
template <int count, bool transposed> void ldmatrix(unsigned* registers, const void* row, Place place = Place::here()) {
  static_assert(count == 1 || count == 2 || count == 4, "ldmatrix moves 1, 2 or 4 matrices");
  MatrixRow mine = {{}, registers};
  if (lane() < 8 * count) {
    check_row(row, "ldmatrix", place);
    host::shared_read(row, row, 16, {place});
    __builtin_memcpy(mine.row, row, 16);
  }
  host::whole_warp(mine, resolve_ldmatrix<count, transposed>, "ldmatrix", place);
}
// Stores `count` (1, 2, 4) matrices, one register each (sm_90).
template <int count, bool transposed> void stmatrix(void* row, const unsigned* registers, Place place = Place::here()) {
  static_assert(count == 1 || count == 2 || count == 4, "stmatrix moves 1, 2 or 4 matrices");
  MatrixRow mine = {{}, const_cast<unsigned*>(registers)};
  if (lane() < 8 * count) check_row(row, "stmatrix", place);
  host::whole_warp(mine, resolve_stmatrix<count, transposed>, "stmatrix", place);
  if (lane() >= 8 * count) return;
  host::shared_write(row, row, 16, {place});
  __builtin_memcpy(row, mine.row, 16);
}
#else
#define TW_MATRIX(OPERATION, COUNT, TRANSPOSED) OPERATION ".sync.aligned.m8n8." COUNT TRANSPOSED ".shared.b16 "
#define TW_LDMATRIX(TRANSPOSED)                                                                                  \
  if constexpr (count == 1) {                                                                                    \
    asm volatile(TW_MATRIX("ldmatrix", "x1", TRANSPOSED) "{%0}, [%1];" : "=r"(r[0]) : "r"(at) : "memory");       \
  } else if constexpr (count == 2) {                                                                             \
    asm volatile(TW_MATRIX("ldmatrix", "x2", TRANSPOSED) "{%0, %1}, [%2];"                                       \
                 : "=r"(r[0]), "=r"(r[1]) : "r"(at) : "memory");                                                 \
  } else {                                                                                                       \
    asm volatile(TW_MATRIX("ldmatrix", "x4", TRANSPOSED) "{%0, %1, %2, %3}, [%4];"                               \
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(at) : "memory");                         \
  }
#define TW_STMATRIX(TRANSPOSED)                                                                                  \
  if constexpr (count == 1) {                                                                                    \
    asm volatile(TW_MATRIX("stmatrix", "x1", TRANSPOSED) "[%0], {%1};" ::"r"(at), "r"(r[0]) : "memory");         \
  } else if constexpr (count == 2) {                                                                             \
    asm volatile(TW_MATRIX("stmatrix", "x2", TRANSPOSED) "[%0], {%1, %2};"                                       \
                 ::"r"(at), "r"(r[0]), "r"(r[1]) : "memory");                                                    \
  } else {                                                                                                       \
    asm volatile(TW_MATRIX("stmatrix", "x4", TRANSPOSED) "[%0], {%1, %2, %3, %4};"                               \
                 ::"r"(at), "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]) : "memory");                              \
  }

// Loads `count` (1, 2, 4) matrices, one register each.
template <int count, bool transposed> __device__ __forceinline__ void ldmatrix(unsigned* r, const void* row, Place = {}) {
  static_assert(count == 1 || count == 2 || count == 4, "ldmatrix moves 1, 2 or 4 matrices");
  const unsigned at = shared_address(row);
  if constexpr (transposed) {
    TW_LDMATRIX(".trans")
  } else {
    TW_LDMATRIX("")
  }
}
// Stores `count` (1, 2, 4) matrices, one register each (sm_90).
template <int count, bool transposed> __device__ __forceinline__ void stmatrix(void* row, const unsigned* r, Place = {}) {
  static_assert(count == 1 || count == 2 || count == 4, "stmatrix moves 1, 2 or 4 matrices");
  const unsigned at = shared_address(row);
  if constexpr (transposed) {
    TW_STMATRIX(".trans")
  } else {
    TW_STMATRIX("")
  }
}
#undef TW_STMATRIX
#undef TW_LDMATRIX
#undef TW_MATRIX
#endif

}  // namespace arch
}  // namespace tw
