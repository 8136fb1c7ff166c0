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
bool is_shown(std::uint64_t id);  // there is one

std::string name(std::uint16_t index);

// The true copy of a row's counts.
const layout::SettledCounts& counts(const layout::Operation& row);
const layout::CellCounts& counts(const layout::Cell& row);
const layout::PeerCounts& counts(const layout::Peer& row);
const layout::LinkCounts& counts(const layout::Link& row);

// The only row of that kind; for the sixteenth operation the kind is whatever came first.
const layout::Operation& operation(const layout::Communicator& communicator, const std::string& name,
                                   layout::OperationKind kind = layout::OperationKind::kCollective);
const layout::Cell& cell(const layout::Communicator& communicator, std::int16_t size_log2);
const layout::Peer& peer(const layout::Communicator& communicator, const std::string& operation, std::int32_t peer,
                         std::int16_t size_log2);
const layout::Link& link(const layout::Communicator& communicator, std::int32_t peer, layout::Direction direction);

// All cells of one operation together.
struct Measured {
  std::uint64_t operations = 0;
  std::uint64_t duration_ns = 0;
  std::uint64_t bytes = 0;
  std::uint64_t buckets[layout::kBuckets] = {};
};
Measured measured(const layout::Communicator& communicator, const std::string& operation);

// What became of operations. started = measured + skipped + refused + dropped + in_flight, always.
struct Balance {
  std::uint64_t started = 0;
  std::uint64_t measured = 0;
  std::uint64_t skipped = 0;
  std::uint64_t refused = 0;
  std::uint64_t dropped = 0;
  std::uint64_t in_flight = 0;
};
Balance balance(const layout::Communicator& communicator);
Balance balance(const layout::Communicator& communicator, const layout::Operation& row);
// Of all operations of the communicator, at their launch or after it.
std::uint64_t outcome(const layout::Communicator& communicator, layout::Outcome outcome);
std::uint64_t dropped(layout::Dropped reason);

// The balance of every row of every communicator that is open or was.
void expect_balanced();

}  // namespace nccl_sentinel::tests
