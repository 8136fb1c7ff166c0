// SPDX-License-Identifier: Apache-2.0
// A training process that does nothing but count: writes one cell and one operation of a mapped file as the plugin
// does, so that in every consistent copy duration = 1000 ns, logarithms = 2 and bytes = 64 for each operation counted.
// writer FILE PAUSES: locks FILE, prints "ready", and writes until it is killed, with PAUSES turns of rest in between.
#include <fcntl.h>
#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "nccl_sentinel/layout.h"

namespace layout = nccl_sentinel::layout;

namespace {

void add(layout::Word& word, std::uint64_t amount) {
  word.store(word.load(std::memory_order_relaxed) + amount, std::memory_order_release);
}

void add_to_double(layout::Word& word, double amount) {
  std::uint64_t bits = word.load(std::memory_order_relaxed);
  double sum = 0;
  std::memcpy(&sum, &bits, sizeof sum);
  sum += amount;
  std::memcpy(&bits, &sum, sizeof bits);
  word.store(bits, std::memory_order_release);
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
  layout::Cell& cell = communicator.cells[0];
  layout::OperationCounters& operation = communicator.operations[0];
  const int pauses = std::atoi(argv[2]);
  std::puts("ready");
  std::fflush(stdout);
  for (;;) {
    operation.started.fetch_add(1, std::memory_order_relaxed);
    cell.sequence.fetch_add(1, std::memory_order_acquire);
    operation.sequence.fetch_add(1, std::memory_order_acquire);
    add(cell.operations, 1);
    add(cell.duration_ns, 1000);
    add_to_double(cell.log_microseconds, 2.0);
    add(operation.operations, 1);
    add(operation.duration_ns, 1000);
    add(operation.bytes, 64);
    add(operation.buckets[0], 1);
    operation.sequence.fetch_add(1, std::memory_order_release);
    cell.sequence.fetch_add(1, std::memory_order_release);
    for (int i = 0; i < pauses; ++i) __builtin_ia32_pause();
  }
}
