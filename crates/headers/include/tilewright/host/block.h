// Runs blocks: each CUDA thread is a fiber, resumed in the schedule's order until it waits or ends.
// Runtime only: included by one translation unit.
#pragma once

#include <string.h>

#include "tilewright/host/copies.h"
#include "tilewright/host/stacks.h"
#include "tilewright/host/stall.h"
#include "tilewright/host/wgmma.h"

namespace tw {
namespace host {

__thread Thread* current = nullptr;

[[noreturn]] inline void run_thread();

// The threads of one block after another, all on the calling OS thread.
class Scheduler final : public Block {
 public:
  explicit Scheduler(Launch& launch)
      : launch_(launch),
        count_(launch.threads),
        stacks_(count_),
        threads_(new Thread[count_]()),
        contexts_(new Context[count_]),
        stack_of_(new unsigned char*[count_]()),
        warps_(new Warp[(count_ + 31) / 32]),
        order_(new unsigned[count_]),
        shadow(launch, *this, count_),
        barriers(launch, *this, shadow, threads_, count_),
        copies(launch, *this, shadow, barriers, threads_, count_) {
    const Request& request = launch.request;
    threads_per_side = dim3(request.block[0], request.block[1], request.block[2]);
    blocks_per_side = dim3(request.grid[0], request.grid[1], request.grid[2]);
    shared_bytes = request.shared_bytes;
    memory_ = new unsigned char[shared_bytes + shared_alignment + guard_bytes];
    const size_t address = reinterpret_cast<size_t>(memory_);
    shared = memory_ + (shared_alignment - address % shared_alignment) % shared_alignment;
    memset(shared, 0xff, shared_bytes + guard_bytes);
#ifdef TW_HOST_ASAN
    __asan_poison_memory_region(shared + shared_bytes, guard_bytes);
#endif
    for (unsigned i = 0; i < count_; ++i) {
      const dim3& side = threads_per_side;
      threads_[i].index = {i % side.x, i / side.x % side.y, i / side.x / side.y};
      threads_[i].linear = i;
      threads_[i].block = this;
      order_[i] = request.order == Order::Backward ? count_ - 1 - i : i;
    }
  }
  Scheduler(const Scheduler&) = delete;
  ~Scheduler() {
#ifdef TW_HOST_ASAN
    __asan_unpoison_memory_region(shared + shared_bytes, guard_bytes);
#endif
    delete[] memory_;
    delete[] order_;
    delete[] warps_;
    delete[] stack_of_;
    delete[] contexts_;
    for (unsigned i = 0; i < count_; ++i) drop_products(threads_[i]);
    delete[] threads_;
  }

  // Runs blocks until none is left or the launch has failed.
  void run() {
    unsigned long long number;
    while (launch_.take(number)) {
      if (!stacks_.available()) return launch_.fail(Outcome::Misuse, "no memory for %u stacks", count_);
      run_block(number);
    }
  }

  // ---- called by the running thread ----

  void execute() {
    launch_.kernel.call(launch_.parameter);
    Thread& self = *current;
    need_no_products(self);
    self.state = State::Finished;
    finished_ += 1;
    Warp& warp = warps_[self.linear / 32];
    warp.live &= ~(1u << self.lane());
    Thread* lanes = &threads_[self.linear / 32 * 32];
    for (unsigned lane = 0; lane < 32; ++lane) {
      if (warp.waiting >> lane & 1) complete(warp, lanes, lanes[lane]);
    }
  }

  void arrive_at_barrier(bool predicate) {
    current->state = State::AtBarrier;
    waiting_ += 1;
    barrier_votes_ += predicate;
    if (waiting_ < count_) return;
    for (unsigned i = 1; i < count_; ++i) {
      if (same_place(threads_[0].place, threads_[i].place)) continue;
      return report_two_barriers(threads_[0], threads_[i]);
    }
    for (unsigned i = 0; i < count_; ++i) threads_[i].state = State::Ready;
    shadow.clocks.meet_block();
    votes = barrier_votes_;
    barrier_votes_ = 0;
    waiting_ = 0;
  }

  void arrive_at_collective(unsigned mask, Resolve resolve) {
    Thread& self = *current;
    const bool named = mask >> self.lane() & 1;
    if (!named) misuse("the mask of a warp collective names the lane that calls it", self.place);
    self.state = State::InCollective;
    self.mask = mask;
    self.resolve = resolve;
    Warp& warp = warps_[self.linear / 32];
    warp.waiting |= 1u << self.lane();
    complete(warp, &threads_[self.linear / 32 * 32], self);
  }

  void arrive_at_warpgroup(Resolve resolve) {
    Thread& self = *current;
    const unsigned first = self.linear / warpgroup_threads * warpgroup_threads;
    const unsigned end = first + warpgroup_threads < count_ ? first + warpgroup_threads : count_;
    unsigned arrived = 1, ended = first + warpgroup_threads - end;
    for (unsigned i = first; i < end; ++i) {
      const Thread& other = threads_[i];
      ended += other.state == State::Finished;
      arrived += &other != &self && other.state == State::InWarpgroup;
    }
    if (ended != 0) {
      char rule[160];
      snprintf(rule, sizeof rule, "%s needs all %u threads of the warpgroup; %u take no part", self.operation,
               warpgroup_threads, ended);
      misuse(rule, self.place);
    }
    self.state = State::InWarpgroup;
    self.resolve = resolve;
    if (arrived < warpgroup_threads) return;
    for (unsigned i = first; i < first + warpgroup_threads; ++i) {
      const Thread& other = threads_[i];
      const bool same = other.resolve == resolve && same_place(other.place, self.place);
      if (!same) return report_two_barriers(other, self);
    }
    resolve(&threads_[first], ~0u);
    for (unsigned i = first; i < first + warpgroup_threads; ++i) threads_[i].state = State::Ready;
  }

  // Notes that the running thread only looks whether it can go on; `test`: at an mbarrier.
  void look(bool test) {
    looks_ += 1;
    tests_ += test;
  }

  // Back to the scheduler; returns when the thread is resumed.
  void suspend() {
    Thread& self = *current;
#ifdef TW_HOST_ASAN
    void* fake = nullptr;
    __sanitizer_start_switch_fiber(self.state == State::Finished ? nullptr : &fake, home_bottom_, home_bytes_);
#endif
    Context::swap(contexts_[self.linear], home_);
#ifdef TW_HOST_ASAN
    __sanitizer_finish_switch_fiber(fake, &home_bottom_, &home_bytes_);
#endif
  }

  // On a fiber's first entry.
  void entered() {
#ifdef TW_HOST_ASAN
    __sanitizer_finish_switch_fiber(nullptr, &home_bottom_, &home_bytes_);
#endif
  }

  bool failed() const { return launch_.failed(); }

  void fail_at(const char* rule, Place place) {
    accuse(launch_, *current, place, "%s", rule);
  }

 private:
  static constexpr size_t shared_alignment = 1024;
  static constexpr size_t guard_bytes = 64;
  static constexpr unsigned warpgroup_threads = 128;

  struct Warp {
    unsigned live;     // lanes that exist and have not ended
    unsigned waiting;  // lanes in a collective
  };

  // Sweeps in which all threads that run test an mbarrier, and no copy is left to land, before that is a deadlock.
  static constexpr unsigned most_idle_sweeps = 100'000;

  void run_block(unsigned long long number) {
    start_block(number);
    Random random(launch_.request.seed + number);
    unsigned idle = 0;
    while (finished_ < count_) {
      if (launch_.request.order == Order::Shuffled) shuffle(random);
      unsigned resumed = 0;
      looks_ = tests_ = 0;
      for (unsigned i = 0; i < count_; ++i) {
        Thread& thread = threads_[order_[i]];
        if (thread.state != State::Ready) continue;
        resumed += 1;
        resume(thread);
        if (launch_.failed()) return;
      }
      const bool landed = resumed == looks_ && copies.land_one(launch_.request.order, random);
      if (launch_.failed()) return;
      idle = resumed > looks_ || landed ? 0 : idle + (tests_ > 0 && tests_ == looks_);
      const bool stuck = (resumed == 0 && !landed) || idle > most_idle_sweeps;
      if (stuck) return report_stall(launch_, *this, threads_, count_, barriers);
    }
    copies.end_block();
    check_guard();
  }

  void start_block(unsigned long long number) {
    const dim3& side = blocks_per_side;
    index = {(unsigned)(number % side.x), (unsigned)(number / side.x % side.y), (unsigned)(number / side.x / side.y)};
    memset(shared, 0xff, shared_bytes);
    waiting_ = barrier_votes_ = finished_ = votes = 0;
    shadow.start_block();
    barriers.start_block();
    copies.start_block();
    for (unsigned i = 0; i < count_; ++i) {
      threads_[i].state = State::Ready;
      threads_[i].started = threads_[i].testing = false;
      threads_[i].product_groups = 0;
      threads_[i].products_fenced = false;
      if (launch_.request.order == Order::Shuffled) order_[i] = i;  // the seed and the block alone decide
    }
    for (unsigned first = 0; first < count_; first += 32) {
      warps_[first / 32] = {count_ - first < 32 ? (1u << (count_ - first)) - 1 : ~0u, 0};
    }
  }

  void shuffle(Random& random) {
    for (unsigned i = count_; i > 1; --i) {
      const unsigned j = random.below(i), kept = order_[i - 1];
      order_[i - 1] = order_[j];
      order_[j] = kept;
    }
  }

  void resume(Thread& thread) {
    unsigned char*& stack = stack_of_[thread.linear];
    Context& context = contexts_[thread.linear];
    if (!thread.started) {
      thread.started = true;
      stack = stacks_.take();
      context.prepare(stack, stacks_.usable(stack), run_thread);
    }
    current = &thread;
#ifdef TW_HOST_ASAN
    void* fake = nullptr;
    __sanitizer_start_switch_fiber(&fake, stack, stack_bytes);
#endif
    Context::swap(home_, context);
#ifdef TW_HOST_ASAN
    __sanitizer_finish_switch_fiber(fake, nullptr, nullptr);
#endif
    if (thread.state == State::Finished && !stacks_.give_back(stack)) {
      launch_.fail(Outcome::Misuse, "a thread used more than %zu bytes of stack", stack_bytes);
    }
  }

  // Resolves the collective that `thread` waits in, if every lane that it waits for has arrived.
  void complete(Warp& warp, Thread* lanes, const Thread& thread) {
    const unsigned members = thread.mask & warp.live;
    if ((members & ~warp.waiting) != 0) return;
    for (unsigned lane = 0; lane < 32; ++lane) {
      if (!(members >> lane & 1)) continue;
      const Thread& other = lanes[lane];
      if (other.mask != thread.mask || other.resolve != thread.resolve) return report_two_collectives(thread, other);
    }
    thread.resolve(lanes, members);
    shadow.clocks.meet_warp(lanes[0].linear, members);
    warp.waiting &= ~members;
    for (unsigned lane = 0; lane < 32; ++lane) {
      if (members >> lane & 1) lanes[lane].state = State::Ready;
    }
  }

  static bool same_place(const Place& a, const Place& b) {
    return a.line == b.line && (a.file == b.file || strcmp(a.file, b.file) == 0);
  }

  void check_guard() {
#ifndef TW_HOST_ASAN
    for (size_t i = 0; i < guard_bytes; ++i) {
      if (shared[shared_bytes + i] == 0xff) continue;
      memset(shared + shared_bytes, 0xff, guard_bytes);
      return launch_.fail(Outcome::Misuse, "%s wrote byte %llu of %llu bytes of shared memory", BlockName(*this).text,
                          shared_bytes + i, shared_bytes);
    }
#endif
  }

  void report_two_barriers(const Thread& a, const Thread& b) {
    launch_.fail(Outcome::Deadlock, "%s: %s, %s", BlockName(*this).text, Waiting(a).text, Waiting(b).text);
  }

  void report_two_collectives(const Thread& a, const Thread& b) {
    launch_.fail(Outcome::Misuse, "%s, one warp: %s with mask %#x, %s with mask %#x", BlockName(*this).text,
                 Waiting(a).text, a.mask, Waiting(b).text, b.mask);
  }

  Launch& launch_;
  unsigned count_;
  Stacks stacks_;
  Thread* threads_;
  Context* contexts_;
  unsigned char** stack_of_;
  Warp* warps_;
  unsigned* order_;

 public:
  Shadow shadow;
  Barriers barriers;
  Copies copies;

 private:
  unsigned char* memory_;
  Context home_;
  const void* home_bottom_ = nullptr;
  size_t home_bytes_ = 0;
  unsigned waiting_ = 0;
  unsigned barrier_votes_ = 0;
  unsigned finished_ = 0;
  unsigned looks_ = 0;  // threads that only looked in this sweep
  unsigned tests_ = 0;
};

inline Scheduler& scheduler() { return static_cast<Scheduler&>(*current->block); }

// Where every fiber starts.
[[noreturn]] inline void run_thread() {
  scheduler().entered();
  scheduler().execute();
  scheduler().suspend();
  __builtin_trap();
}

void wait_for_block(bool predicate, const char* operation, Place place) {
  current->operation = operation;
  current->place = place;
  scheduler().arrive_at_barrier(predicate);
  scheduler().suspend();
}

void wait_for_warp(unsigned mask, Resolve resolve, const char* operation, Place place) {
  current->operation = operation;
  current->place = place;
  scheduler().arrive_at_collective(mask, resolve);
  scheduler().suspend();
}

void wait_for_warpgroup(Resolve resolve, const char* operation, Place place) {
  current->operation = operation;
  current->place = place;
  scheduler().arrive_at_warpgroup(resolve);
  scheduler().suspend();
}

void yield() {
  scheduler().look(current->testing);
  scheduler().suspend();
}

[[noreturn]] inline void stop() {
  scheduler().suspend();
  __builtin_trap();  // a failed launch resumes nobody
}

void misuse(const char* rule, Place place) {
  scheduler().fail_at(rule, place);
  stop();
}

}  // namespace host
}  // namespace tw
