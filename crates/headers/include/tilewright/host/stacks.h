// Stacks for fibers, reserved by the block and kept between launches. Pages that no thread touches cost nothing.
// Runtime only: included by one translation unit.
#pragma once

#include <pthread.h>
#include <sys/mman.h>

#include "tilewright/host/fiber.h"

namespace tw {
namespace host {

constexpr size_t stack_bytes = 256 << 10;
constexpr unsigned long long stack_mark = 0x7469'6c65'7772'6967ull;

// As many stacks as a block has threads.
struct Arena {
  Arena* next;
  unsigned char* base;
  unsigned stacks;
};

class Arenas {
 public:
  ~Arenas() {
    while (Arena* arena = free_) {
      free_ = arena->next;
      munmap(arena->base, arena->stacks * stack_bytes);
      delete arena;
    }
  }

  // An arena of at least so many stacks; null when the system gives no more memory.
  Arena* acquire(unsigned stacks) {
    if (Arena* kept = take(stacks)) return kept;
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    void* base = mmap(nullptr, stacks * stack_bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (base == MAP_FAILED) return nullptr;
    return new Arena{nullptr, static_cast<unsigned char*>(base), stacks};
  }

  void release(Arena* arena) {
    pthread_mutex_lock(&lock_);
    arena->next = free_;
    free_ = arena;
    pthread_mutex_unlock(&lock_);
  }

 private:
  Arena* take(unsigned stacks) {
    pthread_mutex_lock(&lock_);
    Arena** link = &free_;
    while (*link != nullptr && (*link)->stacks < stacks) link = &(*link)->next;
    Arena* found = *link;
    if (found != nullptr) *link = found->next;
    pthread_mutex_unlock(&lock_);
    return found;
  }

  pthread_mutex_t lock_ = PTHREAD_MUTEX_INITIALIZER;
  Arena* free_ = nullptr;
};

inline Arenas arenas;

// The stacks of one block. The last one given back is the first to be taken, so threads that never wait share one.
class Stacks {
 public:
  explicit Stacks(unsigned threads)
      : arena_(arenas.acquire(threads)), free_(new unsigned char*[threads]), left_(threads) {
    if (!available()) return;
    for (unsigned i = 0; i < threads; ++i) free_[i] = arena_->base + (threads - 1 - i) * stack_bytes;
  }
  Stacks(const Stacks&) = delete;
  ~Stacks() {
    delete[] free_;
    if (arena_ != nullptr) arenas.release(arena_);
  }

  bool available() const { return arena_ != nullptr; }

  unsigned char* take() {
    unsigned char* stack = free_[--left_];
#ifdef TW_HOST_ASAN
    __asan_unpoison_memory_region(stack, stack_bytes);
#endif
    __builtin_memcpy(stack, &stack_mark, sizeof stack_mark);
    return stack;
  }

  // How much of a stack a thread may use. The tops are staggered: at one distance they would all share a few lines of
  // the cache.
  size_t usable(const unsigned char* stack) const {
    return stack_bytes - (size_t)(stack - arena_->base) / stack_bytes % 128 * 128;
  }

  // False when the thread ran over the end of its stack.
  bool give_back(unsigned char* stack) {
    free_[left_++] = stack;
    return __builtin_memcmp(stack, &stack_mark, sizeof stack_mark) == 0;
  }

 private:
  Arena* arena_;
  unsigned char** free_;
  unsigned left_;
};

}  // namespace host
}  // namespace tw
