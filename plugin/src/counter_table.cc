// SPDX-License-Identifier: Apache-2.0
#include "counter_table.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>

#include "name_table.h"
#include "sequence.h"

namespace nccl_sentinel {
namespace {

constexpr auto kOpen = static_cast<std::uint32_t>(layout::SlotState::kOpen);

// The last place of the operations bears kUnknownName, and the last places of the cells bear kSizeOther.
constexpr std::size_t kNamedCounters = layout::kOperations - 1;
constexpr std::size_t kOtherCells = 16;
constexpr std::size_t kExactCells = layout::kCells - kOtherCells;

std::uint64_t pack(const CellKey& key) noexcept {
  return std::uint64_t{1} << 63 | static_cast<std::uint64_t>(key.operation) << 48 |
         static_cast<std::uint64_t>(key.algorithm) << 32 | static_cast<std::uint64_t>(key.protocol) << 16 |
         static_cast<std::uint16_t>(key.size_log2);
}

void add_log_microseconds(layout::Word& word, std::uint64_t duration_ns) noexcept {
  const std::uint64_t old_bits = word.load(std::memory_order_relaxed);
  double sum = 0;
  std::memcpy(&sum, &old_bits, sizeof sum);
  sum += std::log(std::max(1.0, static_cast<double>(duration_ns) / 1000.0));
  std::uint64_t bits = 0;
  std::memcpy(&bits, &sum, sizeof bits);
  word.store(bits, std::memory_order_release);
}

std::size_t bucket(std::uint64_t duration_ns) noexcept {
  const auto* bound =
      std::lower_bound(std::begin(layout::kBucketBoundsNs), std::end(layout::kBucketBoundsNs), duration_ns);
  return static_cast<std::size_t>(bound - std::begin(layout::kBucketBoundsNs));
}

}  // namespace

std::int16_t size_class(std::uint64_t bytes) noexcept {
  return bytes == 0 ? layout::kSizeEmpty : static_cast<std::int16_t>(63 - __builtin_clzll(bytes));
}

void CounterTable::attach(layout::Communicator& block) noexcept {
  block_ = &block;
  counters_.clear();
  cells_.clear();
}

std::optional<std::uint8_t> CounterTable::counters(std::uint16_t name) noexcept {
  if (name == kUnknownName) return unknown_counters();
  const auto found = counters_.find(name, 0, kNamedCounters);
  if (!found) return std::nullopt;
  if (found->is_new) {
    layout::OperationCounters& place = block_->operations[found->place];
    place.name = name;
    place.state.store(kOpen, std::memory_order_release);
  }
  return static_cast<std::uint8_t>(found->place);
}

std::uint8_t CounterTable::unknown_counters() noexcept {
  // Its name is index 0, which an empty block already says.
  static_assert(kUnknownName == 0);
  block_->operations[kNamedCounters].state.store(kOpen, std::memory_order_release);
  return static_cast<std::uint8_t>(kNamedCounters);
}

std::optional<std::uint8_t> CounterTable::cell(const CellKey& key) noexcept {
  CellKey kept = key;
  auto found = cells_.find(pack(kept), 0, kExactCells);
  if (!found) {
    kept.size_log2 = layout::kSizeOther;
    found = cells_.find(pack(kept), kExactCells, kOtherCells);
  }
  if (!found) return std::nullopt;
  if (found->is_new) {
    layout::Cell& place = block_->cells[found->place];
    place.operation = kept.operation;
    place.algorithm = kept.algorithm;
    place.protocol = kept.protocol;
    place.size_log2 = kept.size_log2;
    place.state.store(kOpen, std::memory_order_release);
  }
  return static_cast<std::uint8_t>(found->place);
}

bool CounterTable::measure(std::uint8_t cell, std::uint8_t counters, std::uint64_t duration_ns,
                           std::uint64_t bytes) noexcept {
  layout::Cell& exact = block_->cells[cell];
  layout::OperationCounters& all = block_->operations[counters];
  const SequenceHold exact_hold(exact.sequence);
  if (!exact_hold) return false;
  const SequenceHold all_hold(all.sequence);
  if (!all_hold) return false;

  add(exact.operations, 1);
  add(exact.duration_ns, duration_ns);
  add_log_microseconds(exact.log_microseconds, duration_ns);
  add(all.operations, 1);
  add(all.duration_ns, duration_ns);
  add(all.bytes, bytes);
  add(all.buckets[bucket(duration_ns)], 1);
  return true;
}

}  // namespace nccl_sentinel
