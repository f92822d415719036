// How messages name blocks, threads and places, and how a broken rule ends the launch.
// Runtime only: included by one translation unit.
#pragma once

#include "tilewright/host/launch.h"

namespace tw {
namespace host {

// How messages name a block.
struct BlockName {
  explicit BlockName(const Block& block) {
    const uint3& i = block.index;
    snprintf(text, sizeof text, "block (%u, %u, %u)", i.x, i.y, i.z);
  }
  char text[64];
};

// How messages name a thread.
struct ThreadName {
  explicit ThreadName(const uint3& i) { snprintf(text, sizeof text, "thread (%u, %u, %u)", i.x, i.y, i.z); }
  ThreadName(const Block& block, unsigned linear) {
    const dim3& side = block.threads_per_side;
    snprintf(text, sizeof text, "thread (%u, %u, %u)", linear % side.x, linear / side.x % side.y, linear / side.x / side.y);
  }
  char text[64];
};

// How messages name a thread that waits.
struct Waiting {
  explicit Waiting(const Thread& thread) {
    snprintf(text, sizeof text, "%s waits in %s at %s:%d", ThreadName(thread.index).text, thread.operation,
             thread.place.file, thread.place.line);
  }
  char text[320];
};

// Ends the launch with what `thread` did wrong at `place`. Returns: whoever called from a thread stops it.
__attribute__((format(printf, 4, 5))) inline void accuse(Launch& launch, const Thread& thread, Place place,
                                                         const char* format, ...) {
  char rule[800];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(rule, sizeof rule, format, arguments);
  va_end(arguments);
  launch.fail(Outcome::Misuse, "%s, %s, %s:%d: %s", BlockName(*thread.block).text, ThreadName(thread.index).text,
              place.file, place.line, rule);
}

}  // namespace host
}  // namespace tw
