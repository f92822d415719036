// Which line of the kernel calls a primitive: what the host model's messages name.
#pragma once

#include "tilewright/prelude.cuh"

namespace tw {

// As the last, defaulted argument `Place place = Place::here()` it is the caller's line, and is handed down from there.
#ifdef TILEWRIGHT_HOST
using Place = host::Place;
#else
struct Place {
  static TW_DEVICE constexpr Place here() { return {}; }
};
#endif

}  // namespace tw
