// The runtime's one entry: runs a kernel over its grid, each block on one OS thread, as many at a time as there are
// cores. Included by one translation unit of each library.
#pragma once

#include <unistd.h>

#include "tilewright/host/block.h"
#include "tilewright/host/primitives.h"

namespace tw {
namespace host {

constexpr unsigned most_helpers = 63;
constexpr unsigned long long threads_worth_a_helper = 4096;
constexpr size_t largest_parameter = 32764;

inline unsigned long long min_of(unsigned long long a, unsigned long long b) { return a < b ? a : b; }

inline void* run_blocks(void* launch) {
  Scheduler(*static_cast<Launch*>(launch)).run();
  return nullptr;
}

// How many OS threads help the calling one: none where the work is small, for making one can take longer than the
// launch.
inline unsigned helpers_for(const Launch& launch) {
  const long cores = sysconf(_SC_NPROCESSORS_ONLN);
  const unsigned long long wanted = launch.blocks * launch.threads / threads_worth_a_helper;
  const unsigned long long idle = cores < 2 ? 0 : min_of((unsigned long long)cores - 1, most_helpers);
  return (unsigned)min_of(wanted, min_of(launch.blocks - 1, idle));
}

inline Outcome run(const Kernel& kernel, const Request& request) {
  alignas(128) unsigned char parameter[largest_parameter];
  memcpy(parameter, request.parameter, request.parameter_bytes);
  Launch launch(kernel, request, parameter);

  pthread_t helpers[most_helpers];
  const unsigned wanted = helpers_for(launch);
  unsigned started = 0;
  while (started < wanted && pthread_create(&helpers[started], nullptr, run_blocks, &launch) == 0) started += 1;
  run_blocks(&launch);
  for (unsigned i = 0; i < started; ++i) pthread_join(helpers[i], nullptr);
  return launch.outcome();
}

}  // namespace host
}  // namespace tw

// The sizes in `request` have been checked by the caller. A failure's text is written to its message.
extern "C" __attribute__((visibility("default"))) int tilewright_host_launch(const tw::host::Kernel* kernel,
                                                                             const tw::host::Request* request) {
  return (int)tw::host::run(*kernel, *request);
}
