// SPDX-License-Identifier: Apache-2.0
#include "histogram.h"

#include <algorithm>
#include <cinttypes>

namespace nccl_sentinel::bench {

void Histogram::add(std::uint64_t ticks) {
  if (counts_.empty()) counts_.resize(kTicks + 1);
  ++counts_[std::min<std::uint64_t>(ticks, kTicks)];
  sum_ += ticks;
}

void Histogram::write(std::FILE* file) const {
  std::fprintf(file, "{\"sum\":%" PRIu64 ",\"counts\":[", sum_);
  const char* separator = "";
  for (std::size_t ticks = 0; ticks < counts_.size(); ++ticks) {
    if (counts_[ticks] == 0) continue;
    std::fprintf(file, "%s[%zu,%" PRIu32 "]", separator, ticks, counts_[ticks]);
    separator = ",";
  }
  std::fputs("]}", file);
}

}  // namespace nccl_sentinel::bench
