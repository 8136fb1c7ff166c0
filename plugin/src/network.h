// SPDX-License-Identifier: Apache-2.0
// Network operations of one communicator and the intervals of their steps. Private memory, never mapped.
#pragma once

#include <cstdint>
#include <optional>

#include "counters.h"
#include "nccl_sentinel/layout.h"
#include "place.h"

namespace nccl_sentinel {

// One ProxyOp between its start and its stop.
struct alignas(64) NetworkOperation : Place {
  // Steps in flight at a time: NCCL's buffers have eight.
  static constexpr std::uint32_t kSteps = 16;
  // What a handle keeps of a step's number.
  static constexpr std::uint32_t kStepParts = 64;

  struct Step {
    std::uint64_t since;  // ticks; when the present interval began
    std::uint64_t bytes;
    std::uint32_t part;     // of its number
    std::int32_t interval;  // place in StepTimes; kNone before the first state
  };
  static constexpr std::int32_t kNone = -1;

  void reset(std::uint8_t link_place, layout::Direction its_direction) noexcept;

  // A step is known by its number modulo kStepParts. It begins; its time is counted from its first state on.
  void start_step(std::uint32_t part) noexcept;
  void record(std::uint32_t part, int state, const std::uint64_t* bytes, std::uint64_t now) noexcept;
  void stop_step(std::uint32_t part, std::uint64_t now) noexcept;

  // Ticks became nanoseconds.
  StepTimes times() const noexcept;

  std::uint8_t link;
  layout::Direction direction;
  std::uint32_t callbacks;  // that were made for it and its steps

 private:
  void close_interval(Step& step, std::uint64_t now) noexcept;

  std::uint64_t steps_[layout::kStepStates];
  std::uint64_t ticks_[layout::kStepStates];
  std::uint64_t bytes_;
  Step current_[kSteps];
};

}  // namespace nccl_sentinel
