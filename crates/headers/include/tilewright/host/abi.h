// What Rust and the host model's runtime hand to each other. Rust's side of it, src/host_model/abi.rs, is generated from
// this file by `cargo xtask bindgen`. Plain C++ without includes.
#pragma once

namespace tw {
namespace host {

// Where a parameter of a kernel lies among the bytes of all of them.
struct Parameter {
  unsigned long long offset;
  unsigned long long bytes;
};

// How to call a kernel with the bytes of its parameters, how many those are, and where each of them lies.
struct Kernel {
  void (*call)(const void* parameters);
  unsigned long long parameter_bytes;
  const Parameter* parameters;
  unsigned long long parameter_count;
};

enum class Outcome : int { Done = 0, Deadlock = 1, Misuse = 2 };
enum class Order : unsigned { Forward = 0, Backward = 1, Shuffled = 2 };

// A launch. What a failure has to say is written to `message`, ending in zero.
struct Request {
  unsigned grid[3];
  unsigned block[3];
  Order order;
  unsigned long long seed;
  unsigned long long shared_bytes;
  const void* parameter;
  unsigned long long parameter_bytes;
  char* message;
  unsigned long long message_bytes;
};

// What the 128 bytes of a tw::TensorMap hold on the host model: a tensor, and the box of it that one copy moves. Innermost first.
struct BoxFields {
  unsigned long long mark;
  unsigned long long base;
  unsigned long long sizes[5];
  unsigned long long strides[4];  // bytes, of dimensions 1 and up
  unsigned box[5];
  unsigned rank;
  unsigned element;  // bytes
  unsigned span;     // bytes of a swizzled row, or 0
  unsigned long long unused;
};

}  // namespace host
}  // namespace tw
