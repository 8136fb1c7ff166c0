// SPDX-License-Identifier: Apache-2.0
// What the plugin's own callbacks cost, measured on a sample of them.
#pragma once

#include <algorithm>

#include "clock.h"
#include "governor.h"
#include "lock.h"
#include "nccl_sentinel/layout.h"

namespace nccl_sentinel {

// One callback in 64 is timed. Callbacks come in patterns: with two channels eight make an operation, and every 64th
// would be the same one of the eight for ever. Steps of the golden ratio meet all of them alike (Weyl's sequence).
inline constexpr std::uint64_t kCallbacksForOneTimed = 64;
inline bool is_timed(std::uint64_t number) noexcept { return (number * 0x9E37'79B9'7F4A'7C15U) >> 58 == 0; }

// Times its own lifetime where it is asked to.
class CallbackCost {
 public:
  // A thread that lost its processor in a callback paid the scheduler, not us: no callback counts for longer.
  static constexpr std::uint64_t kLongestNs = 20'000;

  // `governor`: of a timed operation's callback, whom it is charged to; else null.
  CallbackCost(layout::Communicator& block, bool timed, Governor* governor = nullptr) noexcept
      : block_(block), governor_(governor), began_(timed ? tick_clock.now() : 0) {}
  ~CallbackCost() {
    if (__builtin_expect(began_ != 0, 0)) {
      const std::uint64_t ns = std::min(tick_clock.to_ns(tick_clock.now() - began_), kLongestNs);
      count(block_.callback_ns, ns);
      count(block_.callbacks_timed);
      if (governor_ != nullptr) governor_->spend(ns);
    }
  }
  void charge(Governor& governor) noexcept { governor_ = &governor; }
  CallbackCost(const CallbackCost&) = delete;
  CallbackCost& operator=(const CallbackCost&) = delete;

 private:
  layout::Communicator& block_;
  Governor* governor_;
  std::uint64_t began_;
};

}  // namespace nccl_sentinel
