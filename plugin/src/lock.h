// SPDX-License-Identifier: Apache-2.0
// Locks of the callbacks: tried a bounded number of times, never waited for.
#pragma once

#include <atomic>
#include <cstdint>

#include "nccl_sentinel/layout.h"

namespace nccl_sentinel {

// How often a callback asks again before it gives up. About two microseconds; it never waits for longer.
inline constexpr int kTries = 64;

inline void pause() noexcept { __builtin_ia32_pause(); }

// Private to the process: it dies with it.
using Lock = std::atomic<std::uint8_t>;

// Holds a lock for its lifetime, if it got it within kTries.
class LockHold {
 public:
  explicit LockHold(Lock& lock) noexcept : lock_(lock) {
    for (int i = 0; i < kTries && !held_; ++i) {
      held_ = lock_.load(std::memory_order_relaxed) == 0 && lock_.exchange(1, std::memory_order_acquire) == 0;
      if (!held_) pause();
    }
  }
  ~LockHold() {
    if (held_) lock_.store(0, std::memory_order_release);
  }
  LockHold(const LockHold&) = delete;
  LockHold& operator=(const LockHold&) = delete;

  explicit operator bool() const noexcept { return held_; }

 private:
  Lock& lock_;
  bool held_ = false;
};

// Counts in a word of its own.
inline std::uint64_t count(layout::Word& word, std::uint64_t amount = 1) noexcept {
  return word.fetch_add(amount, std::memory_order_relaxed);
}

}  // namespace nccl_sentinel
