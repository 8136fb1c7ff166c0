// SPDX-License-Identifier: Apache-2.0
// One timed operation between its launch and its end: a place in its communicator's ring. Private memory, never mapped.
#pragma once

#include <cstdint>

#include "channel_times.h"
#include "nccl_sentinel/layout.h"
#include "place.h"

namespace nccl_sentinel {

struct alignas(64) Operation : Place {
  std::uint64_t number;  // how many timed operations of this communicator came before it
  std::uint64_t group;   // how many groups NCCL had launched by then
  std::uint64_t bytes;
  ChannelTimes times;
  std::uint64_t net_channels;  // one bit a channel that has network steps
  std::uint32_t callbacks;     // that were made for it
  std::uint8_t row;            // place in layout::Communicator::operations
  std::uint8_t counted_in;     // place in cells, or in peers
  layout::OperationKind kind;
  bool is_replay;  // of a CUDA graph
};

}  // namespace nccl_sentinel
