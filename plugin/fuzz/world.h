// SPDX-License-Identifier: Apache-2.0
// What the fuzzing threads share: communicators that come and go, and a pool of handles that anybody may use.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include "mailbox.h"
#include "options.h"
#include "random.h"
#include "table.h"

namespace nccl_sentinel::fuzz {

// One after another tenant opens a communicator here; a context stays when its communicator has been closed.
struct Seat {
  std::mutex lifecycle;  // NCCL opens and closes a communicator from one thread
  std::atomic<bool> open{false};
  std::atomic<void*> context{nullptr};
  std::atomic<std::uint64_t> id{0};
  std::atomic<const Table*> table{nullptr};
  std::atomic<std::uint64_t> sequence{0};
};

class World {
 public:
  World(const Options& options, const std::vector<Table>& tables);

  const Options& options() const { return options_; }
  // Any, or with --owners one of this thread's own.
  Seat& seat(Random& random, unsigned thread) {
    const std::size_t own = seats_.size() / options_.threads * options_.threads;
    if (!options_.owners) return seats_[random.below(seats_.size())];
    return seats_[random.below(own / options_.threads) * options_.threads + thread];
  }
  // What the thread before this one has launched.
  Mailbox& mailbox(unsigned thread) { return mailboxes_[thread % options_.threads]; }
  std::vector<Seat>& seats() { return seats_; }
  const Table& table(Random& random) const { return tables_[random.below(tables_.size())]; }

  // NCCL's one mask, read as NCCL does. Each version of the interface stands for another NCCL.
  int mask(const Table& table) const { return __atomic_load_n(&masks_[table.version()], __ATOMIC_RELAXED); }

  // Opens the seat's communicator, or closes it and leaves the stale context there.
  void open(Seat& seat, Random& random);
  void close(Seat& seat);

  // Handles that were given to anybody; the random one may be stale, or be used by somebody else at this moment.
  void share(void* handle, Random& random) { handles_[random.below(kHandles)].store(handle); }
  void* any_handle(Random& random);

 private:
  static constexpr std::size_t kHandles = 1024;

  const Options& options_;
  const std::vector<Table>& tables_;
  std::vector<Seat> seats_;
  std::vector<Mailbox> mailboxes_;
  int masks_[8] = {};
  std::atomic<std::uint64_t> opened_{0};
  std::vector<std::atomic<void*>> handles_;
};

}  // namespace nccl_sentinel::fuzz
