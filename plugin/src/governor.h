// SPDX-License-Identifier: Apache-2.0
// Keeps what timing operations costs in callbacks under a share of wall time, by lowering how many are timed.
#pragma once

#include <atomic>
#include <cstdint>

#include "nccl_sentinel/layout.h"

namespace nccl_sentinel {

class Governor {
 public:
  // Sampling is halved at each level: at the highest to one operation in 128 of what was asked for.
  static constexpr std::uint32_t kHighestLevel = 8;

  // `budget_ppm`: millionths of wall time that the callbacks of timed operations may take together; 0: no limit.
  void start(layout::File& file, std::uint32_t budget_ppm) noexcept;

  // What a callback took that would not have been made, or would have done nothing, had sampling left its operation
  // out. Of those whose time was taken; what all operations cost is no reason to time fewer of them.
  void spend(std::uint64_t ns) noexcept { spent_ns_.fetch_add(ns, std::memory_order_relaxed); }

  std::uint32_t level() const noexcept { return level_.load(std::memory_order_relaxed); }

  // Looks at the cost, once a second at most. Called where a stream decides: at the same operation on all ranks. Two
  // seconds over the budget raise the level; a minute under a quarter of it lowers it.
  void look() noexcept;

 private:
  layout::File* file_;
  std::uint32_t budget_ppm_;
  std::atomic<std::uint32_t> level_;
  std::atomic<std::uint64_t> spent_ns_;  // since the last look
  std::atomic<std::uint64_t> looked_ns_;
  // Touched by whoever moved looked_ns_, a second apart.
  std::atomic<std::uint32_t> over_;
  std::atomic<std::uint32_t> under_;
};

}  // namespace nccl_sentinel
