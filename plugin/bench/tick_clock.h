// SPDX-License-Identifier: Apache-2.0
// The processor's time stamp counter, fenced: what is between two readings is all that is between them.
#pragma once

#include <x86intrin.h>

#include <cstdint>

#include "gate.h"

namespace nccl_sentinel::bench {

inline std::uint64_t ticks_before() {
  _mm_lfence();
  const std::uint64_t ticks = __rdtsc();
  _mm_lfence();
  return ticks;
}

inline std::uint64_t ticks_after() {
  unsigned processor = 0;
  const std::uint64_t ticks = __rdtscp(&processor);  // waits for what came before
  _mm_lfence();
  return ticks;
}

// How long a tick is, from the time between its making and the question.
class TickClock {
 public:
  double ns_per_tick() const {
    const std::int64_t ns = player::monotonic_ns() - began_ns_;
    return static_cast<double>(ns) / static_cast<double>(ticks_before() - began_ticks_);
  }

 private:
  const std::int64_t began_ns_ = player::monotonic_ns();
  const std::uint64_t began_ticks_ = ticks_before();
};

}  // namespace nccl_sentinel::bench
