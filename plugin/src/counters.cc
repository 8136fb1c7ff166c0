// SPDX-License-Identifier: Apache-2.0
#include "counters.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>

#include "name_table.h"

namespace nccl_sentinel {
namespace {

using layout::kCells;
using layout::kLinks;
using layout::kOtherCells;
using layout::kOtherLinks;
using layout::kOtherPeers;
using layout::kPeers;

constexpr auto kOpen = static_cast<std::uint32_t>(layout::SlotState::kOpen);
constexpr std::uint64_t kTaken = std::uint64_t{1} << 63;  // no key is 0

std::uint64_t pack(const CellKey& key) noexcept {
  return kTaken | static_cast<std::uint64_t>(key.operation) << 48 | static_cast<std::uint64_t>(key.algorithm) << 32 |
         static_cast<std::uint64_t>(key.protocol) << 16 | static_cast<std::uint16_t>(key.size_log2);
}

std::uint64_t pack(const PeerKey& key) noexcept {
  return kTaken | static_cast<std::uint64_t>(key.operation) << 48 |
         static_cast<std::uint64_t>(static_cast<std::uint16_t>(key.size_log2)) << 32 |
         static_cast<std::uint32_t>(key.peer);
}

std::uint64_t pack_link(std::int32_t peer, layout::Direction direction) noexcept {
  return kTaken | static_cast<std::uint64_t>(direction) << 32 | static_cast<std::uint32_t>(peer);
}

// Names and kinds are below this many bits in a key: see pack.
static_assert(layout::kNames < 1U << 15);

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

constexpr std::size_t settled_place(layout::Outcome outcome) noexcept {
  for (std::size_t i = 0; i < layout::kSettledOutcomes; ++i) {
    if (layout::kSettled[i] == outcome) return i;
  }
  return 0;
}

template <std::size_t kPlaces>
void clear(Lock (&locks)[kPlaces]) noexcept {
  for (Lock& lock : locks) lock.store(0, std::memory_order_relaxed);
}

}  // namespace

std::int16_t size_class(std::uint64_t bytes) noexcept {
  return bytes == 0 ? layout::kSizeEmpty : static_cast<std::int16_t>(63 - __builtin_clzll(bytes));
}

void Counters::attach(layout::Communicator& block) noexcept {
  block_ = &block;
  operations_.clear();
  cells_.clear();
  peers_.clear();
  links_.clear();
  clear(operation_locks_);
  clear(cell_locks_);
  clear(peer_locks_);
  clear(link_locks_);
  // Its name is index 0, which an empty block already says.
  static_assert(kUnknownName == 0);
  block.operations[kUnknownRow].state.store(kOpen, std::memory_order_release);
}

std::optional<std::uint8_t> Counters::operation(std::uint16_t name, layout::OperationKind kind) noexcept {
  if (name == kUnknownName) return kUnknownRow;
  const std::uint64_t key = std::uint64_t{name} << 8 | static_cast<std::uint64_t>(kind);
  const auto found = operations_.find(key, 0, kUnknownRow);
  if (!found) return std::nullopt;
  if (found->is_new) {
    layout::Operation& row = block_->operations[found->place];
    __atomic_store_n(&row.name, name, __ATOMIC_RELAXED);
    row.kind = kind;
    row.state.store(kOpen, std::memory_order_release);
  }
  return static_cast<std::uint8_t>(found->place);
}

std::optional<std::uint8_t> Counters::cell(const CellKey& key) noexcept {
  CellKey kept = key;
  auto found = cells_.find(pack(kept), 0, kCells - kOtherCells);
  if (!found) {
    kept.size_log2 = layout::kSizeOther;
    found = cells_.find(pack(kept), kCells - kOtherCells, kOtherCells);
  }
  if (!found) return std::nullopt;
  if (found->is_new) {
    layout::Cell& row = block_->cells[found->place];
    row.operation = kept.operation;
    row.algorithm = kept.algorithm;
    row.protocol = kept.protocol;
    row.size_log2 = kept.size_log2;
    row.state.store(kOpen, std::memory_order_release);
  }
  return static_cast<std::uint8_t>(found->place);
}

std::optional<std::uint8_t> Counters::peer(const PeerKey& key) noexcept {
  PeerKey kept = key;
  auto found = peers_.find(pack(kept), 0, kPeers - kOtherPeers);
  if (!found) {
    kept.size_log2 = layout::kSizeOther;
    kept.peer = layout::kPeerOther;
    found = peers_.find(pack(kept), kPeers - kOtherPeers, kOtherPeers);
  }
  if (!found) return std::nullopt;
  if (found->is_new) {
    layout::Peer& row = block_->peers[found->place];
    row.operation = kept.operation;
    row.size_log2 = kept.size_log2;
    row.peer = kept.peer;
    row.state.store(kOpen, std::memory_order_release);
  }
  return static_cast<std::uint8_t>(found->place);
}

std::uint8_t Counters::link(std::int32_t peer, layout::Direction direction) noexcept {
  constexpr std::size_t kExact = kLinks - kOtherLinks;
  auto found = peer < 0 ? std::nullopt : links_.find(pack_link(peer, direction), 0, kExact);
  if (!found) {
    peer = layout::kPeerOther;
    found = links_.find(pack_link(peer, direction), kExact + static_cast<std::size_t>(direction), 1);
  }
  if (found->is_new) {  // each direction has a place for others: there always is one
    layout::Link& row = block_->links[found->place];
    row.peer = peer;
    row.direction = direction;
    row.state.store(kOpen, std::memory_order_release);
  }
  return static_cast<std::uint8_t>(found->place);
}

bool Counters::launch(std::uint8_t operation, layout::Word& flight, std::uint64_t word) noexcept {
  const LockHold hold(operation_locks_[operation]);
  if (!hold) return false;
  layout::Word& launched = block_->operations[operation].launched;
  const std::uint64_t number = launched.load(std::memory_order_relaxed);
  flight.store(word | (number & layout::kFlightNumberMask) << layout::kFlightNumberShift, std::memory_order_release);
  launched.store(number + 1, std::memory_order_release);
  return true;
}

bool Counters::measure_collective(std::uint8_t cell, const Flight& flight, std::uint64_t duration_ns,
                                  std::uint64_t bytes) noexcept {
  const LockHold hold(cell_locks_[cell]);
  if (!hold) return false;
  layout::Cell& row = block_->cells[cell];
  commit_end(row.commit, row.counts, flight, [&](layout::CellCounts& counts) {
    add(counts.operations, 1);
    add(counts.duration_ns, duration_ns);
    add_log_microseconds(counts.log_microseconds, duration_ns);
    add(counts.bytes, bytes);
    add(counts.buckets[bucket(duration_ns)], 1);
  });
  return true;
}

bool Counters::measure_p2p(std::uint8_t peer, const Flight& flight, std::uint64_t duration_ns,
                           std::uint64_t bytes) noexcept {
  const LockHold hold(peer_locks_[peer]);
  if (!hold) return false;
  layout::Peer& row = block_->peers[peer];
  commit_end(row.commit, row.counts, flight, [&](layout::PeerCounts& counts) {
    add(counts.operations, 1);
    add(counts.duration_ns, duration_ns);
    add(counts.bytes, bytes);
  });
  return true;
}

bool Counters::settle(std::uint8_t operation, const Flight& flight, layout::Outcome outcome) noexcept {
  const LockHold hold(operation_locks_[operation]);
  if (!hold) return false;
  layout::Operation& row = block_->operations[operation];
  commit_end(row.commit, row.settled, flight,
             [&](layout::SettledCounts& counts) { add(counts.outcomes[settled_place(outcome)], 1); });
  return true;
}

bool Counters::add_steps(std::uint8_t link, const StepTimes& times) noexcept {
  const LockHold hold(link_locks_[link]);
  if (!hold) return false;
  layout::Link& row = block_->links[link];
  commit(row.commit, row.counts, 0, [&](layout::LinkCounts& counts) {
    for (std::size_t i = 0; i < layout::kStepStates; ++i) {
      add(counts.steps[i], times.steps[i]);
      add(counts.duration_ns[i], times.duration_ns[i]);
    }
    add(counts.bytes, times.bytes);
    add(counts.operations, 1);
  });
  return true;
}

}  // namespace nccl_sentinel
