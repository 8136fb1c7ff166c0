// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstdio>
#include <vector>

namespace nccl_sentinel::bench {

// Of durations in ticks: exact up to kTicks, then all in the last place. The sum is exact.
class Histogram {
 public:
  static constexpr std::size_t kTicks = 1U << 16;

  void add(std::uint64_t ticks);
  bool empty() const { return counts_.empty(); }
  // {"sum": ticks, "counts": [[ticks, number], ...]}
  void write(std::FILE* file) const;

 private:
  std::uint64_t sum_ = 0;
  std::vector<std::uint32_t> counts_;
};

}  // namespace nccl_sentinel::bench
