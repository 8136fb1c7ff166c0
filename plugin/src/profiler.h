// SPDX-License-Identifier: Apache-2.0
// The one profiler of a process: what NCCL's events mean here, whatever the version of the interface they came through.
//
// Opening and closing communicators may take locks, allocate and make system calls. The callbacks do none of that: they
// touch memory that is there already, retry a bounded number of times, and count what they had to leave out.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>

#include "callback_cost.h"
#include "communicator.h"
#include "environment.h"
#include "event.h"
#include "mapped_file.h"

namespace nccl_sentinel {

class Profiler {
 public:
  // A context for NCCL to keep. *mask becomes the events wanted: none where this process cannot be observed.
  void* open_communicator(const CommunicatorStart& start, int* mask) noexcept;
  void close_communicator(void* context) noexcept;

  void* start_collective(void* context, const CollectiveStart& start) noexcept;
  void* start_channel(void* context, const ChannelStart& start) noexcept;
  // An event that is not wanted: it costs a callback all the same.
  void ignore_event(void* context) noexcept;
  // Of any handle. A collective's comes right after its launch and says nothing about its end.
  void stop(void* handle) noexcept;
  void stop_channel_time(void* handle, std::uint64_t timer_ns) noexcept;

  // At process exit: the file goes, the mapping stays for threads that are still counting.
  void exit() noexcept;

  // Every call does nothing from here on.
  void switch_off() noexcept;

 private:
  enum class State : std::uint32_t { kUnused, kObserving, kOff };

  bool observes() const noexcept { return state_.load(std::memory_order_acquire) == State::kObserving; }
  State start_observing(const CommunicatorStart& start) noexcept;
  void write_header(const CommunicatorStart& start, const Environment& environment) noexcept;
  Communicator* free_slot() noexcept;
  Communicator* find(HandleKind kind, const void* value, Handle& handle) noexcept;

  std::atomic<State> state_;
  pthread_mutex_t opening_;  // all zero is PTHREAD_MUTEX_INITIALIZER
  bool warned_of_communicators_;
  MappedFile mapping_;
  Communicator communicators_[layout::kCommunicators];
};

Profiler& profiler() noexcept;

}  // namespace nccl_sentinel
