// CUDA's keywords and built-in variables. Last of the shim's headers: its macros would disturb the others.
#pragma once

#define __global__
#define __device__
#define __host__
#define __constant__
#define __grid_constant__
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline))
#define __align__(bytes) __attribute__((aligned(bytes)))

// Shared memory is one dynamic buffer with one accessor, so that it can be poisoned, bounded and, later, watched.
#define __shared__ _Pragma("GCC error \"__shared__ does not exist in the host model: use the one dynamic buffer\"")

#define threadIdx (::tw::host::current->index)
#define blockIdx (::tw::host::current->block->index)
#define blockDim (::tw::host::current->block->threads_per_side)
#define gridDim (::tw::host::current->block->blocks_per_side)
#define warpSize 32
