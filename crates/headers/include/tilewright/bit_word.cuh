// Bits as tensor cores multiply them: 32 elements of 0 and 1 in a register, the first in the lowest bit.
#pragma once

#include "tilewright/prelude.cuh"

namespace tw {

// The element type of operands whose products are counts of the places where both have a 1. Accumulators are int.
struct BitWord {
  unsigned bits;
};

}  // namespace tw
