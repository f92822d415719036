// The shadow of a block's shared memory: who wrote it, who read it, and which copy is on its way to it, in cells as fine as
// the accesses are.
// Runtime only: included by one translation unit.
#pragma once

#include <stdlib.h>

#include "tilewright/host/clocks.h"
#include "tilewright/host/report.h"
#include "tilewright/host/shadow.h"

namespace tw {
namespace host {

// Lines of the kernel, as small numbers.
class Places {
 public:
  unsigned short number(Place place) {
    if (count_ > 0 && same(places_[last_], place)) return last_;
    unsigned h = (unsigned)((size_t)place.file >> 4) * 31u + (unsigned)place.line;
    for (unsigned step = 0; step < slots; ++step, ++h) {
      unsigned short& slot = table_[h % slots];
      if (slot == 0 && count_ < most) places_[slot = (unsigned short)(1 + count_++)] = place;
      if (slot != 0 && same(places_[slot], place)) return last_ = slot;
      if (slot == 0) break;
    }
    return 0;
  }
  const Place& at(unsigned short number) const { return places_[number]; }

 private:
  static constexpr unsigned slots = 4096, most = 2048;
  static bool same(const Place& a, const Place& b) { return a.line == b.line && a.file == b.file; }
  Place places_[most + 1] = {{"an unknown place", 0}};
  unsigned short table_[slots] = {};
  unsigned count_ = 0;
  unsigned short last_ = 0;
};

// An access: by which slot of the clocks, in which of its spans, at which line. Span 0: there was none.
struct Stamp {
  unsigned span;
  unsigned short slot;
  unsigned short place;
  bool is(const Stamp& other) const { return span == other.span && slot == other.slot; }
};

struct Cell {
  unsigned block;  // of another block, the cell is empty
  unsigned copy;   // the number of the copy in flight here, or 0
  Stamp write;
  Stamp reads[2];  // the last reader, and the last one before it, of another warp if there is one
};

// A copy in flight, for messages.
struct Flight {
  unsigned thread;
  Place place;
  bool writes;  // shared memory is its destination
};

class Shadow {
 public:
  Shadow(Launch& launch, Block& block, unsigned threads)
      : clocks(threads), launch_(launch), block_(block), threads_(threads) {}
  Shadow(const Shadow&) = delete;
  ~Shadow() {
    free(cells_);
    delete places_;
    delete[] flights_;
  }

  void start_block() {
    clocks.start_block();
    block_.watched = false;
    fences_.clear();
    number_ += 1;
  }

  // Makes the shadow if there is none yet.
  void watch() {
    if (cells_ == nullptr) {
      // Pages of it that no access touches cost nothing.
      cells_ = static_cast<Cell*>(calloc(block_.shared_bytes + coarsest, sizeof(Cell)));
      places_ = new Places();
    }
    clocks.watch();
    block_.watched = true;
  }

  void meet_at_fence(const Thread& thread) {
    clocks.acquire(thread.linear, fences_);
    clocks.release(thread.linear, fences_);
  }
  void meet_at_atomic(const Thread& thread) { clocks.acquire(thread.linear, fences_); }

  // What `thread` does to these bytes now. False if that ended the launch.
  bool access(const Thread& thread, const void* address, unsigned bytes, Access access, const Site& site) {
    watch();
    const unsigned long long first = offset(address);
    const bool writes = access == Access::Write;
    if (first + bytes > block_.shared_bytes || first > block_.shared_bytes) {
      return accused(thread, site, access, (long long)first, bytes, "shared memory has %llu bytes: check the index, or "
                     "launch with more", block_.shared_bytes);
    }
    const Stamp stamp = {clocks.now(thread.linear), (unsigned short)thread.linear, places_->number(site.place)};
    Stamp known = {};  // what was asked last
    const Range range = cells_of(first, bytes);
    for (unsigned long long i = range.first; i < range.end; ++i) {
      Cell& cell = fresh(i);
      if (cell.copy != 0 && (writes || flights_[cell.copy].writes)) return in_flight(thread, site, access, first, bytes, cell);
      if (!cell.write.is(known) && cell.write.span != 0) {
        known = cell.write;
        if (!ordered(thread, known)) return race(thread, site, access, first, bytes, known, "wrote");
        if (access == Access::AsyncRead && !covered(thread, known)) return unfenced(thread, site, first, bytes, known);
      }
      if (writes) {
        for (const Stamp& read : cell.reads) {
          if (!ordered(thread, read)) return race(thread, site, access, first, bytes, read, "read");
        }
        cell.write = stamp;
        cell.reads[0] = cell.reads[1] = {};
      } else {
        // What something else than a watched access has changed is taken for written.
        if (cell.write.span == 0 && untouched(i) && !touched_elsewhere(range)) {
          return accused(thread, site, access, (long long)first, bytes,
                         "nothing in this block has written them yet: write them, and a barrier behind that, or "
                         "check the index");
        }
        note_read(cell, stamp);
      }
    }
    return true;
  }

  // A copy to these bytes begins: until it lands nobody may touch them. False if that ended the launch.
  bool depart(const Thread& thread, unsigned char* to, unsigned bytes, unsigned copy, Place place) {
    if (!access(thread, to, bytes, Access::Write, {place})) return false;
    fly(thread, copy, place, true);
    const Range range = cells_of(offset(to), bytes);
    for (unsigned long long i = range.first; i < range.end; ++i) cells_[i].copy = copy;
    memset(to, 0xff, bytes);
    return true;
  }
  // It has landed: the bytes were written in this span of `slot`, by the engine if `async`.
  void land(const unsigned char* to, unsigned bytes, unsigned copy, unsigned slot, unsigned span, bool async) {
    const Stamp stamp = {span, (unsigned short)(slot | (async ? by_engine : 0)), places_->number(flights_[copy].place)};
    const Range range = cells_of(offset(to), bytes);
    for (unsigned long long i = range.first; i < range.end; ++i) {
      cells_[i].copy = 0;
      cells_[i].write = stamp;
    }
  }

  // A copy from these bytes begins: until it has read them nobody may write them. False if that ended the launch.
  bool lend(const Thread& thread, const unsigned char* from, unsigned bytes, unsigned copy, Place place) {
    if (!access(thread, from, bytes, Access::AsyncRead, {place})) return false;
    fly(thread, copy, place, false);
    const Range range = cells_of(offset(from), bytes);
    for (unsigned long long i = range.first; i < range.end; ++i) cells_[i].copy = copy;
    return true;
  }
  // It has read them, as far as `thread` knows.
  void give_back(const Thread& thread, const unsigned char* from, unsigned bytes, unsigned copy) {
    const Stamp stamp = {clocks.now(thread.linear), (unsigned short)thread.linear,
                         places_->number(flights_[copy].place)};
    const Range range = cells_of(offset(from), bytes);
    for (unsigned long long i = range.first; i < range.end; ++i) {
      if (cells_[i].copy == copy) cells_[i].copy = 0;
      note_read(cells_[i], stamp);
    }
  }

  Clocks clocks;

 private:
  static constexpr unsigned coarsest = 16;
  static constexpr unsigned by_engine = 0x8000;  // in a stamp's slot: the write needs no fence before the engines read it

  struct Range {
    unsigned long long first, end;
  };

  Cell& fresh(unsigned long long at) {
    Cell& cell = cells_[at];
    if (cell.block != number_) cell = {number_, 0, {}, {}};
    return cell;
  }
  static unsigned slot_of(const Stamp& stamp) { return stamp.slot & (by_engine - 1u); }
  bool ordered(const Thread& thread, const Stamp& before) const {
    return before.span == 0 || clocks.knows(thread.linear, slot_of(before), before.span);
  }
  bool covered(const Thread& thread, const Stamp& write) const {
    return (write.slot & by_engine) || clocks.knows_fenced(thread.linear, slot_of(write), write.span);
  }
  unsigned long long offset(const void* address) const {
    return (size_t)((const unsigned char*)address - block_.shared);
  }
  // The cells of these bytes, made finer if they begin or end within one.
  Range cells_of(unsigned long long first, unsigned bytes) {
    while ((first | bytes) % grain_ != 0) refine();
    return {first / grain_, (first + bytes) / grain_};
  }
  void refine() {
    grain_ /= 2;
    for (unsigned long long i = block_.shared_bytes / grain_ / 2 + 1; i-- > 0;) cells_[2 * i] = cells_[2 * i + 1] = cells_[i];
  }
  // Whether a cell's memory is as when the block started.
  bool untouched(unsigned long long cell) const {
    for (unsigned long long i = cell * grain_; i < (cell + 1) * grain_; ++i) {
      if (block_.shared[i] != 0xff) return false;
    }
    return true;
  }
  bool touched_elsewhere(const Range& range) {
    for (unsigned long long i = range.first; i < range.end; ++i) {
      if (fresh(i).write.span == 0 && !untouched(i)) return true;
    }
    return false;
  }
  static void note_read(Cell& cell, const Stamp& stamp) {
    Stamp& last = cell.reads[0];
    if (last.span != 0 && last.slot != stamp.slot) {
      const bool other_warp = last.slot / 32 != stamp.slot / 32;
      if (other_warp || cell.reads[1].span == 0) cell.reads[1] = last;
    }
    last = stamp;
  }
  void fly(const Thread& thread, unsigned copy, Place place, bool writes) {
    if (copy >= flight_room_) {
      const unsigned room = copy * 2 + 64;
      Flight* more = new Flight[room];
      if (flights_ != nullptr) memcpy(more, flights_, flight_room_ * sizeof *more);
      delete[] flights_;
      flights_ = more;
      flight_room_ = room;
    }
    flights_[copy] = {thread.linear, place, writes};
  }

  // ---- messages ----

  static const char* verb(Access access) {
    return access == Access::Write ? "writes" : access == Access::Read ? "reads" : "lets an asynchronous operation read";
  }
  __attribute__((format(printf, 7, 8))) bool accused(const Thread& thread, const Site& site, Access access, long long first,
                                                     unsigned bytes, const char* format, ...) {
    char rule[400], where[160] = "", at[120] = "";
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(rule, sizeof rule, format, arguments);
    va_end(arguments);
    if (site.describe != nullptr) site.describe(site.at, at, sizeof at);
    if (site.tensor != nullptr) snprintf(where, sizeof where, "%s%s%s, ", site.tensor, at[0] ? " at " : "", at);
    if (site.tensor == nullptr && at[0]) snprintf(where, sizeof where, "%s, ", at);
    accuse(launch_, thread, site.place, "it %s %sbytes %lld to %lld of shared memory: %s", verb(access), where, first,
           first + bytes - 1, rule);
    return false;
  }
  bool race(const Thread& thread, const Site& site, Access access, unsigned long long first, unsigned bytes,
            const Stamp& other, const char* did) {
    const Place& place = places_->at(other.place);
    const unsigned slot = slot_of(other);
    const char* who = "an asynchronous copy";
    const ThreadName name(block_, slot);
    if (slot < threads_) who = name.text;
    const char* advice = slot >= threads_                           ? "wait for the copy's mbarrier"
                         : slot / 32 == thread.linear / 32 && slot != thread.linear ? "write __syncthreads() or __syncwarp()"
                                                                    : "write __syncthreads()";
    return accused(thread, site, access, (long long)first, bytes,
                   "%s %s them at %s:%d, and nothing orders the two: %s between them", who, did, place.file, place.line,
                   advice);
  }
  bool unfenced(const Thread& thread, const Site& site, unsigned long long first, unsigned bytes, const Stamp& write) {
    const Place& place = places_->at(write.place);
    return accused(thread, site, Access::AsyncRead, (long long)first, bytes,
                   "%s wrote them at %s:%d without a proxy fence: write tw::arch::fence_proxy_async() behind that write, "
                   "before the barrier",
                   ThreadName(block_, slot_of(write)).text, place.file, place.line);
  }
  bool in_flight(const Thread& thread, const Site& site, Access access, unsigned long long first, unsigned bytes,
                 const Cell& cell) {
    const Flight& flight = flights_[cell.copy];
    return accused(thread, site, access, (long long)first, bytes,
                   "the asynchronous copy that %s began at %s:%d is in flight %s them: wait for it first",
                   ThreadName(block_, flight.thread).text, flight.place.file, flight.place.line,
                   flight.writes ? "to" : "from");
  }

  Launch& launch_;
  Block& block_;
  const unsigned threads_;
  Clock fences_;  // what fences have handed on
  unsigned number_ = 0;
  unsigned grain_ = coarsest;  // bytes of a cell: a power of two
  Cell* cells_ = nullptr;
  Places* places_ = nullptr;
  Flight* flights_ = nullptr;
  unsigned flight_room_ = 0;
};

}  // namespace host
}  // namespace tw
