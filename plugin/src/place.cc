// SPDX-License-Identifier: Apache-2.0
#include "place.h"

#include "handle.h"
#include "lock.h"

namespace nccl_sentinel {

Place::Taken Place::take() noexcept {
  for (int i = 0; i < kTries; ++i) {
    std::uint32_t seen = control_.load(std::memory_order_relaxed);
    const std::uint32_t phase = seen & kPhase;
    if (phase != kHeld && control_.compare_exchange_weak(seen, (seen & ~kPhase) | kHeld, std::memory_order_acquire,
                                                         std::memory_order_relaxed)) {
      return phase == kEmpty ? Taken::kEmpty : Taken::kLeftBehind;
    }
    pause();
  }
  return Taken::kNo;
}

bool Place::hold_if(std::uint32_t generation, bool any) noexcept {
  for (int i = 0; i < kTries; ++i) {
    std::uint32_t seen = control_.load(std::memory_order_relaxed);
    if ((seen & kPhase) == kEmpty || (!any && seen >> 2 != generation)) return false;
    if ((seen & kPhase) == kOpen &&
        control_.compare_exchange_weak(seen, (seen & ~kPhase) | kHeld, std::memory_order_acquire,
                                       std::memory_order_relaxed)) {
      return true;
    }
    pause();
  }
  return false;
}

std::uint32_t Place::renew() noexcept {
  const std::uint32_t generation = ((control_.load(std::memory_order_relaxed) >> 2) + 1) & kGenerationMask;
  control_.store(generation << 2 | kHeld, std::memory_order_relaxed);
  return generation;
}

}  // namespace nccl_sentinel
