// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "handle.h"
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
  // The channel's own time in ns; nothing where its two times cannot be true.
  std::optional<std::uint64_t> stop_time(std::uint32_t channel, std::uint64_t timer_ns) noexcept;
  void stop(std::uint32_t channel) noexcept;

  bool complete() const noexcept;

  // Once complete: why the times cannot be trusted, or nothing.
  std::optional<layout::Outcome> refusal() const noexcept;
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
  std::uint64_t base_;                     // the start that was told first
  std::int32_t offsets_ns_[kMaxChannels];  // of each channel's start from it
};

}  // namespace nccl_sentinel
