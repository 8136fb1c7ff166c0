// SPDX-License-Identifier: Apache-2.0
// One communicator: its ring of operations (private) over its block of counters (mapped).
#pragma once

#include <atomic>
#include <cstdint>

#include "counter_table.h"
#include "event.h"
#include "handle.h"
#include "name_table.h"
#include "nccl_sentinel/layout.h"
#include "operation.h"

namespace nccl_sentinel {

// started = measured + skipped + refused + dropped + in flight holds whenever no callback is running.
class Communicator {
 public:
  // Opening and closing are rare and serialised by the profiler.
  void open(layout::File& file, std::uint32_t slot, const CommunicatorStart& start) noexcept;
  void close() noexcept;

  bool is_open() const noexcept { return is_open_.load(std::memory_order_acquire); }
  bool is_open_as(const void* context_held) const noexcept { return is_open() && context() == context_held; }
  bool was_opened() const noexcept { return file_ != nullptr; }
  std::uint64_t closed_ns() const noexcept { return closed_ns_; }
  void* context() const noexcept;
  layout::Communicator& block() noexcept { return file_->communicators[slot_]; }

  // Callbacks: any thread, at any time. Handles were decoded and name this slot; anything else in them may be wrong.
  void* start_collective(const CollectiveStart& start) noexcept;
  void* start_channel(const Handle& operation, const ChannelStart& start) noexcept;
  void stop_channel_time(const Handle& channel, std::uint64_t timer_ns) noexcept;
  void stop_channel(const Handle& channel) noexcept;

 private:
  struct Counted {
    std::uint8_t counters;
    std::uint8_t cell;
    bool is_dropped;
  };
  Counted count_start(const CollectiveStart& start, std::uint64_t bytes) noexcept;
  void finish(Operation& operation) noexcept;
  void refuse(Operation& operation, layout::Refused reason) noexcept;
  void close_outlived(std::uint64_t number) noexcept;
  void drop(layout::Dropped reason) noexcept;
  void clear_block() noexcept;

  layout::File* file_;
  std::uint32_t slot_;
  std::uint32_t generation_;
  std::uint64_t closed_ns_;
  std::atomic<bool> is_open_;
  CounterTable table_;
  NameGuesses guesses_;
  alignas(
      64) std::atomic<std::uint64_t> next_;  // number of the next operation; its place is the number modulo the ring
  alignas(64) std::atomic<std::uint64_t> oldest_;  // every operation before this one has ended
  Operation ring_[layout::kInFlight];
};

}  // namespace nccl_sentinel
