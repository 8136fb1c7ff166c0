// SPDX-License-Identifier: Apache-2.0
#include "governor.h"

#include "callback_cost.h"
#include "clock.h"

namespace nccl_sentinel {
namespace {

constexpr std::uint64_t kLookNs = 1'000'000'000;
constexpr std::uint32_t kLooksOver = 2;
constexpr std::uint32_t kLooksUnder = 60;
constexpr std::uint64_t kMillion = 1'000'000;

}  // namespace

void Governor::start(layout::File& file, std::uint32_t budget_ppm) noexcept {
  file_ = &file;
  budget_ppm_ = budget_ppm;
  looked_ns_.store(coarse_monotonic_ns(), std::memory_order_relaxed);
}

void Governor::look() noexcept {
  const std::uint64_t now_ns = coarse_monotonic_ns();
  std::uint64_t looked_ns = looked_ns_.load(std::memory_order_relaxed);
  if (budget_ppm_ == 0 || now_ns < looked_ns + kLookNs ||
      !looked_ns_.compare_exchange_strong(looked_ns, now_ns, std::memory_order_acq_rel)) {
    return;
  }
  tick_clock.refine();
  const std::uint64_t spent_ns = spent_ns_.exchange(0, std::memory_order_relaxed) * kCallbacksForOneTimed;
  const std::uint64_t budget_ns = (now_ns - looked_ns) / kMillion * budget_ppm_;
  const std::uint32_t level = this->level();
  over_.store(spent_ns > budget_ns ? over_.load(std::memory_order_relaxed) + 1 : 0, std::memory_order_relaxed);
  under_.store(spent_ns < budget_ns / 4 ? under_.load(std::memory_order_relaxed) + 1 : 0, std::memory_order_relaxed);
  std::uint32_t next = level;
  if (over_.load(std::memory_order_relaxed) >= kLooksOver && level < kHighestLevel) next = level + 1;
  if (under_.load(std::memory_order_relaxed) >= kLooksUnder && level > 0) next = level - 1;
  if (next == level) return;
  over_.store(0, std::memory_order_relaxed);
  under_.store(0, std::memory_order_relaxed);
  level_.store(next, std::memory_order_relaxed);
  file_->header.governor_level.store(next, std::memory_order_relaxed);
}

}  // namespace nccl_sentinel
