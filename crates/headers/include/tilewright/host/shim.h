// The host model's face towards a kernel: under TILEWRIGHT_HOST this header stands where CUDA's built-ins would.
// It includes no header of the C++ library, so that a translation unit of many kernels compiles quickly.
// What is missing here (exp, sin, ...) is missing on purpose: its bits would differ from the GPU's.
#pragma once

#ifndef TILEWRIGHT_HOST
#error "tilewright/host/shim.h is for the host model: define TILEWRIGHT_HOST"
#endif

#include "tilewright/host/types.h"

#include "tilewright/host/thread.h"

#include "tilewright/host/arithmetic.h"
#include "tilewright/host/asynchronous.h"
#include "tilewright/host/atomic.h"
#include "tilewright/host/bits.h"
#include "tilewright/host/conversion.h"
#include "tilewright/host/entry.h"
#include "tilewright/host/memory.h"
#include "tilewright/host/view.h"
#include "tilewright/host/warp.h"
#include "tilewright/host/wgmma.h"

#include "tilewright/host/keywords.h"
