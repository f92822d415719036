// The report of a block in which no thread can go on: who waits for what, and where.
// Runtime only: included by one translation unit.
#pragma once

#include "tilewright/host/mbarriers.h"

namespace tw {
namespace host {

// How messages say what a thread waits for.
struct WaitingFor {
  WaitingFor(const Thread& thread, const Barriers& barriers) {
    const int used = snprintf(text, sizeof text, "%s", Waiting(thread).text);
    const size_t at = (size_t)used < sizeof text ? (size_t)used : sizeof text - 1;
    const bool at_mbarrier = thread.state == State::AtMbarrier || (thread.state == State::Ready && thread.testing);
    if (at_mbarrier) barriers.describe(thread, text + at, sizeof text - at);
    if (thread.state == State::AtNamedBarrier) barriers.describe_named(thread, text + at, sizeof text - at);
  }
  char text[480];
};

inline bool waits_alike(const Thread& a, const Thread& b) {
  if (a.state != b.state) return false;
  const bool together = a.state == State::AtBarrier || a.state == State::InCollective || a.state == State::InWarpgroup;
  return together || a.object == b.object;
}

// Names the first thread that waits, and the first that waits in another way, and counts all.
inline void report_stall(Launch& launch, const Block& block, const Thread* threads, unsigned count,
                         const Barriers& barriers) {
  const Thread *first = nullptr, *other = nullptr;
  unsigned at[(size_t)State::Finished + 1] = {};
  for (unsigned i = 0; i < count; ++i) {
    const Thread& thread = threads[i];
    at[(size_t)thread.state] += 1;
    if (thread.state == State::Finished) continue;
    if (first == nullptr) first = &thread;
    if (other == nullptr && !waits_alike(thread, *first)) other = &thread;
  }
  if (first == nullptr) return;
  const auto in = [&](State state) { return at[(size_t)state]; };
  char asynchronous[100] = "";
  const unsigned at_mbarrier = in(State::AtMbarrier) + in(State::Ready);
  if (at_mbarrier + in(State::AtNamedBarrier) > 0) {
    snprintf(asynchronous, sizeof asynchronous, " %u at an mbarrier, %u at a named barrier,", at_mbarrier,
             in(State::AtNamedBarrier));
  }
  launch.fail(Outcome::Deadlock, "%s: %s%s%s; of %u threads %u wait at a barrier, %u in a warp collective,%s %u have ended",
              BlockName(block).text, WaitingFor(*first, barriers).text, other == nullptr ? "" : ", ",
              other == nullptr ? "" : WaitingFor(*other, barriers).text, count, in(State::AtBarrier),
              in(State::InCollective) + in(State::InWarpgroup), asynchronous, in(State::Finished));
}

}  // namespace host
}  // namespace tw
