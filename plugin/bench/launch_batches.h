// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "solo_player.h"

namespace nccl_sentinel::bench {

// Which events on the application's side of one iteration launch operations together: everything that hangs together by
// parents and groups (API calls, groups, the operations themselves).
class LaunchBatches {
 public:
  static constexpr std::uint32_t kNone = 0xFFFF'FFFF;

  explicit LaunchBatches(const SoloPlayer& player);

  // Of the event at this place of the order; kNone for what is not on the application's side.
  std::uint32_t batch(std::size_t event) const { return batch_of_event_[event]; }
  std::size_t size() const { return size_; }

 private:
  std::vector<std::uint32_t> batch_of_event_;
  std::size_t size_ = 0;
};

}  // namespace nccl_sentinel::bench
