// Typed dimensions in kernels: coordinates, layouts, and tensors that put the two together. What `tilewright_dims` is in Rust.
#pragma once

#include "tilewright/axes.cuh"
#include "tilewright/coords.cuh"
#include "tilewright/tensor.cuh"
