// Fibers: a stack and a place to continue at. Switching saves the registers that a called function must keep.
// Runtime only: included by one translation unit.
#pragma once

#include "tilewright/host/types.h"

#if defined(__SANITIZE_ADDRESS__)
#define TW_HOST_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TW_HOST_ASAN 1
#endif
#endif

#ifdef TW_HOST_ASAN
extern "C" {
void __sanitizer_start_switch_fiber(void** save, const void* bottom, size_t bytes);
void __sanitizer_finish_switch_fiber(void* saved, const void** old_bottom, size_t* old_bytes);
void __asan_poison_memory_region(const volatile void* address, size_t bytes);
void __asan_unpoison_memory_region(const volatile void* address, size_t bytes);
}
#endif

#if defined(__ELF__) && (defined(__x86_64__) || defined(__aarch64__)) && !defined(TW_HOST_UCONTEXT)

// Pushes the registers to keep, stores the stack pointer in *save, continues on the stack `load`.
extern "C" __attribute__((visibility("hidden"))) void tw_host_switch(void** save, void* load);

#ifdef __x86_64__
asm(R"(
.pushsection .text
.globl tw_host_switch
.hidden tw_host_switch
.type tw_host_switch, @function
tw_host_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size tw_host_switch, .-tw_host_switch
.popsection
)");
#else
asm(R"(
.pushsection .text
.globl tw_host_switch
.hidden tw_host_switch
.type tw_host_switch, %function
tw_host_switch:
  sub sp, sp, #160
  stp x19, x20, [sp, #0]
  stp x21, x22, [sp, #16]
  stp x23, x24, [sp, #32]
  stp x25, x26, [sp, #48]
  stp x27, x28, [sp, #64]
  stp x29, x30, [sp, #80]
  stp d8, d9, [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  mov x9, sp
  str x9, [x0]
  mov sp, x1
  ldp x19, x20, [sp, #0]
  ldp x21, x22, [sp, #16]
  ldp x23, x24, [sp, #32]
  ldp x25, x26, [sp, #48]
  ldp x27, x28, [sp, #64]
  ldp x29, x30, [sp, #80]
  ldp d8, d9, [sp, #96]
  ldp d10, d11, [sp, #112]
  ldp d12, d13, [sp, #128]
  ldp d14, d15, [sp, #144]
  add sp, sp, #160
  ret
.size tw_host_switch, .-tw_host_switch
.popsection
)");
#endif

namespace tw {
namespace host {

// A point of execution to continue at.
class Context {
 public:
  // Makes the context one that starts `entry` on this stack. `entry` must never return.
  void prepare(unsigned char* stack, size_t bytes, void (*entry)()) {
    void** top = reinterpret_cast<void**>(stack + bytes / 16 * 16);
#ifdef __x86_64__
    // The return address stands at a multiple of 16, as if `entry` had been called; six registers lie below it.
    void** frame = top - 2 - 6;
    for (int i = 0; i < 8; ++i) frame[i] = nullptr;
    frame[6] = reinterpret_cast<void*>(entry);
#else
    void** frame = top - 20;
    for (int i = 0; i < 20; ++i) frame[i] = nullptr;
    frame[11] = reinterpret_cast<void*>(entry);  // x30, where `ret` goes
#endif
    stack_pointer_ = frame;
  }

  static void swap(Context& from, Context& to) { tw_host_switch(&from.stack_pointer_, to.stack_pointer_); }

 private:
  void* stack_pointer_ = nullptr;
};

}  // namespace host
}  // namespace tw

#else

#include <ucontext.h>

namespace tw {
namespace host {

// A point of execution to continue at: the C library's, where no assembly stands above.
class Context {
 public:
  // Makes the context one that starts `entry` on this stack. `entry` must never return.
  void prepare(unsigned char* stack, size_t bytes, void (*entry)()) {
    getcontext(&context_);
    context_.uc_stack.ss_sp = stack;
    context_.uc_stack.ss_size = bytes;
    context_.uc_link = nullptr;
    makecontext(&context_, entry, 0);
  }

  static void swap(Context& from, Context& to) { swapcontext(&from.context_, &to.context_); }

 private:
  ucontext_t context_;
};

}  // namespace host
}  // namespace tw

#endif
