// SPDX-License-Identifier: Apache-2.0
// One operation between its launch and its end: a place in its communicator's ring. Private memory, never mapped.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "nccl_sentinel/layout.h"

namespace nccl_sentinel {

// What the kernel channels of one operation told. Touched only by the thread that holds the place.
//
// Each channel of the kernel starts, tells its stop time, and stops. The duration is the last stop minus the first
// start.
class ChannelTimes {
 public:
  void reset(std::uint32_t channels) noexcept;

  // Each event counts once per channel; repeats and channels that never started change nothing.
  void start(std::uint32_t channel, std::uint64_t timer_ns) noexcept;
  void stop_time(std::uint32_t channel, std::uint64_t timer_ns) noexcept;
  void stop(std::uint32_t channel) noexcept;

  bool complete() const noexcept;

  // Once complete: why the times cannot be trusted, or nothing.
  std::optional<layout::Refused> refusal() const noexcept;
  std::uint64_t duration_ns() const noexcept { return last_stop_ - first_start_; }

 private:
  std::uint64_t started_;  // one bit a channel, in all three
  std::uint64_t timed_;
  std::uint64_t stopped_;
  std::uint64_t first_start_;
  std::uint64_t last_start_;
  std::uint64_t first_stop_;
  std::uint64_t last_stop_;
  std::uint32_t channels_;
  bool zero_;
};

// A place is empty, open or held. Whoever turns it from open to held may touch what is in it, and nobody else.
class alignas(64) Operation {
 public:
  // Empty to held, or open to held where an earlier operation was left behind.
  enum class Taken { kNo, kEmpty, kLeftBehind };
  Taken take() noexcept;

  // Open to held, where the operation of this generation is still there.
  bool hold(std::uint32_t generation) noexcept;
  // Open to held, whatever its generation.
  bool hold_any() noexcept;

  // Held to open, or held to empty.
  void open() noexcept { settle(kOpen); }
  void leave() noexcept { settle(kEmpty); }

  // A new generation for the operation that a holder puts here; it is what the handles carry.
  std::uint32_t renew() noexcept;

  std::uint64_t number;  // how many operations of this communicator came before it
  std::uint64_t bytes;
  ChannelTimes times;
  std::uint8_t counters;  // place in Communicator::operations
  std::uint8_t cell;      // place in Communicator::cells

 private:
  static constexpr std::uint32_t kEmpty = 0;
  static constexpr std::uint32_t kOpen = 1;
  static constexpr std::uint32_t kHeld = 2;
  static constexpr std::uint32_t kPhase = 3;

  bool hold_if(std::uint32_t generation, bool any) noexcept;
  void settle(std::uint32_t phase) noexcept;

  std::atomic<std::uint32_t> control_;  // generation << 2 | phase
};

}  // namespace nccl_sentinel
