// SPDX-License-Identifier: Apache-2.0
// A training process that does nothing but count: launches and ends operations of one row, one cell and one link of a
// mapped file as the plugin does. In every consistent copy a measured operation has 1000 ns, a logarithm of 2, 64 bytes
// and one step of each state; one in 16 is refused, one in 7 was skipped before.
// writer FILE PAUSES: locks FILE, prints "ready", and writes until it is killed, with PAUSES turns of rest in between.
#include <fcntl.h>
#include <sys/mman.h>
#include <time.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "nccl_sentinel/layout.h"
#include "row.h"

namespace layout = nccl_sentinel::layout;
using nccl_sentinel::add;

namespace {

constexpr std::uint64_t kMostInFlight = 3;

void add_to_double(layout::Word& word, double amount) {
  std::uint64_t bits = word.load(std::memory_order_relaxed);
  double sum = 0;
  std::memcpy(&sum, &bits, sizeof sum);
  sum += amount;
  std::memcpy(&bits, &sum, sizeof bits);
  word.store(bits, std::memory_order_release);
}

std::uint64_t place_of(std::uint64_t number) { return number % layout::kInFlight; }

void launch(layout::Communicator& communicator, std::uint64_t number) {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const std::uint64_t ns =
      static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
  communicator.in_flight[place_of(number)].store(
      ns >> layout::kFlightTimeUnit << layout::kFlightTimeShift |
          (number & layout::kFlightNumberMask) << layout::kFlightNumberShift | (number & layout::kFlightGenerationMask),
      std::memory_order_release);
  add(communicator.operations[0].launched, 1);
}

void end(layout::Communicator& communicator, std::uint64_t number) {
  const nccl_sentinel::Flight flight{
      &communicator.in_flight[place_of(number)],
      nccl_sentinel::flight_name(static_cast<std::uint32_t>(place_of(number)), static_cast<std::uint32_t>(number))};
  if (number % 16 == 5) {
    layout::Operation& row = communicator.operations[0];
    nccl_sentinel::commit_end(row.commit, row.settled, flight,
                              [](layout::SettledCounts& counts) { add(counts.outcomes[2], 1); });
    return;
  }
  layout::Cell& cell = communicator.cells[0];
  nccl_sentinel::commit_end(cell.commit, cell.counts, flight, [](layout::CellCounts& counts) {
    add(counts.operations, 1);
    add(counts.duration_ns, 1000);
    add_to_double(counts.log_microseconds, 2.0);
    add(counts.bytes, 64);
    add(counts.buckets[0], 1);
  });
  layout::Link& link = communicator.links[0];
  nccl_sentinel::commit(link.commit, link.counts, 0, [](layout::LinkCounts& counts) {
    for (std::size_t state = 0; state < layout::kStepStates; ++state) {
      add(counts.steps[state], 1);
      add(counts.duration_ns[state], 1000);
    }
    add(counts.bytes, 64);
    add(counts.operations, 1);
  });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const int fd = open(argv[1], O_RDWR);
  struct flock whole{};
  whole.l_type = F_WRLCK;
  if (fd < 0 || fcntl(fd, F_SETLK, &whole) != 0) return 1;
  void* mapping = mmap(nullptr, sizeof(layout::File), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (mapping == MAP_FAILED) return 1;
  auto& communicator = static_cast<layout::File*>(mapping)->communicators[0];
  const int pauses = std::atoi(argv[2]);
  std::puts("ready");
  std::fflush(stdout);
  for (std::uint64_t number = 0;; ++number) {
    launch(communicator, number);
    if (number % 7 == 0) add(communicator.operations[0].left_out[0], 1);
    if (number >= kMostInFlight) end(communicator, number - kMostInFlight);
    for (int i = 0; i < pauses; ++i) __builtin_ia32_pause();
  }
}
