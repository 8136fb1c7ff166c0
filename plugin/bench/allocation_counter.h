// SPDX-License-Identifier: Apache-2.0
// Counts calls of malloc and its kin that this thread makes while it is told to: the executable's malloc is
// everybody's, also a loaded library's.
#pragma once

#include <cstdint>

namespace nccl_sentinel::bench {

struct AllocationCounter {
  static thread_local bool counting;
  static thread_local std::uint64_t calls;
};

}  // namespace nccl_sentinel::bench
