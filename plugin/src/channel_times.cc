// SPDX-License-Identifier: Apache-2.0
#include "channel_times.h"

#include <algorithm>
#include <limits>

#include "handle.h"

namespace nccl_sentinel {
namespace {

using layout::Outcome;

// No operation lasts a day: a longer span is two operations' timestamps mixed up, or not a timestamp at all.
constexpr std::uint64_t kLongestNs = 86'400'000'000'000;

// A start more than two seconds from the first one: that channel's own time is not known.
constexpr std::int32_t kNoOffset = std::numeric_limits<std::int32_t>::min();

}  // namespace

void ChannelTimes::reset(std::uint32_t channels) noexcept {
  started_ = timed_ = stopped_ = 0;
  first_start_ = first_stop_ = UINT64_MAX;
  last_start_ = last_stop_ = 0;
  base_ = 0;
  channels_ = channels;
  zero_ = false;
}

void ChannelTimes::start(std::uint32_t channel, std::uint64_t timer_ns) noexcept {
  if ((started_ & channel_bit(channel)) != 0) return;
  if (started_ == 0) base_ = timer_ns;
  started_ |= channel_bit(channel);
  const auto offset = static_cast<std::int64_t>(timer_ns - base_);
  offsets_ns_[channel] = offset == static_cast<std::int32_t>(offset) ? static_cast<std::int32_t>(offset) : kNoOffset;
  zero_ |= timer_ns == 0;
  first_start_ = std::min(first_start_, timer_ns);
  last_start_ = std::max(last_start_, timer_ns);
}

std::optional<std::uint64_t> ChannelTimes::stop_time(std::uint32_t channel, std::uint64_t timer_ns) noexcept {
  if ((started_ & ~timed_ & ~stopped_ & channel_bit(channel)) == 0) return std::nullopt;
  timed_ |= channel_bit(channel);
  zero_ |= timer_ns == 0;
  first_stop_ = std::min(first_stop_, timer_ns);
  last_stop_ = std::max(last_stop_, timer_ns);
  const std::int32_t offset = offsets_ns_[channel];
  const std::uint64_t start_ns = base_ + static_cast<std::uint64_t>(std::int64_t{offset});
  if (offset == kNoOffset || start_ns == 0 || timer_ns < start_ns || timer_ns - start_ns > kLongestNs) {
    return std::nullopt;
  }
  return timer_ns - start_ns;
}

void ChannelTimes::stop(std::uint32_t channel) noexcept { stopped_ |= started_ & channel_bit(channel); }

bool ChannelTimes::complete() const noexcept {
  return static_cast<std::uint32_t>(__builtin_popcountll(stopped_)) >= channels_;
}

std::optional<Outcome> ChannelTimes::refusal() const noexcept {
  if ((stopped_ & ~timed_) != 0 || timed_ == 0) return Outcome::kIncomplete;
  if (zero_) return Outcome::kZero;
  // Some channel stopped before it started exactly if one of these holds for a stop out of an earlier operation, or for
  // a start out of a later one. Last stop minus first start alone would miss both where there are several channels.
  if (first_stop_ < first_start_ || last_stop_ < last_start_) return Outcome::kNegative;
  if (duration_ns() > kLongestNs) return Outcome::kOverwritten;
  return std::nullopt;
}

}  // namespace nccl_sentinel
