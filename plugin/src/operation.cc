// SPDX-License-Identifier: Apache-2.0
#include "operation.h"

#include <algorithm>

#include "handle.h"
#include "sequence.h"

namespace nccl_sentinel {
namespace {

using layout::Refused;

// No operation lasts a day: a longer span is two operations' timestamps mixed up, or not a timestamp at all.
constexpr std::uint64_t kLongestNs = 86'400'000'000'000;

constexpr std::uint64_t bit(std::uint32_t channel) noexcept { return std::uint64_t{1} << (channel % kMaxChannels); }

}  // namespace

void ChannelTimes::reset(std::uint32_t channels) noexcept {
  started_ = timed_ = stopped_ = 0;
  first_start_ = first_stop_ = UINT64_MAX;
  last_start_ = last_stop_ = 0;
  channels_ = channels;
  zero_ = false;
}

void ChannelTimes::start(std::uint32_t channel, std::uint64_t timer_ns) noexcept {
  if ((started_ & bit(channel)) != 0) return;
  started_ |= bit(channel);
  zero_ |= timer_ns == 0;
  first_start_ = std::min(first_start_, timer_ns);
  last_start_ = std::max(last_start_, timer_ns);
}

void ChannelTimes::stop_time(std::uint32_t channel, std::uint64_t timer_ns) noexcept {
  if ((started_ & ~timed_ & ~stopped_ & bit(channel)) == 0) return;
  timed_ |= bit(channel);
  zero_ |= timer_ns == 0;
  first_stop_ = std::min(first_stop_, timer_ns);
  last_stop_ = std::max(last_stop_, timer_ns);
}

void ChannelTimes::stop(std::uint32_t channel) noexcept { stopped_ |= started_ & bit(channel); }

bool ChannelTimes::complete() const noexcept {
  return static_cast<std::uint32_t>(__builtin_popcountll(stopped_)) >= channels_;
}

std::optional<Refused> ChannelTimes::refusal() const noexcept {
  if ((stopped_ & ~timed_) != 0 || timed_ == 0) return Refused::kIncomplete;
  if (zero_) return Refused::kZero;
  // Some channel stopped before it started exactly if one of these holds for a stop out of an earlier operation, or for
  // a start out of a later one. Last stop minus first start alone would miss both where there are several channels.
  if (first_stop_ < first_start_ || last_stop_ < last_start_) return Refused::kNegative;
  if (duration_ns() > kLongestNs) return Refused::kOverwritten;
  return std::nullopt;
}

Operation::Taken Operation::take() noexcept {
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

bool Operation::hold(std::uint32_t generation) noexcept { return hold_if(generation, false); }

bool Operation::hold_any() noexcept { return hold_if(0, true); }

bool Operation::hold_if(std::uint32_t generation, bool any) noexcept {
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

std::uint32_t Operation::renew() noexcept {
  const std::uint32_t generation = ((control_.load(std::memory_order_relaxed) >> 2) + 1) & kGenerationMask;
  control_.store(generation << 2 | kHeld, std::memory_order_relaxed);
  return generation;
}

void Operation::settle(std::uint32_t phase) noexcept {
  control_.store((control_.load(std::memory_order_relaxed) & ~kPhase) | phase, std::memory_order_release);
}

}  // namespace nccl_sentinel
