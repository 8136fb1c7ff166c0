// SPDX-License-Identifier: Apache-2.0
// The rows of one communicator in the mapped file: found by what an operation is, and added to when it has ended.
#pragma once

#include <cstdint>
#include <optional>

#include "key_table.h"
#include "lock.h"
#include "nccl_sentinel/layout.h"
#include "row.h"

namespace nccl_sentinel {

// What a cell counts: indexes into the file's names, and the class of size.
struct CellKey {
  std::uint16_t operation;
  std::uint16_t algorithm;
  std::uint16_t protocol;
  std::int16_t size_log2;
};

struct PeerKey {
  std::uint16_t operation;
  std::int16_t size_log2;
  std::int32_t peer;
};

// Intervals of one network operation's steps, in the order of layout::LinkCounts.
struct StepTimes {
  std::uint64_t steps[layout::kStepStates];
  std::uint64_t duration_ns[layout::kStepStates];
  std::uint64_t bytes;
};

// floor(log2(bytes)); kSizeEmpty for an empty message.
std::int16_t size_class(std::uint64_t bytes) noexcept;

class Counters {
 public:
  // Starts over on a block whose rows are empty.
  void attach(layout::Communicator& block) noexcept;

  // Place of the row of a name. Nothing when all places are taken: kUnknownRow is left then.
  std::optional<std::uint8_t> operation(std::uint16_t name, layout::OperationKind kind) noexcept;
  // Index of a row's name.
  std::uint16_t name(std::uint8_t operation) const noexcept {
    return __atomic_load_n(&block_->operations[operation].name, __ATOMIC_RELAXED);
  }
  // The row that bears kUnknownName. Always there.
  static constexpr std::uint8_t kUnknownRow = layout::kOperations - 1;

  // Places of cells, peers and links. When the exact places are taken, those of kSizeOther and kPeerOther; nothing when
  // those are too.
  std::optional<std::uint8_t> cell(const CellKey& key) noexcept;
  std::optional<std::uint8_t> peer(const PeerKey& key) noexcept;
  std::uint8_t link(std::int32_t peer, layout::Direction direction) noexcept;

  // An operation is in flight: its word is stored, with its number in the row, and counted. False: the row was busy too
  // long, and nothing has changed.
  bool launch(std::uint8_t operation, layout::Word& flight, std::uint64_t word) noexcept;

  // An operation has ended and is in flight no longer. False: its row was busy too long, and nothing has changed.
  bool measure_collective(std::uint8_t cell, const Flight& flight, std::uint64_t duration_ns,
                          std::uint64_t bytes) noexcept;
  bool measure_p2p(std::uint8_t peer, const Flight& flight, std::uint64_t duration_ns, std::uint64_t bytes) noexcept;
  // `outcome` is one of layout::kSettled.
  bool settle(std::uint8_t operation, const Flight& flight, layout::Outcome outcome) noexcept;

  // False: the row was busy too long.
  bool add_steps(std::uint8_t link, const StepTimes& times) noexcept;

 private:
  layout::Communicator* block_;
  KeyTable<layout::kOperations> operations_;
  KeyTable<layout::kCells> cells_;
  KeyTable<layout::kPeers> peers_;
  KeyTable<layout::kLinks> links_;
  Lock operation_locks_[layout::kOperations];
  Lock cell_locks_[layout::kCells];
  Lock peer_locks_[layout::kPeers];
  Lock link_locks_[layout::kLinks];
};

}  // namespace nccl_sentinel
