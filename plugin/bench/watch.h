// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "allocation_counter.h"
#include "system_call_counter.h"

namespace nccl_sentinel::bench {

// Lets what this thread allocates and asks of the kernel be counted as long as it lives: during one callback.
class Watch {
 public:
  Watch() { AllocationCounter::counting = SystemCallCounter::counting = true; }
  ~Watch() { AllocationCounter::counting = SystemCallCounter::counting = false; }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
};

}  // namespace nccl_sentinel::bench
