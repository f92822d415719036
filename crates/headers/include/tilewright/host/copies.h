// Asynchronous copies under way: those of a thread land when it waits for them, bulk loads when no thread can go on without,
// bulk stores when their thread waits or the block ends. Nothing lands earlier, so that what depends on luck is seen.
// Runtime only: included by one translation unit.
#pragma once

#include "tilewright/host/boxes.h"
#include "tilewright/host/mbarriers.h"

namespace tw {
namespace host {

class Copies {
 public:
  Copies(Launch& launch, Block& block, Shadow& shadow, Barriers& barriers, Thread* threads, unsigned count)
      : launch_(launch), block_(block), shadow_(shadow), barriers_(barriers), threads_(threads), count_(count) {}
  Copies(const Copies&) = delete;
  ~Copies() {
    forget();
    delete[] all_;
    delete[] groups_;
  }

  void start_block() {
    if (used_ != 0) forget();
  }

  // ---- copies of a thread ----

  void begin(const Thread& self, void* to, const void* from, unsigned bytes, unsigned valid, Place place) {
    if (valid > bytes) return accuse(launch_, self, place, "%u valid bytes of a copy of %u", valid, bytes);
    const bool aligned = (size_t)to % bytes == 0 && (valid == 0 || (size_t)from % bytes == 0);
    if (!aligned) {
      return accuse(launch_, self, place, "an asynchronous copy of %u bytes goes from and to multiples of %u; it goes from %p to "
                    "byte %lld of shared memory", bytes, bytes, from, (long long)offset(to));
    }
    Copy& copy = add(Kind::OfThread, self, place);
    copy.to = (unsigned char*)to;
    copy.from = (unsigned char*)from;
    copy.bytes = bytes;
    copy.valid = valid;
    append(groups_[self.linear], copy);
    shadow_.depart(self, copy.to, bytes, copy.number, place);
  }
  void commit(const Thread& self) { group(self).open += 1; }
  void wait(const Thread& self, unsigned left) {
    const unsigned open = group(self).open;
    if (left < open) land_of(self.linear, open - left, nullptr);
  }
  void wait_all(const Thread& self) { land_of(self.linear, ++group(self).open, nullptr); }
  void arrive_after(const Thread& self, unsigned barrier, Place place) {
    Copy& copy = add(Kind::Arrival, self, place);
    copy.barrier = barrier;
    copy.age = ages_;
  }

  // ---- bulk copies ----

  void load(const Thread& self, void* to, const void* from, unsigned bytes, unsigned barrier, Place place) {
    if (!bulk(self, to, from, bytes, place) || !announced(self, barrier, place)) return;
    Copy& copy = add(Kind::Load, self, place);
    copy.to = (unsigned char*)to;
    copy.from = (unsigned char*)from;
    copy.bytes = bytes;
    copy.barrier = barrier;
    shadow_.depart(self, copy.to, bytes, copy.number, place);
  }
  void load_box(const Thread& self, void* to, const void* map, const int* at, unsigned rank, unsigned barrier, Place place) {
    Copy* copy = box(Kind::Load, self, map, at, rank, to, place);
    if (copy == nullptr || !announced(self, barrier, place)) return;
    copy->barrier = barrier;
    shadow_.depart(self, copy->to, copy->bytes, copy->number, place);
  }
  void store(const Thread& self, void* to, const void* from, unsigned bytes, Place place) {
    if (!bulk(self, from, to, bytes, place)) return;
    Copy& copy = add(Kind::Store, self, place);
    copy.to = (unsigned char*)to;
    copy.from = (unsigned char*)from;
    copy.bytes = bytes;
    copy.group = groups_[self.linear].open_stores;
    shadow_.lend(self, copy.from, bytes, copy.number, place);
  }
  void store_box(const Thread& self, const void* map, const int* at, unsigned rank, const void* from, Place place) {
    Copy* copy = box(Kind::Store, self, map, at, rank, from, place);
    if (copy == nullptr) return;
    copy->group = groups_[self.linear].open_stores;
    bool good = true;
    each_part(copy->map, copy->at, copy->from, [&](unsigned char* shared, unsigned char* global, unsigned bytes) {
      if (global != nullptr && good) good = shadow_.lend(self, shared, bytes, copy->number, place);
    });
  }
  void commit_stores(const Thread& self) { group(self).open_stores += 1; }
  void wait_for_stores(const Thread& self, unsigned left, bool read_only) {
    const unsigned open = group(self).open_stores;
    for (unsigned i = 1; i < used_; ++i) {
      Copy& copy = all_[i];
      const bool mine = copy.kind == Kind::Store && copy.thread == self.linear;
      if (!mine || copy.group + left >= open) continue;
      read_source(self, copy);
      if (!read_only) write_destination(copy);
    }
  }

  // ---- by the scheduler ----

  // Lands one bulk load, or the arrival behind a thread's copies: the first, the last, or any. False if there is none.
  bool land_one(Order order, Random& random) {
    unsigned candidates = 0, chosen = 0;
    for (unsigned i = 1; i < used_; ++i) {
      if (all_[i].kind != Kind::Load && all_[i].kind != Kind::Arrival) continue;
      candidates += 1;
      const bool take = candidates == 1 || order == Order::Backward ||
                        (order == Order::Shuffled && random.below(candidates) == 0);
      if (take) chosen = i;
    }
    if (chosen == 0) return false;
    if (all_[chosen].kind == Kind::Arrival) chosen = first_arrival(all_[chosen].thread);
    const Copy copy = all_[chosen];
    release(all_[chosen]);
    if (copy.kind == Kind::Load) {
      move_in(copy);
      Clock& clock = barriers_.arriving(copy.barrier);
      const unsigned engine = shadow_.clocks.engine(copy.barrier);
      shadow_.land(copy.to, copy.bytes, copy.number, engine, shadow_.clocks.land(engine, clock), true);
      barriers_.complete(copy.barrier, copy.bytes);
    } else {
      land_of(copy.thread, 0, &copy);
      barriers_.count_down(thread(copy.thread), copy.barrier, 1, copy.place);
    }
    return true;
  }

  // Writes what bulk stores still have to write; a copy that nobody waited for ends the launch.
  void end_block() {
    for (unsigned i = 1; i < used_ && !launch_.failed(); ++i) {
      Copy& copy = all_[i];
      const char* advice = nullptr;
      if (copy.kind == Kind::Load) advice = "a thread waits for its mbarrier";
      if (copy.kind == Kind::Store && copy.staged == nullptr) {
        advice = "the thread that began it calls tw::arch::bulk_wait_read<0>()";
      }
      if (advice != nullptr) {
        return accuse(launch_, thread(copy.thread), copy.place, "this asynchronous copy is in flight when the block ends: before "
                      "that, %s", advice);
      }
      if (copy.kind == Kind::Store) write_destination(copy);
    }
  }

 private:
  enum class Kind : unsigned char { Landed, OfThread, Arrival, Load, Store };
  struct Copy {
    Kind kind;
    unsigned number;
    unsigned thread;
    Place place;
    unsigned char* to;
    unsigned char* from;
    unsigned bytes;
    unsigned valid;    // of a thread's copy: what is read; zeros follow
    unsigned group;
    unsigned next;     // the thread's next copy, or 0
    unsigned barrier;  // of a load or an arrival
    unsigned long long age;
    unsigned char* staged;  // of a store: what was read
    bool boxed;
    BoxMap map;
    int at[5];
  };
  struct Groups {
    unsigned open;         // the group that the thread's next copy joins
    unsigned first, last;  // its copies in flight, in their order; first is 0 if there are none
    unsigned open_stores;
  };

  long long offset(const void* address) const { return (long long)((size_t)address - (size_t)block_.shared); }
  Thread& thread(unsigned linear) const { return threads_[linear]; }
  Groups& group(const Thread& self) {
    if (groups_ == nullptr) groups_ = new Groups[count_]();
    return groups_[self.linear];
  }

  void append(Groups& groups, Copy& copy) {
    copy.group = groups.open;
    (groups.first == 0 ? groups.first : all_[groups.last].next) = copy.number;
    groups.last = copy.number;
  }
  // A new entry, in the place of one that has landed where its number is free again.
  Copy& add(Kind kind, const Thread& self, Place place) {
    group(self);
    while (free_ < used_ && all_[free_].kind != Kind::Landed) free_ += 1;
    if (free_ >= room_) {
      const unsigned room = room_ * 2 + 256;
      Copy* more = new Copy[room];
      if (all_ != nullptr) memcpy(more, all_, used_ * sizeof *more);
      delete[] all_;
      all_ = more;
      room_ = room;
    }
    if (used_ == 0) used_ = 1, free_ = 1;  // 0 is no copy
    if (free_ >= used_) used_ = free_ + 1;
    Copy& copy = all_[free_];
    memset(&copy, 0, sizeof copy);
    copy.kind = kind;
    copy.number = free_++;
    copy.thread = self.linear;
    copy.place = place;
    copy.age = ++ages_;
    return copy;
  }
  void forget() {
    for (unsigned i = 1; i < used_; ++i) delete[] all_[i].staged;
    used_ = free_ = 0;
    ages_ = 0;
    if (groups_ != nullptr) memset(groups_, 0, count_ * sizeof *groups_);
  }

  // Lands a thread's copies: those of groups below `end`, or those before `arrival`.
  void land_of(unsigned linear, unsigned end, const Copy* arrival) {
    Groups& groups = groups_[linear];
    while (groups.first != 0) {
      Copy& copy = all_[groups.first];
      if (arrival == nullptr ? copy.group >= end : copy.age > arrival->age) return;
      memset(copy.to, 0, copy.bytes);
      if (copy.valid != 0) memcpy(copy.to, copy.from, copy.valid);
      unsigned slot = linear, span = shadow_.clocks.now(linear);
      if (arrival != nullptr) {
        slot = shadow_.clocks.engine(arrival->barrier);
        span = shadow_.clocks.land(slot, barriers_.arriving(arrival->barrier));
      }
      shadow_.land(copy.to, copy.bytes, copy.number, slot, span, false);
      groups.first = copy.next;
      release(copy);
    }
  }
  // The oldest arrival of a thread: one behind copies is behind those of the thread's earlier arrivals too.
  unsigned first_arrival(unsigned thread) const {
    unsigned first = 0;
    for (unsigned i = 1; i < used_; ++i) {
      const bool arrives = all_[i].kind == Kind::Arrival && all_[i].thread == thread;
      if (arrives && (first == 0 || all_[i].age < all_[first].age)) first = i;
    }
    return first;
  }
  void move_in(const Copy& copy) {
    if (!copy.boxed) {
      memcpy(copy.to, copy.from, copy.bytes);
      return;
    }
    each_part(copy.map, copy.at, copy.to, [](unsigned char* shared, unsigned char* global, unsigned bytes) {
      if (global != nullptr) memcpy(shared, global, bytes);
      if (global == nullptr) memset(shared, 0, bytes);
    });
  }
  void read_source(const Thread& self, Copy& copy) {
    if (copy.staged != nullptr) return;
    copy.staged = new unsigned char[copy.bytes];
    memcpy(copy.staged, copy.from, copy.bytes);
    if (!copy.boxed) return shadow_.give_back(self, copy.from, copy.bytes, copy.number);
    each_part(copy.map, copy.at, copy.from, [&](unsigned char* shared, unsigned char* global, unsigned bytes) {
      if (global != nullptr) shadow_.give_back(self, shared, bytes, copy.number);
    });
  }
  void write_destination(Copy& copy) {
    if (!copy.boxed) memcpy(copy.to, copy.staged, copy.bytes);
    if (copy.boxed) {
      each_part(copy.map, copy.at, copy.from, [&](unsigned char* shared, unsigned char* global, unsigned bytes) {
        if (global != nullptr) memcpy(global, copy.staged + (shared - copy.from), bytes);
      });
    }
    delete[] copy.staged;
    copy.staged = nullptr;
    release(copy);
  }
  void release(Copy& copy) {
    copy.kind = Kind::Landed;
    if (copy.number < free_) free_ = copy.number;
  }

  // ---- what the engines refuse ----

  bool bulk(const Thread& self, const void* shared, const void* global, unsigned bytes, Place place) {
    const bool good = bytes % 16 == 0 && offset(shared) % 16 == 0 && (size_t)global % 16 == 0;
    if (good) return true;
    accuse(launch_, self, place, "a bulk copy has multiples of 16 for its size and both addresses; it has %u bytes, byte %lld of "
           "shared memory, and %p", bytes, offset(shared), global);
    return false;
  }
  // Demands that the engines know of the mbarrier.
  bool announced(const Thread& self, unsigned number, Place place) {
    const Mbarrier& barrier = barriers_.at(number);
    if (barrier.fenced) return true;
    accuse(launch_, self, place, "the mbarrier was initialised at %s:%d without a fence: write tw::arch::fence_barrier_init() "
           "behind that, before the barrier", barrier.made_at.file, barrier.made_at.line);
    return false;
  }
  // An entry for a box; null if that ended the launch.
  Copy* box(Kind kind, const Thread& self, const void* address, const int* at, unsigned rank, const void* shared, Place place) {
    BoxMap map;
    memcpy(&map, address, sizeof map);
    if (map.mark != BoxMap::known_mark) {
      accuse(launch_, self, place, "this is no tensor map of the host model: fill it with TensorMap::host_bytes");
      return nullptr;
    }
    if (map.rank != rank) {
      accuse(launch_, self, place, "the tensor map has %u dimensions, the copy names %u coordinates", map.rank, rank);
      return nullptr;
    }
    if (map.base % 16 != 0 || offset(shared) % 128 != 0) {
      accuse(launch_, self, place, "a box lies at a multiple of 128 in shared memory, its tensor at one of 16; these lie at byte "
             "%lld and at %#llx", offset(shared), map.base);
      return nullptr;
    }
    char why[200];
    if (map.refuses(at, kind == Kind::Store, why, sizeof why)) {
      accuse(launch_, self, place, "%s", why);
      return nullptr;
    }
    Copy& copy = add(kind, self, place);
    copy.to = copy.from = (unsigned char*)shared;
    copy.bytes = map.box_bytes();
    copy.boxed = true;
    copy.map = map;
    memcpy(copy.at, at, rank * sizeof *at);
    return &copy;
  }

  Launch& launch_;
  Block& block_;
  Shadow& shadow_;
  Barriers& barriers_;
  Thread* threads_;
  const unsigned count_;
  Copy* all_ = nullptr;
  unsigned room_ = 0;
  unsigned used_ = 0;
  unsigned free_ = 0;  // no entry below it is free
  unsigned long long ages_ = 0;
  Groups* groups_ = nullptr;
};

}  // namespace host
}  // namespace tw
