// Loads and stores with a cache hint (plain ones here), and fences.
#pragma once

#include "tilewright/host/atomic.h"

template <class T> T __ldg(const T* address) { return *address; }
template <class T> T __ldca(const T* address) { return *address; }
template <class T> T __ldcg(const T* address) { return *address; }
template <class T> T __ldcs(const T* address) { return *address; }
template <class T> T __ldlu(const T* address) { return *address; }
template <class T> T __ldcv(const T* address) { return *static_cast<const volatile T*>(address); }

template <class T> void __stcg(T* address, typename tw::host::Given<T>::Type value) { *address = value; }
template <class T> void __stcs(T* address, typename tw::host::Given<T>::Type value) { *address = value; }
template <class T> void __stwb(T* address, typename tw::host::Given<T>::Type value) { *address = value; }
template <class T> void __stwt(T* address, typename tw::host::Given<T>::Type value) { *address = value; }

inline void __threadfence() {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  if (tw::host::current->block->watched) tw::host::meet_at_fence();
}
inline void __threadfence_block() { __threadfence(); }
inline void __threadfence_system() { __threadfence(); }
