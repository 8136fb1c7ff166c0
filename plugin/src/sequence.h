// SPDX-License-Identifier: Apache-2.0
// The writer's side of the layout's sequences: odd while the words behind them are being changed.
#pragma once

#include <atomic>
#include <cstdint>

#include "nccl_sentinel/layout.h"

namespace nccl_sentinel {

// How often a callback asks again before it gives up. About two microseconds; it never waits for longer.
inline constexpr int kTries = 64;

inline void pause() noexcept { __builtin_ia32_pause(); }

// Holds a sequence odd for its lifetime, if it got it within kTries.
class SequenceHold {
 public:
  explicit SequenceHold(std::atomic<std::uint32_t>& sequence) noexcept : sequence_(sequence) {
    for (int i = 0; i < kTries && !held_; ++i) {
      std::uint32_t seen = sequence_.load(std::memory_order_relaxed);
      held_ = seen % 2 == 0 &&
              sequence_.compare_exchange_weak(seen, seen + 1, std::memory_order_acquire, std::memory_order_relaxed);
      if (!held_) pause();
    }
  }
  ~SequenceHold() {
    if (held_) sequence_.store(sequence_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }
  SequenceHold(const SequenceHold&) = delete;
  SequenceHold& operator=(const SequenceHold&) = delete;

  explicit operator bool() const noexcept { return held_; }

 private:
  std::atomic<std::uint32_t>& sequence_;
  bool held_ = false;
};

// Adds under a hold. Release keeps the odd sequence in front of every word for a reader; on x86 it is a plain store.
inline void add(layout::Word& word, std::uint64_t amount) noexcept {
  word.store(word.load(std::memory_order_relaxed) + amount, std::memory_order_release);
}

// Counts outside any sequence.
inline std::uint64_t count(layout::Word& word, std::uint64_t amount = 1) noexcept {
  return word.fetch_add(amount, std::memory_order_relaxed);
}

}  // namespace nccl_sentinel
