// SPDX-License-Identifier: Apache-2.0
#include "mapped_view.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <filesystem>

#include "check.h"

namespace nccl_sentinel::tests {
namespace {

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

bool is_open(const std::atomic<std::uint32_t>& state) {
  return state.load(std::memory_order_acquire) == static_cast<std::uint32_t>(layout::SlotState::kOpen);
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

std::string name(std::uint16_t index) {
  EXPECT(index < layout::kNames);
  EXPECT(is_open(mapped().names[index].state));
  return mapped().names[index].text;
}

const layout::OperationCounters& counters(const layout::Communicator& communicator, const std::string& operation) {
  for (const auto& counters : communicator.operations) {
    if (is_open(counters.state) && name(static_cast<std::uint16_t>(counters.name)) == operation) return counters;
  }
  fail(__FILE__, __LINE__, "no counters of " + operation);
}

const layout::Cell& cell(const layout::Communicator& communicator, std::int16_t size_log2) {
  const layout::Cell* found = nullptr;
  for (const auto& cell : communicator.cells) {
    if (!is_open(cell.state) || cell.size_log2 != size_log2) continue;
    EXPECT(found == nullptr);
    found = &cell;
  }
  EXPECT(found != nullptr);
  return *found;
}

Balance balance(const layout::Communicator& communicator) {
  Balance sums;
  for (const auto& counters : communicator.operations) {
    sums.started += counters.started;
    sums.measured += counters.operations;
    EXPECT_EQUAL(0U, counters.sequence % 2);
  }
  for (const auto& cell : communicator.cells) sums.in_cells += cell.operations;
  for (const auto& word : communicator.refused) sums.refused += word;
  for (const auto& word : communicator.in_flight) sums.in_flight += word != 0;
  sums.skipped = communicator.skipped;
  return sums;
}

std::uint64_t refused(const layout::Communicator& communicator, layout::Refused reason) {
  return communicator.refused[static_cast<std::size_t>(reason)];
}

std::uint64_t dropped(layout::Dropped reason) { return mapped().header.dropped[static_cast<std::size_t>(reason)]; }

std::uint64_t dropped() {
  std::uint64_t sum = 0;
  for (const auto& word : mapped().header.dropped) sum += word;
  return sum - dropped(layout::Dropped::kCommunicator);
}

void expect_balanced() {
  Balance all;
  for (const auto& slot : mapped().communicators) {
    const Balance one = balance(slot);
    EXPECT_EQUAL(one.measured, one.in_cells);
    all.started += one.started;
    all.measured += one.measured;
    all.refused += one.refused;
    all.skipped += one.skipped;
    all.in_flight += one.in_flight;
  }
  EXPECT_EQUAL(all.started, all.measured + all.skipped + all.refused + dropped() + all.in_flight);
}

}  // namespace nccl_sentinel::tests
