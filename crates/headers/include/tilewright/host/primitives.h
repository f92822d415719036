// What kernels call of shadow.h and asynchronous.h, handed to the block that runs.
// Runtime only: included by one translation unit.
#pragma once

#include "tilewright/host/asynchronous.h"
#include "tilewright/host/block.h"

namespace tw {
namespace host {

// Stops the thread if what it did has ended the launch.
inline void go_on() {
  if (scheduler().failed()) stop();
}

inline unsigned mbarrier_at(const void* address, Place place) {
  const unsigned number = scheduler().barriers.find(*current, address, place);
  if (number == Barriers::none) stop();
  return number;
}

inline bool mbarrier_passed(unsigned number, unsigned parity, const char* operation, Place place) {
  Thread& self = *current;
  if (parity > 1) misuse("an mbarrier's phase has the parity 0 or 1", place);
  self.operation = operation;
  self.place = place;
  self.object = number;
  self.parity = parity;
  return scheduler().barriers.passed(self, number, parity);
}

void watch_shared(const void* address, unsigned bytes, Access access, const Site& site) {
  if (!scheduler().shadow.access(*current, address, bytes, access, site)) stop();
}

void meet_at_fence() { scheduler().shadow.meet_at_fence(*current); }
void meet_at_atomic() { scheduler().shadow.meet_at_atomic(*current); }

void copy_async(void* to, const void* from, unsigned bytes, unsigned valid, Place place) {
  scheduler().copies.begin(*current, to, from, bytes, valid, place);
  go_on();
}
void commit_copies() { scheduler().copies.commit(*current); }
void wait_for_copies(unsigned left) { scheduler().copies.wait(*current, left); }
void wait_for_all_copies() { scheduler().copies.wait_all(*current); }

void mbarrier_init(void* barrier, unsigned count, Place place) {
  scheduler().barriers.init(*current, barrier, count, place);
  go_on();
}
void mbarrier_invalidate(void* barrier, Place place) { scheduler().barriers.invalidate(mbarrier_at(barrier, place)); }
void mbarrier_arrive(void* barrier, unsigned count, unsigned expected, Place place) {
  const unsigned number = mbarrier_at(barrier, place);
  Barriers& barriers = scheduler().barriers;
  if (!barriers.expect(*current, number, expected, place)) stop();
  if (count != 0 && !barriers.arrive(*current, number, count, place)) stop();
}
void mbarrier_arrive_after_copies(void* barrier, Place place) {
  scheduler().copies.arrive_after(*current, mbarrier_at(barrier, place), place);
}
bool mbarrier_test(void* barrier, unsigned parity, Place place) {
  const unsigned number = mbarrier_at(barrier, place);
  current->testing = !mbarrier_passed(number, parity, "mbarrier_test", place);
  if (!current->testing) return true;
  yield();
  current->testing = !mbarrier_passed(number, parity, "mbarrier_test", place);
  return !current->testing;
}
void mbarrier_wait(void* barrier, unsigned parity, Place place) {
  const unsigned number = mbarrier_at(barrier, place);
  // A phase later the parity is the old one again: who comes too late waits on, as on the GPU.
  while (!mbarrier_passed(number, parity, "mbarrier_wait", place)) {
    current->state = State::AtMbarrier;
    scheduler().suspend();
  }
}
void named_barrier(unsigned id, unsigned count, bool waits, Place place) {
  Thread& self = *current;
  self.operation = "named_barrier_sync";
  self.place = place;
  self.object = id;
  if (waits) self.state = State::AtNamedBarrier;
  if (!scheduler().barriers.arrive_named(self, id, count, place)) {
    self.state = State::Ready;
    stop();
  }
  if (waits) scheduler().suspend();
}
void fence_barrier_init() { scheduler().barriers.fence(*current); }
void fence_proxy_async() {
  scheduler().barriers.fence(*current);
  scheduler().shadow.clocks.fence(current->linear);
}

void bulk_load(void* to, const void* from, unsigned bytes, void* barrier, Place place) {
  scheduler().copies.load(*current, to, from, bytes, mbarrier_at(barrier, place), place);
  go_on();
}
void box_load(void* to, const void* map, const int* at, unsigned rank, void* barrier, Place place) {
  scheduler().copies.load_box(*current, to, map, at, rank, mbarrier_at(barrier, place), place);
  go_on();
}
void bulk_store(void* to, const void* from, unsigned bytes, Place place) {
  scheduler().copies.store(*current, to, from, bytes, place);
  go_on();
}
void box_store(const void* map, const int* at, unsigned rank, const void* from, Place place) {
  scheduler().copies.store_box(*current, map, at, rank, from, place);
  go_on();
}
void commit_stores() { scheduler().copies.commit_stores(*current); }
void wait_for_stores(unsigned left, bool read_only) {
  scheduler().copies.wait_for_stores(*current, left, read_only);
}

}  // namespace host
}  // namespace tw
