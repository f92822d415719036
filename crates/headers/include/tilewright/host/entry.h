// What the runtime knows of a kernel: how to call it with the bytes of its parameters, and where each of them lies.
#pragma once

#include "tilewright/host/abi.h"

namespace tw {
namespace host {

// Parameters laid out like a struct of them. One parameter is its own layout.
template <int count> struct ParameterTable {
  Parameter at[count + 1];
  unsigned long long bytes;
};
template <class... Ps> constexpr ParameterTable<sizeof...(Ps)> parameter_table() {
  constexpr unsigned long long sizes[] = {sizeof(Ps)..., 0}, alignments[] = {alignof(Ps)..., 1};
  ParameterTable<sizeof...(Ps)> table{};
  unsigned long long widest = 1;
  for (unsigned i = 0; i < sizeof...(Ps); ++i) {
    const unsigned long long alignment = alignments[i];
    const unsigned long long offset = (table.bytes + alignment - 1) / alignment * alignment;
    table.at[i] = {offset, sizes[i]};
    table.bytes = offset + sizes[i];
    widest = alignment > widest ? alignment : widest;
  }
  table.bytes = (table.bytes + widest - 1) / widest * widest;
  return table;
}

template <int...> struct Indices {};
template <int count, int... is> struct CountTo : CountTo<count - 1, count - 1, is...> {};
template <int... is> struct CountTo<0, is...> { using type = Indices<is...>; };

template <class T> constexpr bool is_reference = false;
template <class T> constexpr bool is_reference<T&> = true;
template <class T> constexpr bool is_reference<T&&> = true;

template <auto kernel>
struct Entry {
  static_assert(sizeof(kernel) == 0, "a kernel takes values and pointers, and gives nothing");
};

template <class... Ps, void (*kernel)(Ps...)>
struct Entry<kernel> {
  static_assert(!(is_reference<Ps> || ...), "a kernel takes values and pointers, no references");
  static constexpr ParameterTable<sizeof...(Ps)> table = parameter_table<Ps...>();

  // By value, as on the GPU: each thread has a copy of its own.
  template <int... is> static void call_with(const void* parameters, Indices<is...>) {
    kernel(*reinterpret_cast<const Ps*>(static_cast<const unsigned char*>(parameters) + table.at[is].offset)...);
  }
  static void call(const void* parameters) {
    call_with(parameters, typename CountTo<(int)sizeof...(Ps)>::type{});
  }
  static constexpr Kernel value = {call, table.bytes, table.at, sizeof...(Ps)};
};

}  // namespace host
}  // namespace tw

// Makes a kernel's entry visible to Rust under `SYMBOL`.
#define TW_HOST_EXPORT(SYMBOL, KERNEL)                                                      \
  extern "C" __attribute__((visibility("default"))) const tw::host::Kernel SYMBOL;        \
  const tw::host::Kernel SYMBOL = tw::host::Entry<&KERNEL>::value;
