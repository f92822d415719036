// Boxes of a tensor: the host model's tensor map, and the rows that a bulk copy of one box moves.
// Runtime only: included by one translation unit.
#pragma once

#include <stdio.h>
#include <string.h>

#include "tilewright/host/abi.h"

namespace tw {
namespace host {

struct BoxMap : BoxFields {
  static constexpr unsigned long long known_mark = 0x726f'736e'6574'7774ull;  // "twtensor"

  unsigned box_bytes() const {
    unsigned bytes = element;
    for (unsigned d = 0; d < rank; ++d) bytes *= box[d];
    return bytes;
  }

  // Whether the GPU would refuse a copy of the box at `at`, or write beyond the tensor, and why. NVIDIA's documents do not say so:
  // an H100 stops with an illegal instruction at the first two, and writes to the end of 16 bytes in the third.
  bool refuses(const int* at, bool stores, char* why, size_t bytes) const {
    const long long start = at[0] * (long long)element, end = (long long)sizes[0] * element;
    if (start % 16 != 0) {
      snprintf(why, bytes, "a box begins at a multiple of 16 bytes along the innermost dimension; this one begins at byte %lld", start);
      return true;
    }
    for (unsigned d = 0; stores && d < rank; ++d) {
      if (at[d] >= 0) continue;
      snprintf(why, bytes, "a box that is stored begins at coordinates of 0 and more; coordinate %u (innermost is 0) is %d", d, at[d]);
      return true;
    }
    if (stores && end % 16 != 0 && start <= end && start + (long long)box[0] * element > end) {
      snprintf(why, bytes, "rows are stored 16 bytes at a time, and those of the tensor have %lld: what follows a row would be "
               "overwritten; pad the tensor's innermost size", end);
      return true;
    }
    return false;
  }
};
static_assert(sizeof(BoxMap) == 128, "a tensor map has 128 bytes");

// Where a part of a box stands after the swizzle. `address` is one of shared memory, whose low ten bits are the GPU's.
inline size_t swizzled(size_t address, unsigned span) { return span == 0 ? address : address ^ (address >> 3 & (span - 16)); }

// Calls `move(shared, global, bytes)` for each part of at most 16 bytes of the box at `at`; `global` is null for what lies
// outside the tensor.
template <class Move>
void each_part(const BoxMap& map, const int* at, unsigned char* shared, Move move) {
  unsigned rows = 1;
  for (unsigned d = 1; d < map.rank; ++d) rows *= map.box[d];
  const unsigned row_bytes = map.box[0] * map.element;
  for (unsigned row = 0; row < rows; ++row) {
    unsigned rest = row;
    bool inside = true;
    unsigned char* start = (unsigned char*)map.base;
    for (unsigned d = 1; d < map.rank; ++d) {
      const long long place = at[d] + (long long)(rest % map.box[d]);
      rest /= map.box[d];
      inside = inside && place >= 0 && place < (long long)map.sizes[d];
      start += place * (long long)map.strides[d - 1];
    }
    for (unsigned byte = 0; byte < row_bytes; byte += 16) {
      unsigned char* part = (unsigned char*)swizzled((size_t)shared + row * row_bytes + byte, map.span);
      // Element by element, for the tensor may end within a part.
      for (unsigned e = 0; e < 16; e += map.element) {
        const long long place = at[0] + (long long)((byte + e) / map.element);
        const bool there = inside && place >= 0 && place < (long long)map.sizes[0];
        move(part + e, there ? start + place * (long long)map.element : nullptr, map.element);
      }
    }
  }
}

}  // namespace host
}  // namespace tw
