// What arch/copy.cuh, arch/barrier.cuh and arch/tensor_map.cuh do on the host model. Defined by the runtime.
#pragma once

#include "tilewright/host/thread.h"

namespace tw {
namespace host {

// ---- copies of a thread (cp.async): they land when the thread waits for them, not before ----

void copy_async(void* to, const void* from, unsigned bytes, unsigned valid, Place place);
void commit_copies();
// Until at most `left` of the committed groups are in flight.
void wait_for_copies(unsigned left);
void wait_for_all_copies();

// ---- barriers ----

void mbarrier_init(void* barrier, unsigned count, Place place);
void mbarrier_invalidate(void* barrier, Place place);
// `count` arrivals, after `expected` more bytes are waited for.
void mbarrier_arrive(void* barrier, unsigned count, unsigned expected, Place place);
// An arrival once all copies that the thread has begun have landed.
void mbarrier_arrive_after_copies(void* barrier, Place place);
bool mbarrier_test(void* barrier, unsigned parity, Place place);
void mbarrier_wait(void* barrier, unsigned parity, Place place);
void named_barrier(unsigned id, unsigned count, bool waits, Place place);
void fence_barrier_init();
void fence_proxy_async();

// ---- bulk copies ----

// They land when no thread can go on without, in the schedule's order, and then complete `bytes` of the mbarrier.
void bulk_load(void* to, const void* from, unsigned bytes, void* barrier, Place place);
void box_load(void* to, const void* map, const int* at, unsigned rank, void* barrier, Place place);
// Their source is read when the thread waits for that, their destination written when it waits for that or the block ends.
void bulk_store(void* to, const void* from, unsigned bytes, Place place);
void box_store(const void* map, const int* at, unsigned rank, const void* from, Place place);
void commit_stores();
void wait_for_stores(unsigned left, bool read_only);

}  // namespace host
}  // namespace tw
