// SPDX-License-Identifier: Apache-2.0
// NCCL's activation mask: one int for all communicators of a process. NCCL reads it as a group of API calls begins,
// before it says so, for all operations of the group: what is to be timed must be in it before anything announces it.
#pragma once

#include <atomic>
#include <cstdint>

#include "lock.h"

namespace nccl_sentinel {

// Asks for operations always, and for what times them in the groups that somebody wants timed.
class ActivationMask {
 public:
  // A wish for timing; 0 is none.
  using Ticket = std::uint32_t;

  bool is_of(const int* target) const noexcept {
    return target_.load(std::memory_order_relaxed) == target && users_ > 0;
  }
  bool is_free() const noexcept { return users_ == 0; }
  bool was_opened() const noexcept { return target_.load(std::memory_order_relaxed) != nullptr; }

  // One more communicator reads this mask; opening and closing are serialised by the profiler. After the last one has
  // closed the target is never written again.
  void open(int* target, int always, int timing) noexcept;
  void close() noexcept {
    if (--users_ == 0) target_.store(&nobody_, std::memory_order_relaxed);
  }

  // NCCL has read the mask for another group.
  void begin_group() noexcept;
  // Whether the group that this thread began last is timed; of a thread that was forgotten, what the mask says now.
  bool is_group_timed() const noexcept;
  // Number of the present group.
  std::uint64_t group() const noexcept { return group_.load(std::memory_order_relaxed); }

  // Wants the groups of these numbers timed. 0 where there is no room: the operation will not be timed. A wish ends by
  // itself with the last of its groups.
  Ticket want(std::uint64_t first, std::uint64_t last) noexcept;
  // Ends a wish early. Tickets of wishes that have ended do nothing.
  void drop(Ticket ticket) noexcept;

  // A call was captured into a CUDA graph. NCCL numbers kernels on the host and on the GPU, and waits for the number of
  // each timed one. A replay counts on the GPU what it launches, on the host only what was captured with timing: where
  // that is not all, the numbers part, and whatever is timed later is waited for in vain, until NCCL's pool of such
  // waits is full and the job stands still. So the first capture decides for all that follows: timed itself, all is;
  // else nothing is any more.
  void capture(bool is_timed) noexcept;
  bool has_given_up() const noexcept { return captures_.load(std::memory_order_relaxed) == Captures::kUntimed; }
  bool follows_sampling() const noexcept { return captures_.load(std::memory_order_relaxed) == Captures::kNone; }

 private:
  enum class Captures : std::uint8_t { kNone, kTimed, kUntimed };
  static constexpr std::uint32_t kWishes = 64;  // one bit each
  // Threads whose groups are remembered, in sets of a cache line each: the ninth of a set takes another one's place.
  static constexpr std::size_t kThreadSets = 64;
  static constexpr std::size_t kThreadsInSet = 8;

  struct Wish {
    std::uint64_t first;
    std::uint64_t last;
    Ticket ticket;
  };

  bool has_timing() const noexcept {
    const int* target = target_.load(std::memory_order_relaxed);
    return (__atomic_load_n(target, __ATOMIC_RELAXED) & timing_.load(std::memory_order_relaxed)) != 0;
  }
  std::atomic<std::uint64_t>& place_of(std::uint64_t thread) noexcept;
  // Under the lock: what the group of this number, the next one that NCCL reads the mask for, will find.
  void prepare(std::uint64_t next) noexcept;

  // Late callbacks of communicators that have closed read these.
  std::atomic<int*> target_;
  std::atomic<int> always_;
  std::atomic<int> timing_;
  int users_;
  int nobody_;  // what late callbacks write to once all have closed
  alignas(64) std::atomic<std::uint64_t> group_;
  std::atomic<std::uint64_t> next_change_;  // number of the first group for which something changes
  std::atomic<Captures> captures_;
  Lock lock_;
  Ticket tickets_;
  std::uint64_t taken_;  // bits of wishes_
  Wish wishes_[kWishes];
  // A thread, and in bit 0 whether its group is timed. 0: nobody yet.
  using ThreadSet = std::atomic<std::uint64_t>[kThreadsInSet];
  alignas(64) ThreadSet began_[kThreadSets];
};

}  // namespace nccl_sentinel
