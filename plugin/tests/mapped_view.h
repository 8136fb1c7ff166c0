// SPDX-License-Identifier: Apache-2.0
// This process's own file as a reader sees it.
#pragma once

#include <cstdint>
#include <string>

#include "nccl_sentinel/layout.h"

namespace nccl_sentinel::tests {

// Mapped read-only from the only file in NCCL_SENTINEL_DIR.
const layout::File& mapped();

// The slot that is open for a communicator id.
const layout::Communicator& communicator(std::uint64_t id);

std::string name(std::uint16_t index);
const layout::OperationCounters& counters(const layout::Communicator& communicator, const std::string& operation);
// The only cell of that size class.
const layout::Cell& cell(const layout::Communicator& communicator, std::int16_t size_log2);

struct Balance {
  std::uint64_t started = 0;
  std::uint64_t measured = 0;
  std::uint64_t in_cells = 0;
  std::uint64_t refused = 0;
  std::uint64_t skipped = 0;
  std::uint64_t in_flight = 0;
};
Balance balance(const layout::Communicator& communicator);
std::uint64_t refused(const layout::Communicator& communicator, layout::Refused reason);
std::uint64_t dropped(layout::Dropped reason);
std::uint64_t dropped();  // of operations, for all reasons but kCommunicator

// started = measured + skipped + refused + dropped + in flight, over all communicators that are open or were.
void expect_balanced();

}  // namespace nccl_sentinel::tests
