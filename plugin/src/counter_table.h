// SPDX-License-Identifier: Apache-2.0
// The counters of one communicator in the mapped file: found by what an operation is, and added to when it has ended.
#pragma once

#include <cstdint>
#include <optional>

#include "key_table.h"
#include "nccl_sentinel/layout.h"

namespace nccl_sentinel {

// What a cell counts: indexes into the file's names, and the class of size.
struct CellKey {
  std::uint16_t operation;
  std::uint16_t algorithm;
  std::uint16_t protocol;
  std::int16_t size_log2;
};

// floor(log2(bytes)); kSizeEmpty for an empty message.
std::int16_t size_class(std::uint64_t bytes) noexcept;

class CounterTable {
 public:
  // Starts over on a block whose tables are empty.
  void attach(layout::Communicator& block) noexcept;

  // Place of an operation's counters. Nothing when all places are taken: `unknown_counters` is left then.
  std::optional<std::uint8_t> counters(std::uint16_t name) noexcept;
  // Place of the counters that bear kUnknownName. Always there.
  std::uint8_t unknown_counters() noexcept;

  // Place of a cell. When the places for exact sizes are taken, the cell of kSizeOther; nothing when those are too.
  std::optional<std::uint8_t> cell(const CellKey& key) noexcept;

  // Adds one measured operation to its cell and its counters, to both or to neither. False: both were busy too long.
  bool measure(std::uint8_t cell, std::uint8_t counters, std::uint64_t duration_ns, std::uint64_t bytes) noexcept;

 private:
  layout::Communicator* block_;
  KeyTable<layout::kOperations> counters_;
  KeyTable<layout::kCells> cells_;
};

}  // namespace nccl_sentinel
