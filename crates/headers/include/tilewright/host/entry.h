// What the runtime knows of a kernel.
#pragma once

#include "tilewright/host/abi.h"

namespace tw {
namespace host {

template <auto kernel>
struct Entry {
  static_assert(sizeof(kernel) == 0, "a kernel takes exactly one struct by value and gives nothing");
};

template <class Parameter, void (*kernel)(Parameter)>
struct Entry<kernel> {
  // By value, as on the GPU: each thread has a copy of its own.
  static void call(const void* parameter) { kernel(*static_cast<const Parameter*>(parameter)); }
  static constexpr Kernel value = {call, sizeof(Parameter)};
};

}  // namespace host
}  // namespace tw

// Makes a kernel's entry visible to Rust under `SYMBOL`.
#define TW_HOST_EXPORT(SYMBOL, KERNEL)                                                      \
  extern "C" __attribute__((visibility("default"))) const tw::host::Kernel SYMBOL;        \
  const tw::host::Kernel SYMBOL = tw::host::Entry<&KERNEL>::value;
