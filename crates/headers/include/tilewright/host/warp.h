// Warp collectives: each lane deposits a value, waits for the mask, reads. Lanes that have ended are not waited for,
// but reading one, or any lane outside the mask, is reported: on the GPU the value would be undefined.
#pragma once

#include "tilewright/host/thread.h"

namespace tw {
namespace host {

constexpr unsigned no_lane = ~0u;

inline void resolve_sync(Thread*, unsigned) {}

inline void resolve_shuffle(Thread* lanes, unsigned members) {
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!(members >> lane & 1)) continue;
    const unsigned source = lanes[lane].source;
    const bool deposited = source < 32 && (members >> source & 1);
    if (deposited) lanes[lane].result = lanes[source].value;
    if (!deposited) lanes[lane].source = no_lane;
  }
}

inline void resolve_ballot(Thread* lanes, unsigned members) {
  unsigned votes = 0;
  for (unsigned lane = 0; lane < 32; ++lane) {
    if ((members >> lane & 1) && lanes[lane].value != 0) votes |= 1u << lane;
  }
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!(members >> lane & 1)) continue;
    lanes[lane].result = votes;
    lanes[lane].source = members;
  }
}

template <class T>
T shuffle(unsigned mask, T value, unsigned source, const char* operation, Place place) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "a shuffle moves values of 4 or 8 bytes");
  Thread& self = *current;
  self.value = 0;
  __builtin_memcpy(&self.value, &value, sizeof(T));
  self.source = source;
  wait_for_warp(mask, resolve_shuffle, operation, place);
  if (self.source == no_lane) misuse("a shuffle reads a lane that takes no part in it", place);
  T result;
  __builtin_memcpy(&result, &self.result, sizeof(T));
  return result;
}

// The mask of the lanes that said yes; `members` becomes the mask of those that were asked.
inline unsigned ballot(unsigned mask, bool predicate, unsigned& members, const char* operation, Place place) {
  Thread& self = *current;
  self.value = predicate;
  wait_for_warp(mask, resolve_ballot, operation, place);
  members = self.source;
  return (unsigned)self.result;
}

// What lane `lane` deposited in a collective of the whole warp.
template <class Operands> Operands& deposited(Thread* lanes, unsigned lane) {
  return *reinterpret_cast<Operands*>(lanes[lane].value);
}

// Ends the launch if a lane takes no part in a collective that needs all of them: it has ended, or does not exist.
inline void need_whole_warp(Thread* lanes, unsigned members) {
  if (members == ~0u) return;
  unsigned present = 0;
  while (!(members >> present & 1)) ++present;
  char rule[160];
  __builtin_snprintf(rule, sizeof rule, "%s needs all 32 lanes of the warp; the lanes of mask %#x take no part",
                     lanes[present].operation, ~members);
  misuse(rule, lanes[present].place);
}

// A collective of all 32 lanes: each deposits the address of its operands, where `resolve` writes its results.
template <class Operands> void whole_warp(Operands& mine, Resolve resolve, const char* operation, Place place) {
  current->value = reinterpret_cast<unsigned long long>(&mine);
  wait_for_warp(~0u, resolve, operation, place);
}
inline void resolve_whole_warp(Thread* lanes, unsigned members) { need_whole_warp(lanes, members); }

// The first lane of this lane's group of `width`.
inline unsigned group(int width, Place place) {
  const bool power_of_two = width > 0 && (width & (width - 1)) == 0;
  if (!power_of_two || width > 32) misuse("a shuffle's width is a power of two up to 32", place);
  return current->lane() & ~((unsigned)width - 1);
}

}  // namespace host
}  // namespace tw

template <class T>
T __shfl_sync(unsigned mask, T value, int source, int width = 32, tw::host::Place place = tw::host::Place::here()) {
  const unsigned first = tw::host::group(width, place);
  return tw::host::shuffle(mask, value, first + ((unsigned)source & (unsigned)(width - 1)), "__shfl_sync", place);
}
template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32,
                 tw::host::Place place = tw::host::Place::here()) {
  const unsigned first = tw::host::group(width, place), lane = tw::host::current->lane();
  const unsigned source = delta > lane - first ? lane : lane - delta;
  return tw::host::shuffle(mask, value, source, "__shfl_up_sync", place);
}
template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32,
                   tw::host::Place place = tw::host::Place::here()) {
  const unsigned last = tw::host::group(width, place) + (unsigned)width - 1, lane = tw::host::current->lane();
  const unsigned source = delta > last - lane ? lane : lane + delta;
  return tw::host::shuffle(mask, value, source, "__shfl_down_sync", place);
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int flip, int width = 32, tw::host::Place place = tw::host::Place::here()) {
  const unsigned last = tw::host::group(width, place) + (unsigned)width - 1, lane = tw::host::current->lane();
  const unsigned source = lane ^ (unsigned)flip;
  // A lower group may be read, a higher one may not: then the lane keeps its own value.
  return tw::host::shuffle(mask, value, source > last ? lane : source, "__shfl_xor_sync", place);
}
inline unsigned __ballot_sync(unsigned mask, int predicate, tw::host::Place place = tw::host::Place::here()) {
  unsigned members;
  return tw::host::ballot(mask, predicate != 0, members, "__ballot_sync", place);
}
inline int __any_sync(unsigned mask, int predicate, tw::host::Place place = tw::host::Place::here()) {
  unsigned members;
  return tw::host::ballot(mask, predicate != 0, members, "__any_sync", place) != 0;
}
inline int __all_sync(unsigned mask, int predicate, tw::host::Place place = tw::host::Place::here()) {
  unsigned members;
  return tw::host::ballot(mask, predicate != 0, members, "__all_sync", place) == members;
}
inline void __syncwarp(unsigned mask = ~0u, tw::host::Place place = tw::host::Place::here()) {
  tw::host::wait_for_warp(mask, tw::host::resolve_sync, "__syncwarp", place);
}
