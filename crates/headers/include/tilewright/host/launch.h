// One launch: what was asked for, the order of blocks and threads, the first failure.
// Runtime only: included by one translation unit.
#pragma once

#include <stdarg.h>
#include <stdio.h>

#include "tilewright/host/abi.h"
#include "tilewright/host/thread.h"

namespace tw {
namespace host {

// SplitMix64.
class Random {
 public:
  explicit Random(unsigned long long seed) : state_(seed) {}
  unsigned long long next() {
    unsigned long long z = state_ += 0x9e37'79b9'7f4a'7c15ull;
    z = (z ^ z >> 30) * 0xbf58'476d'1ce4'e5b9ull;
    z = (z ^ z >> 27) * 0x94d0'49bb'1331'11ebull;
    return z ^ z >> 31;
  }
  // One of 0..bound; the bias is of no matter here.
  unsigned below(unsigned bound) { return (unsigned)((next() >> 32) * bound >> 32); }

 private:
  unsigned long long state_;
};

class Launch {
 public:
  // `parameter`: the request's bytes, aligned.
  Launch(const Kernel& kernel, const Request& request, const void* parameter)
      : kernel(kernel), request(request), parameter(parameter) {
    blocks = 1ull * request.grid[0] * request.grid[1] * request.grid[2];
    threads = request.block[0] * request.block[1] * request.block[2];
    Random random(request.seed);
    offset_ = random.next() % blocks;
    stride_ = random.next() % blocks;
    while (common_divisor(stride_, blocks) != 1) stride_ = (stride_ + 1) % blocks;
  }

  // The next block to run, as a number; false when none is left or the launch has failed.
  bool take(unsigned long long& number) {
    if (failed()) return false;
    const unsigned long long rank = __atomic_fetch_add(&next_, 1, __ATOMIC_RELAXED);
    if (rank >= blocks) return false;
    number = rank;
    if (request.order == Order::Backward) number = blocks - 1 - rank;
    if (request.order == Order::Shuffled) {
      number = (unsigned long long)(((unsigned __int128)rank * stride_ + offset_) % blocks);
    }
    return true;
  }
  bool failed() const { return __atomic_load_n(&outcome_, __ATOMIC_RELAXED) != 0; }
  Outcome outcome() const { return (Outcome)__atomic_load_n(&outcome_, __ATOMIC_ACQUIRE); }

  // Keeps the first failure, drops later ones.
  __attribute__((format(printf, 3, 4))) void fail(Outcome outcome, const char* format, ...) {
    int expected = 0;
    const int wanted = (int)outcome;
    if (!__atomic_compare_exchange_n(&outcome_, &expected, wanted, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(request.message, request.message_bytes, format, arguments);
    va_end(arguments);
  }

  const Kernel& kernel;
  const Request& request;
  const void* parameter;
  unsigned long long blocks;
  unsigned threads;  // of one block

 private:
  static unsigned long long common_divisor(unsigned long long a, unsigned long long b) {
    while (b != 0) {
      const unsigned long long rest = a % b;
      a = b;
      b = rest;
    }
    return a;
  }

  unsigned long long next_ = 0;
  unsigned long long offset_;
  unsigned long long stride_;
  int outcome_ = 0;
};

}  // namespace host
}  // namespace tw
