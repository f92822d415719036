// What each thread of a block knows of the others: vector clocks, counted in releases. A release ends a span of a thread's
// work; who has met it, directly or through others, knows all of that span.
// Runtime only: included by one translation unit.
#pragma once

#include <string.h>

namespace tw {
namespace host {

// What a barrier hands on from those who arrive to those who wait: spans known, and spans that a proxy fence covers.
class Clock {
 public:
  Clock() = default;
  Clock(const Clock&) = delete;
  ~Clock() { delete[] known; }
  void clear() {
    if (known != nullptr) memset(known, 0, 2 * slots_ * sizeof *known);
  }
  void provide(unsigned slots) {
    if (known != nullptr) return;
    slots_ = slots;
    known = new unsigned[2 * slots]();
    fenced = known + slots;
  }
  void swap(Clock& other) {
    exchange(known, other.known);
    exchange(fenced, other.fenced);
    exchange(slots_, other.slots_);
  }

  unsigned* known = nullptr;
  unsigned* fenced = nullptr;

 private:
  template <class T>
  static void exchange(T& a, T& b) {
    const T kept = a;
    a = b;
    b = kept;
  }
  unsigned slots_ = 0;
};

// Slots are the threads, and behind them the engines that land copies: one for each mbarrier.
class Clocks {
 public:
  static constexpr unsigned engines = 64;

  explicit Clocks(unsigned threads) : threads_(threads), slots_(threads + engines) {}
  Clocks(const Clocks&) = delete;
  ~Clocks() {
    delete[] memory_;
    delete[] state_;
  }

  bool watching() const { return watching_; }
  unsigned slots() const { return slots_; }
  unsigned engine(unsigned number) const { return threads_ + number % engines; }

  void start_block() { watching_ = false; }

  // From the first watched access on. What was ordered before orders nothing that is watched.
  void watch() {
    if (watching_) return;
    watching_ = true;
    if (memory_ == nullptr) {
      const size_t rows = 2 * (size_t)threads_ + 4;
      memory_ = new unsigned[rows * slots_];
      state_ = new Row[threads_];
      now_ = memory_, met_ = now_ + slots_, met_fenced_ = met_ + slots_, joined_ = met_fenced_ + slots_;
      known_ = joined_ + slots_, fenced_ = known_ + (size_t)threads_ * slots_;
    }
    for (unsigned s = 0; s < slots_; ++s) now_[s] = 1, met_[s] = met_fenced_[s] = 0;
    for (unsigned t = 0; t < threads_; ++t) state_[t] = {0, 0, 0, false};
    era_ = 1;
  }

  unsigned now(unsigned slot) const { return now_[slot]; }

  // Whether `thread` knows the span number `span` of `slot`.
  bool knows(unsigned thread, unsigned slot, unsigned span) const {
    if (slot == thread || met_[slot] >= span) return true;
    const Row& row = state_[thread];
    if (row.era != era_ || (!row.wide && slot / 32 != thread / 32)) return false;
    if (!row.wide && slot >= threads_) return false;
    return known_[(size_t)thread * slots_ + slot] >= span;
  }
  // Whether a proxy fence lies between that span and where `thread` stands.
  bool knows_fenced(unsigned thread, unsigned slot, unsigned span) const {
    if (met_fenced_[slot] >= span) return true;
    return state_[thread].fence_era == era_ && fenced_[(size_t)thread * slots_ + slot] >= span;
  }

  void fence(unsigned thread) {
    if (!watching_) return;
    unsigned* fenced = fenced_row(thread);
    const unsigned* known = wide_row(thread);
    for (unsigned s = 0; s < slots_; ++s) fenced[s] = largest(fenced[s], largest(known[s], met_[s]));
    fenced[thread] = now_[thread]++;
    state_[thread].meeting = 0;
  }

  // All threads of the block know of each other what there is to know.
  void meet_block() {
    if (!watching_) return;
    for (unsigned t = 0; t < threads_; ++t) {
      const Row& row = state_[t];
      if (row.fence_era == era_) raise(met_fenced_, fenced_ + (size_t)t * slots_);
      if (row.era == era_ && row.wide) raise(met_, known_ + (size_t)t * slots_);
    }
    for (unsigned t = 0; t < threads_; ++t) met_[t] = now_[t]++;
    era_ += 1;
  }

  void meet_warp(unsigned first, unsigned members) {
    if (!watching_) return;
    if (met_before(first, members)) {
      const unsigned* row = known_ + (size_t)(first + (unsigned)__builtin_ctz(members)) * slots_;
      const unsigned bytes = (min_slot(first + 32, threads_) - first) * (unsigned)sizeof *joined_;
      memcpy(joined_ + first, row + first, bytes);
      for_each(first, members, [&](unsigned t) { joined_[t] = now_[t]++; });
      for_each(first, members, [&](unsigned t) { memcpy(known_ + (size_t)t * slots_ + first, joined_ + first, bytes); });
      return note_meeting(first, members);
    }
    bool wide = false, fenced = false;
    for (unsigned lane = 0; lane < 32; ++lane) {
      if (!(members >> lane & 1)) continue;
      const Row& row = state_[first + lane];
      wide |= row.era == era_ && row.wide;
      fenced |= row.fence_era == era_;
    }
    const unsigned begin = wide ? 0 : first, end = wide ? slots_ : min_slot(first + 32, threads_);
    memset(joined_ + begin, 0, (end - begin) * sizeof *joined_);
    for_each(first, members, [&](unsigned t) {
      const unsigned* row = wide ? wide_row(t) : narrow_row(t);
      for (unsigned s = begin; s < end; ++s) joined_[s] = largest(joined_[s], row[s]);
    });
    for_each(first, members, [&](unsigned t) { joined_[t] = now_[t]++; });
    for_each(first, members, [&](unsigned t) {
      memcpy(known_ + (size_t)t * slots_ + begin, joined_ + begin, (end - begin) * sizeof *joined_);
    });
    note_meeting(first, members);
    if (!fenced) return;
    memset(joined_, 0, slots_ * sizeof *joined_);
    for_each(first, members, [&](unsigned t) { raise(joined_, fenced_row(t)); });
    for_each(first, members, [&](unsigned t) { memcpy(fenced_row(t), joined_, slots_ * sizeof *joined_); });
  }

  // `thread` hands what it knows to `clock`.
  void release(unsigned thread, Clock& clock) {
    if (!watching_) return;
    clock.provide(slots_);
    const Row& row = state_[thread];
    if (row.fence_era == era_) raise(clock.fenced, fenced_row(thread));
    if (row.era == era_ && row.wide) raise(clock.known, wide_row(thread));
    if (row.era == era_ && !row.wide) {
      const unsigned first = thread / 32 * 32, end = min_slot(first + 32, threads_);
      const unsigned* known = narrow_row(thread);
      for (unsigned s = first; s < end; ++s) clock.known[s] = largest(clock.known[s], known[s]);
    }
    clock.known[thread] = now_[thread]++;
  }
  // `thread` learns what `clock` holds.
  void acquire(unsigned thread, const Clock& clock) {
    if (!watching_ || clock.known == nullptr) return;
    raise(wide_row(thread), clock.known);
    raise(fenced_row(thread), clock.fenced);
    state_[thread].meeting = 0;
  }
  // The span in which an engine lands a copy, handed to `clock`.
  unsigned land(unsigned slot, Clock& clock) {
    clock.provide(slots_);
    return clock.known[slot] = now_[slot]++;
  }

 private:
  struct Row {
    unsigned era;        // the row holds something if this is the present era
    unsigned fence_era;  // as for the row of fenced spans
    unsigned meeting;    // of the warp, the last thing that changed the rows; 0 for something else
    bool wide;           // the row holds more than the thread's own warp
  };

  // Whether one meeting left the rows of these threads the same: then only their own spans are news. So it is from one product of a
  // warp to the next, where rows of a large block would be joined and copied whole each time.
  bool met_before(unsigned first, unsigned members) const {
    const unsigned meeting = state_[first + (unsigned)__builtin_ctz(members)].meeting;
    bool same = meeting != 0;
    for_each(first, members, [&](unsigned t) { same &= state_[t].meeting == meeting && state_[t].era == era_; });
    return same;
  }
  void note_meeting(unsigned first, unsigned members) {
    meetings_ += 1;
    for_each(first, members, [&](unsigned t) { state_[t].meeting = meetings_; });
  }

  static unsigned largest(unsigned a, unsigned b) { return a < b ? b : a; }
  static unsigned min_slot(unsigned a, unsigned b) { return a < b ? a : b; }
  void raise(unsigned* row, const unsigned* other) const {
    for (unsigned s = 0; s < slots_; ++s) row[s] = largest(row[s], other[s]);
  }
  template <class Do>
  static void for_each(unsigned first, unsigned members, Do act) {
    for (unsigned lane = 0; lane < 32; ++lane) {
      if (members >> lane & 1) act(first + lane);
    }
  }

  unsigned* narrow_row(unsigned thread) {
    unsigned* row = known_ + (size_t)thread * slots_;
    if (state_[thread].era == era_) return row;
    const unsigned first = thread / 32 * 32;
    memset(row + first, 0, (min_slot(first + 32, threads_) - first) * sizeof *row);
    state_[thread].era = era_;
    state_[thread].wide = false;
    return row;
  }
  unsigned* wide_row(unsigned thread) {
    unsigned* row = narrow_row(thread);
    if (state_[thread].wide) return row;
    const unsigned first = thread / 32 * 32, end = min_slot(first + 32, threads_);
    memset(row, 0, first * sizeof *row);
    memset(row + end, 0, (slots_ - end) * sizeof *row);
    state_[thread].wide = true;
    return row;
  }
  unsigned* fenced_row(unsigned thread) {
    unsigned* row = fenced_ + (size_t)thread * slots_;
    if (state_[thread].fence_era == era_) return row;
    memset(row, 0, slots_ * sizeof *row);
    state_[thread].fence_era = era_;
    return row;
  }

  const unsigned threads_;
  const unsigned slots_;
  bool watching_ = false;
  unsigned meetings_ = 0;
  unsigned era_ = 0;            // grows with each barrier of the block: older rows are covered by met_
  unsigned* memory_ = nullptr;
  unsigned* now_ = nullptr;         // the present span of each slot
  unsigned* met_ = nullptr;         // the last span of each slot that every thread knows
  unsigned* met_fenced_ = nullptr;
  unsigned* joined_ = nullptr;
  unsigned* known_ = nullptr;       // a row for each thread
  unsigned* fenced_ = nullptr;
  Row* state_ = nullptr;
};

}  // namespace host
}  // namespace tw
