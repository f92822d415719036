// Barriers that count arrivals and bytes (mbarriers), and barriers of a part of the block (named barriers).
// Runtime only: included by one translation unit.
#pragma once

#include "tilewright/host/cells.h"

namespace tw {
namespace host {

struct Mbarrier {
  unsigned offset;  // in shared memory
  bool live;
  bool fenced;  // the engines know of its initialisation
  unsigned count;
  long long pending;  // arrivals that the phase waits for
  long long bytes;    // bytes that it waits for
  unsigned phase;     // the number of phases that have ended
  Stamp made;
  Place made_at;
  Clock arrived;  // known to who arrived in the present phase
  Clock passed;   // known to who arrived in the last one
};

class Barriers {
 public:
  static constexpr unsigned most = 512;
  static constexpr unsigned named = 16;
  static constexpr unsigned none = ~0u;

  Barriers(Launch& launch, Block& block, Shadow& shadow, Thread* threads, unsigned count)
      : launch_(launch), block_(block), shadow_(shadow), threads_(threads), count_(count) {}
  Barriers(const Barriers&) = delete;
  ~Barriers() { delete[] all_; }

  void start_block() {
    used_ = 0;
    for (Named& barrier : named_) barrier.expected = barrier.arrived = 0;
  }

  // ---- mbarriers, by the thread that runs ----

  void init(const Thread& self, void* address, unsigned count, Place place) {
    if (count == 0 || count > most_arrivals) {
      return accuse(launch_, self, place, "an mbarrier counts 1 to %u arrivals, got %u", most_arrivals, count);
    }
    const size_t offset = (size_t)((unsigned char*)address - block_.shared);
    if (offset % 8 != 0 || offset + 8 > block_.shared_bytes) {
      return accuse(launch_, self, place, "an mbarrier is 8 bytes of shared memory at a multiple of 8, this one is at byte %lld "
                    "of %llu", (long long)offset, block_.shared_bytes);
    }
    shadow_.watch();
    unsigned number = 0;
    while (number < used_ && all_[number].offset != offset) number += 1;
    if (number == most) return accuse(launch_, self, place, "the host model has %u mbarriers a block", most);
    if (all_ == nullptr) all_ = new Mbarrier[most];
    Mbarrier& barrier = all_[number];
    if (number < used_ && barrier.live && mark(barrier) == marked(number)) {
      return accuse(launch_, self, place, "the mbarrier at byte %u is initialised already, at %s:%d: invalidate it first",
                    barrier.offset, barrier.made_at.file, barrier.made_at.line);
    }
    if (number == used_) used_ += 1;
    barrier.offset = (unsigned)offset;
    barrier.live = true;
    barrier.fenced = false;
    barrier.count = count;
    barrier.pending = count;
    barrier.bytes = 0;
    barrier.phase = 0;
    barrier.made = {shadow_.clocks.now(self.linear), (unsigned short)self.linear, 0};
    barrier.made_at = place;
    barrier.arrived.clear();
    barrier.passed.clear();
    const unsigned long long written = marked(number);
    memcpy(address, &written, sizeof written);
  }

  void invalidate(unsigned number) {
    all_[number].live = false;
    memset(block_.shared + all_[number].offset, 0xff, 8);
  }

  // The number of the mbarrier at this address, if `self` may use it; otherwise the launch has ended.
  unsigned find(const Thread& self, const void* address, Place place) {
    const size_t offset = (size_t)((const unsigned char*)address - block_.shared);
    unsigned number = 0;
    while (number < used_ && !(all_[number].live && all_[number].offset == offset)) number += 1;
    if (number == used_) {
      accuse(launch_, self, place, "no mbarrier has been initialised at byte %lld of shared memory: one thread calls "
             "tw::arch::mbarrier_init, fence_barrier_init and then all __syncthreads()", (long long)offset);
      return none;
    }
    const Mbarrier& barrier = all_[number];
    if (mark(barrier) != marked(number)) {
      accuse(launch_, self, place, "the mbarrier at byte %u, initialised at %s:%d, has been written over: keep its 8 bytes "
             "apart", barrier.offset, barrier.made_at.file, barrier.made_at.line);
      return none;
    }
    if (!shadow_.clocks.knows(self.linear, barrier.made.slot, barrier.made.span)) {
      accuse(launch_, self, place, "%s initialised this mbarrier at %s:%d, and nothing orders the two: write __syncthreads() "
             "between them", ThreadName(block_, barrier.made.slot).text, barrier.made_at.file, barrier.made_at.line);
      return none;
    }
    return number;
  }
  const Mbarrier& at(unsigned number) const { return all_[number]; }

  // False if that ended the launch.
  bool expect(const Thread& self, unsigned number, unsigned bytes, Place place) {
    Mbarrier& barrier = all_[number];
    barrier.bytes += bytes;
    if (barrier.bytes <= most_bytes) return true;
    accuse(launch_, self, place, "an mbarrier waits for %lld bytes at most, this one for %lld", most_bytes, barrier.bytes);
    return false;
  }

  // False if that ended the launch.
  bool arrive(const Thread& self, unsigned number, unsigned count, Place place) {
    shadow_.clocks.release(self.linear, all_[number].arrived);
    return count_down(self, number, count, place);
  }
  // An arrival that hands on nothing that `self` knows.
  bool count_down(const Thread& self, unsigned number, unsigned count, Place place) {
    Mbarrier& barrier = all_[number];
    if (barrier.pending < (long long)count) {
      accuse(launch_, self, place, "%u arrivals, but the phase waits for %lld of %u: initialise the mbarrier at %s:%d with as "
             "many as arrive", count, barrier.pending, barrier.count, barrier.made_at.file, barrier.made_at.line);
      return false;
    }
    barrier.pending -= count;
    settle(number);
    return true;
  }
  // Bytes that an engine has brought.
  void complete(unsigned number, unsigned bytes) {
    all_[number].bytes -= bytes;
    settle(number);
  }
  Clock& arriving(unsigned number) { return all_[number].arrived; }

  // Whether the last phase with this parity has ended; then `self` knows what its arrivals knew.
  bool passed(const Thread& self, unsigned number, unsigned parity) {
    const Mbarrier& barrier = all_[number];
    if ((barrier.phase & 1) == parity) return false;
    shadow_.clocks.acquire(self.linear, barrier.passed);
    return true;
  }

  // The engines know of what `self` knows to be initialised.
  void fence(const Thread& self) {
    for (unsigned i = 0; i < used_; ++i) {
      Mbarrier& barrier = all_[i];
      barrier.fenced |= shadow_.clocks.knows(self.linear, barrier.made.slot, barrier.made.span);
    }
  }

  // How messages say what the waiters of an mbarrier wait for.
  void describe(const Thread& waiting, char* text, size_t bytes) const {
    const Mbarrier& barrier = all_[waiting.object];
    const int used = snprintf(text, bytes, " for the phase of parity %u of the mbarrier at byte %u (%s:%d): %lld of %u arrivals "
                              "are missing", waiting.parity, barrier.offset, barrier.made_at.file, barrier.made_at.line,
                              barrier.pending, barrier.count);
    const size_t room = (size_t)used < bytes ? bytes - (size_t)used : 0;
    if (barrier.bytes > 0) snprintf(text + used, room, ", %lld bytes more are expected than came", barrier.bytes);
    if (barrier.bytes < 0) snprintf(text + used, room, ", %lld bytes more came than were expected", -barrier.bytes);
  }

  // ---- named barriers ----

  // An arrival of `self` among `expected` threads. False if that ended the launch; `self` waits if its state says so.
  bool arrive_named(Thread& self, unsigned id, unsigned expected, Place place) {
    if (id == 0 || id >= named) {
      accuse(launch_, self, place, "a named barrier is one of 1 to %u (0 is __syncthreads), got %u", named - 1, id);
      return false;
    }
    const unsigned whole = (count_ + 31) / 32 * 32;
    if (expected == 0 || expected % 32 != 0 || expected > whole) {
      accuse(launch_, self, place, "a named barrier counts whole warps: multiples of 32 up to %u, got %u", whole, expected);
      return false;
    }
    Named& barrier = named_[id];
    if (barrier.arrived > 0 && barrier.expected != expected) {
      accuse(launch_, self, place, "barrier %u counts %u threads here and %u at %s:%d", id, expected, barrier.expected,
             barrier.place.file, barrier.place.line);
      return false;
    }
    if (barrier.arrived == 0) barrier.clock.clear();
    barrier.expected = expected;
    barrier.place = place;
    // A warp that the block does not fill counts as a whole one.
    const unsigned first = self.linear / 32 * 32, lanes = count_ - first < 32 ? count_ - first : 32;
    barrier.arrived += self.linear == first ? 33 - lanes : 1;
    shadow_.clocks.release(self.linear, barrier.clock);
    if (barrier.arrived < expected) return true;
    if (barrier.arrived > expected) {
      accuse(launch_, self, place, "barrier %u counts %u threads, %u have arrived", id, expected, barrier.arrived);
      return false;
    }
    barrier.arrived = 0;
    for (unsigned i = 0; i < count_; ++i) {
      Thread& thread = threads_[i];
      if (thread.state != State::AtNamedBarrier || thread.object != id) continue;
      thread.state = State::Ready;
      shadow_.clocks.acquire(i, barrier.clock);
    }
    return true;
  }
  void describe_named(const Thread& waiting, char* text, size_t bytes) const {
    const Named& barrier = named_[waiting.object];
    snprintf(text, bytes, " for barrier %u: %u of %u threads have arrived", waiting.object, barrier.arrived, barrier.expected);
  }

 private:
  static constexpr unsigned most_arrivals = (1u << 20) - 1;
  static constexpr long long most_bytes = (1 << 20) - 1;

  struct Named {
    unsigned expected = 0;
    unsigned arrived = 0;
    Place place = {"", 0};
    Clock clock;
  };

  // What stands in shared memory in an mbarrier's place, so that writing over it is seen.
  static unsigned long long marked(unsigned number) { return 0x6d62'6172'7269'0000ull | number; }
  unsigned long long mark(const Mbarrier& barrier) const {
    unsigned long long found;
    memcpy(&found, block_.shared + barrier.offset, sizeof found);
    return found;
  }

  // Ends the phase if it waits for nothing more.
  void settle(unsigned number) {
    Mbarrier& barrier = all_[number];
    if (barrier.pending != 0 || barrier.bytes != 0) return;
    barrier.phase += 1;
    barrier.pending = barrier.count;
    barrier.passed.swap(barrier.arrived);
    barrier.arrived.clear();
    for (unsigned i = 0; i < count_; ++i) {
      Thread& thread = threads_[i];
      if (thread.state == State::AtMbarrier && thread.object == number) thread.state = State::Ready;
    }
  }

  Launch& launch_;
  Block& block_;
  Shadow& shadow_;
  Thread* threads_;
  const unsigned count_;
  Mbarrier* all_ = nullptr;
  unsigned used_ = 0;
  Named named_[named];
};

}  // namespace host
}  // namespace tw
