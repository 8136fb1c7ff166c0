// SPDX-License-Identifier: Apache-2.0
// What the plugin's own callbacks cost, measured on a sample of them.
#pragma once

#include "clock.h"
#include "nccl_sentinel/layout.h"
#include "sequence.h"

namespace nccl_sentinel {

// Counts one callback of a communicator, and times one in 64.
class CallbackCost {
 public:
  explicit CallbackCost(layout::Communicator& block) noexcept : block_(block) {
    if (is_timed(count(block.callbacks))) began_ns_ = monotonic_ns();
  }
  ~CallbackCost() {
    if (began_ns_ == 0) return;
    count(block_.callback_ns, monotonic_ns() - began_ns_);
    count(block_.callbacks_timed);
  }
  CallbackCost(const CallbackCost&) = delete;
  CallbackCost& operator=(const CallbackCost&) = delete;

 private:
  // Callbacks come in patterns: with two channels eight make an operation, and every 64th would be the same one of the
  // eight for ever. Steps of the golden ratio meet all of them alike (Weyl's sequence).
  static bool is_timed(std::uint64_t number) noexcept { return (number * 0x9E37'79B9'7F4A'7C15U) >> 58 == 0; }

  layout::Communicator& block_;
  std::uint64_t began_ns_ = 0;
};

}  // namespace nccl_sentinel
