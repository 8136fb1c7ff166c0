// SPDX-License-Identifier: Apache-2.0
#include "mapped_view.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <cstdlib>
#include <filesystem>
#include <set>
#include <utility>

#include "check.h"

namespace nccl_sentinel::tests {
namespace {

using layout::OperationKind;
using layout::Outcome;
using layout::SlotState;

constexpr std::size_t kUnknownRow = layout::kOperations - 1;

const layout::File* map_only_file() {
  const char* directory = std::getenv("NCCL_SENTINEL_DIR");
  EXPECT(directory != nullptr);
  std::filesystem::path only;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    EXPECT_EQUAL(std::string(), only.string());
    only = entry.path();
  }
  const int fd = open(only.c_str(), O_RDONLY | O_CLOEXEC);  // left open: closing it would drop the plugin's lock
  EXPECT(fd >= 0);
  void* mapping = mmap(nullptr, sizeof(layout::File), PROT_READ, MAP_SHARED, fd, 0);
  EXPECT(mapping != MAP_FAILED);
  return static_cast<const layout::File*>(mapping);
}

bool is(SlotState expected, const std::atomic<std::uint32_t>& state) {
  return state.load(std::memory_order_acquire) == static_cast<std::uint32_t>(expected);
}

bool is_open(const std::atomic<std::uint32_t>& state) { return is(SlotState::kOpen, state); }

template <typename Row>
std::size_t true_copy(const Row& row) {
  return row.commit.load(std::memory_order_acquire) >> layout::kCommitShift & 1;
}

template <typename Rows, typename Matches>
const auto& only_row(const Rows& rows, const std::string& what, Matches matches) {
  decltype(&rows[0]) found = nullptr;
  for (const auto& row : rows) {
    if (!is_open(row.state) || !matches(row)) continue;
    if (found != nullptr) fail(__FILE__, __LINE__, "more than one " + what);
    found = &row;
  }
  if (found == nullptr) fail(__FILE__, __LINE__, "no " + what);
  return *found;
}

// Places and low bits of generations of operations that a commit says have ended.
using Ended = std::set<std::pair<std::uint64_t, std::uint64_t>>;

template <typename Rows>
void collect_ended(const Rows& rows, Ended& ended) {
  for (const auto& row : rows) {
    const std::uint64_t commit = row.commit.load(std::memory_order_acquire);
    if (!is_open(row.state) || (commit & layout::kCommitNames) == 0) continue;
    ended.emplace(commit >> layout::kCommitPlaceShift & (layout::kInFlight - 1),
                  commit >> layout::kCommitGenerationShift & layout::kFlightGenerationMask);
  }
}

// Operations of one row that are in flight, and how many of them its `launched` does not hold yet.
std::pair<std::uint64_t, std::uint64_t> in_flight(const layout::Communicator& communicator, std::size_t place_of_row) {
  Ended ended;
  collect_ended(communicator.operations, ended);
  collect_ended(communicator.cells, ended);
  collect_ended(communicator.peers, ended);
  const std::uint64_t launched = communicator.operations[place_of_row].launched;
  std::uint64_t flying = 0;
  std::uint64_t uncounted = 0;
  for (std::size_t place = 0; place < layout::kInFlight; ++place) {
    const std::uint64_t word = communicator.in_flight[place];
    if (word == 0 || (word >> layout::kFlightOperationShift & 15) != place_of_row) continue;
    if (ended.count({place, word & layout::kFlightGenerationMask}) != 0) continue;
    ++flying;
    const std::uint64_t ahead = ((word >> layout::kFlightNumberShift) - launched) & layout::kFlightNumberMask;
    uncounted += ahead <= layout::kInFlight;
  }
  return {flying, uncounted};
}

std::uint64_t measured_of(const layout::Communicator& communicator, const layout::Operation& row) {
  const bool is_any = &row == &communicator.operations[kUnknownRow];
  std::uint64_t sum = 0;
  for (const auto& cell : communicator.cells) {
    if (is_open(cell.state) && cell.operation == row.name && (is_any || row.kind == OperationKind::kCollective)) {
      sum += counts(cell).operations;
    }
  }
  for (const auto& peer : communicator.peers) {
    if (is_open(peer.state) && peer.operation == row.name && (is_any || row.kind == OperationKind::kPointToPoint)) {
      sum += counts(peer).operations;
    }
  }
  return sum;
}

// What became of a row's operations that were launched and not measured, and of those that never were launched.
std::uint64_t outcome_of(const layout::Operation& row, Outcome outcome) {
  std::uint64_t sum = row.left_out[static_cast<std::size_t>(outcome)];
  for (std::size_t i = 0; i < layout::kSettledOutcomes; ++i) {
    if (layout::kSettled[i] == outcome) sum += counts(row).outcomes[i];
  }
  return sum;
}

void expect_balanced(const Balance& one) {
  EXPECT_EQUAL(one.started, one.measured + one.skipped + one.refused + one.dropped + one.in_flight);
}

}  // namespace

const layout::File& mapped() {
  static const layout::File* file = map_only_file();
  return *file;
}

const layout::Communicator& communicator(std::uint64_t id) {
  for (const auto& slot : mapped().communicators) {
    if (is_open(slot.state) && slot.id == id) return slot;
  }
  fail(__FILE__, __LINE__, "no open communicator " + std::to_string(id));
}

bool is_shown(std::uint64_t id) {
  for (const auto& slot : mapped().communicators) {
    if (is_open(slot.state) && slot.id == id) return true;
  }
  return false;
}

std::string name(std::uint16_t index) {
  EXPECT(index < layout::kNames);
  EXPECT(is_open(mapped().names[index].state));
  return mapped().names[index].text;
}

const layout::SettledCounts& counts(const layout::Operation& row) { return row.settled[true_copy(row)]; }
const layout::CellCounts& counts(const layout::Cell& row) { return row.counts[true_copy(row)]; }
const layout::PeerCounts& counts(const layout::Peer& row) { return row.counts[true_copy(row)]; }
const layout::LinkCounts& counts(const layout::Link& row) { return row.counts[true_copy(row)]; }

const layout::Operation& operation(const layout::Communicator& communicator, const std::string& text,
                                   OperationKind kind) {
  const layout::Operation* unknown = &communicator.operations[kUnknownRow];
  return only_row(communicator.operations, "operation " + text, [&](const layout::Operation& row) {
    return name(row.name) == text && (row.kind == kind || &row == unknown);
  });
}

const layout::Cell& cell(const layout::Communicator& communicator, std::int16_t size_log2) {
  return only_row(communicator.cells, "cell of size " + std::to_string(size_log2),
                  [&](const layout::Cell& row) { return row.size_log2 == size_log2; });
}

const layout::Peer& peer(const layout::Communicator& communicator, const std::string& text, std::int32_t rank,
                         std::int16_t size_log2) {
  return only_row(communicator.peers, text + " of peer " + std::to_string(rank), [&](const layout::Peer& row) {
    return name(row.operation) == text && row.peer == rank && row.size_log2 == size_log2;
  });
}

const layout::Link& link(const layout::Communicator& communicator, std::int32_t rank, layout::Direction direction) {
  return only_row(communicator.links, "link to peer " + std::to_string(rank),
                  [&](const layout::Link& row) { return row.peer == rank && row.direction == direction; });
}

Measured measured(const layout::Communicator& communicator, const std::string& text) {
  Measured sums;
  for (const auto& cell : communicator.cells) {
    if (!is_open(cell.state) || name(cell.operation) != text) continue;
    const layout::CellCounts& one = counts(cell);
    sums.operations += one.operations;
    sums.duration_ns += one.duration_ns;
    sums.bytes += one.bytes;
    for (std::size_t i = 0; i < layout::kBuckets; ++i) sums.buckets[i] += one.buckets[i];
  }
  return sums;
}

Balance balance(const layout::Communicator& communicator, const layout::Operation& row) {
  Balance sums;
  const auto [flying, uncounted] = in_flight(communicator, static_cast<std::size_t>(&row - communicator.operations));
  sums.started = row.launched + uncounted;
  for (const auto& word : row.left_out) sums.started += word;
  sums.measured = measured_of(communicator, row);
  sums.skipped = outcome_of(row, Outcome::kSkipped);
  for (auto one = static_cast<std::uint32_t>(Outcome::kNegative); one <= static_cast<std::uint32_t>(Outcome::kUntimed);
       ++one) {
    sums.refused += outcome_of(row, static_cast<Outcome>(one));
  }
  for (auto one = static_cast<std::uint32_t>(Outcome::kDroppedOperation);
       one < static_cast<std::uint32_t>(Outcome::kCount); ++one) {
    sums.dropped += outcome_of(row, static_cast<Outcome>(one));
  }
  sums.in_flight = flying;
  return sums;
}

Balance balance(const layout::Communicator& communicator) {
  Balance sums;
  for (const auto& row : communicator.operations) {
    if (!is_open(row.state)) continue;
    const Balance one = balance(communicator, row);
    sums.started += one.started;
    sums.measured += one.measured;
    sums.skipped += one.skipped;
    sums.refused += one.refused;
    sums.dropped += one.dropped;
    sums.in_flight += one.in_flight;
  }
  return sums;
}

std::uint64_t outcome(const layout::Communicator& communicator, Outcome outcome) {
  std::uint64_t sum = 0;
  for (const auto& row : communicator.operations) sum += outcome_of(row, outcome);
  return sum;
}

std::uint64_t dropped(layout::Dropped reason) { return mapped().header.dropped[static_cast<std::size_t>(reason)]; }

void expect_balanced() {
  for (const auto& slot : mapped().communicators) {
    if (!is_open(slot.state) && !is(SlotState::kClosed, slot.state)) continue;
    std::uint64_t measured_in_rows = 0;
    for (const auto& row : slot.operations) {
      if (!is_open(row.state)) continue;
      expect_balanced(balance(slot, row));
      measured_in_rows += measured_of(slot, row);
    }
    std::uint64_t measured = 0;
    for (const auto& cell : slot.cells) {
      std::uint64_t in_buckets = 0;
      for (const auto& bucket : counts(cell).buckets) in_buckets += bucket;
      EXPECT_EQUAL(counts(cell).operations.load(), in_buckets);
      measured += in_buckets;
    }
    for (const auto& peer : slot.peers) measured += counts(peer).operations;
    EXPECT_EQUAL(measured, measured_in_rows);
  }
}

}  // namespace nccl_sentinel::tests
