// What the host model is told of each access to shared memory through a typed view or a primitive of arch/.
#pragma once

#include "tilewright/host/thread.h"

namespace tw {
namespace host {

// Where an access stands in the kernel: its line, and the tensor's name and coordinate if it goes through a typed view.
struct Site {
  Place place;
  const char* tensor = nullptr;                                             // null where it has no name
  void (*describe)(const void* at, char* text, unsigned long bytes) = nullptr;  // writes the coordinate `at` as text
  const void* at = nullptr;
};

// `base` says which memory is meant: nothing is recorded unless it lies in the block's shared memory.
inline void shared_read(const void* base, const void* address, unsigned bytes, const Site& site) {
  (void)base, (void)address, (void)bytes, (void)site;
}
inline void shared_write(const void* base, const void* address, unsigned bytes, const Site& site) {
  (void)base, (void)address, (void)bytes, (void)site;
}

}  // namespace host
}  // namespace tw
