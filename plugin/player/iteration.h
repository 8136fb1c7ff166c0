// SPDX-License-Identifier: Apache-2.0
// One pass over a segment: when it happens, how it is numbered, and the handles that it got from the plugin.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "script.h"

namespace nccl_sentinel::player {

enum class SlotState : std::uint32_t { kPending, kEmitted, kSuppressed };

// What became of a start. `state` is stored last.
struct Slot {
  std::atomic<SlotState> state{SlotState::kPending};
  std::int32_t mask =
      0;  // of an operation: the mask that decides over what happens inside it; of a group: over its operations
  void* handle = nullptr;
};

struct Iteration {
  Iteration(std::size_t segment_place, const script::Segment& shape)
      : segment(segment_place), slots(std::make_unique<Slot[]>(shape.slots)) {}

  std::size_t segment;
  std::uint64_t number = 0;   // since the start of the run
  std::int64_t begin_ns = 0;  // CLOCK_MONOTONIC
  std::int64_t end_ns = 0;    // the boundary: where the next one begins
  std::int64_t trace_ns = 0;  // the same moment as begin_ns in the time of the trace, which pace does not stretch
  std::vector<std::uint64_t> sequences;  // by counter: the number of the first operation of this iteration
  std::unique_ptr<Slot[]> slots;

  // Decided at the boundary, under the timeline's lock.
  std::shared_ptr<Iteration> next;
  bool decided = false;
};

}  // namespace nccl_sentinel::player
