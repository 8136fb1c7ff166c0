// SPDX-License-Identifier: Apache-2.0
#include "sampling.h"

#include <algorithm>

#include "clock.h"

namespace nccl_sentinel {
namespace {

// Operations a second.
constexpr std::uint64_t kFewRate = 40;
constexpr std::uint64_t kManyRate = 60;
constexpr std::uint64_t kSecondNs = 1'000'000'000;

// A gap counts as this long at most.
constexpr std::uint64_t kLongestGap = 1U << 20;
// Groups for which a stream may keep all others timed while it waits for its next operation.
constexpr std::uint64_t kPatience = 64;
// How much earlier and later than the gaps before, as a part of them, the next operation may come.
constexpr std::uint64_t kSlack = 16;

}  // namespace

bool Choice::takes_lowered(std::uint32_t level, const Sampling& sampling, std::uint64_t number,
                           std::uint32_t operations) noexcept {
  if (sampling.burst == 0) return false;
  const Sampling& base = sampling.burst == sampling.period ? kDefaultSampling : sampling;
  const std::uint64_t period = std::uint64_t{base.period} << (level - 1);
  const std::uint64_t place = number % period;
  return place < base.burst || place + operations > period;
}

void Stream::clear() noexcept {
  next_.store(0, std::memory_order_relaxed);
  group_.store(0, std::memory_order_relaxed);
  in_group_.store(0, std::memory_order_relaxed);
  choice_.store(0, std::memory_order_relaxed);
  ticket_.store(0, std::memory_order_relaxed);
  gaps_seen_.store(0, std::memory_order_relaxed);
  decided_at_.store(0, std::memory_order_relaxed);
  decided_ns_.store(0, std::memory_order_relaxed);
}

void Stream::expect(ActivationMask& mask, std::uint64_t group, std::uint64_t last_group, bool is_wanted) noexcept {
  mask.drop(ticket_.exchange(0, std::memory_order_relaxed));
  std::uint32_t seen = gaps_seen_.load(std::memory_order_relaxed);
  if (last_group != 0 && group > last_group) {
    gaps_[seen % kGaps].store(static_cast<std::uint32_t>(std::min(group - last_group, kLongestGap)),
                              std::memory_order_relaxed);
    gaps_seen_.store(++seen, std::memory_order_relaxed);
  }
  if (!is_wanted) return;
  std::uint64_t shortest = kLongestGap;
  std::uint64_t longest = 0;
  for (std::uint32_t i = 0; i < std::min(seen, kGaps); ++i) {
    const std::uint64_t gap = gaps_[i].load(std::memory_order_relaxed);
    shortest = std::min(shortest, gap);
    longest = std::max(longest, gap);
  }
  if (seen == 0) {
    shortest = 1;
    longest = kPatience;
  }
  const std::uint64_t first = std::max<std::uint64_t>(shortest - shortest / kSlack, 1);
  const std::uint64_t last = std::min(longest + longest / kSlack + 1, first + kPatience - 1);
  ticket_.store(mask.want(group + first, group + last), std::memory_order_relaxed);
}

void Stream::decide(const Sampling& sampling, std::uint64_t number, std::uint32_t level) noexcept {
  const std::uint64_t now_ns = coarse_monotonic_ns();
  const std::uint64_t last_ns = decided_ns_.exchange(now_ns, std::memory_order_relaxed);
  const std::uint64_t last = decided_at_.exchange(number, std::memory_order_relaxed);
  Choice choice = this->choice();
  if (last_ns != 0 && number == last + sampling.window) {
    const std::uint64_t rate = sampling.window * kSecondNs / std::max<std::uint64_t>(now_ns - last_ns, 1);
    if (rate > kManyRate) choice.whole = false;
    if (rate < kFewRate) choice.whole = true;
  }
  choice.level = level;
  choice_.store(choice.level << 1 | (choice.whole ? 0U : 1U), std::memory_order_relaxed);
}

}  // namespace nccl_sentinel
