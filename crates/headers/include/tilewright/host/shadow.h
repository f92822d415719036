// What the host model is told of each access to shared memory through a typed view or a primitive of arch/. It keeps a
// shadow of the block's shared memory, and ends the launch at a race, at a read of what nothing has written, at an access
// to where a copy is in flight, at one out of bounds. Defined by the runtime.
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

// Generic: by the thread itself. Async: by the engines behind bulk stores and warpgroup products, which see what a thread
// wrote only past a fence_proxy_async.
enum class Access : unsigned char { Read, Write, AsyncRead };

void watch_shared(const void* address, unsigned bytes, Access access, const Site& site);

// Whether `base` lies in the block's shared memory; its end counts, for views that begin there.
inline bool is_shared(const void* base) {
  const Block& block = *current->block;
  return (size_t)((const unsigned char*)base - block.shared) <= block.shared_bytes;
}

// `base` says which memory is meant: nothing is recorded unless it lies in the block's shared memory.
inline void shared_read(const void* base, const void* address, unsigned bytes, const Site& site) {
  if (is_shared(base)) watch_shared(address, bytes, Access::Read, site);
}
inline void shared_write(const void* base, const void* address, unsigned bytes, const Site& site) {
  if (is_shared(base)) watch_shared(address, bytes, Access::Write, site);
}
inline void shared_read_async(const void* base, const void* address, unsigned bytes, const Site& site) {
  if (is_shared(base)) watch_shared(address, bytes, Access::AsyncRead, site);
}

}  // namespace host
}  // namespace tw
