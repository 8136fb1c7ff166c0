// SPDX-License-Identifier: Apache-2.0
// The one profiler of a process: what NCCL's events mean here, whatever the version of the interface they came through.
//
// Opening and closing communicators may take locks, allocate and make system calls. The callbacks do none of that: they
// touch memory that is there already, retry a bounded number of times, and count what they had to leave out.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>

#include "activation_mask.h"
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

  // Group: operations are launched.
  void start_group(void* context) noexcept;
  // GroupApi: NCCL has just read the mask for the operations of the calls in it.
  void start_group_call(void* context) noexcept;
  // CollApi and P2pApi: an operation will be launched, now or, where it is captured into a CUDA graph, at every replay.
  void* start_call(void* context, bool is_captured) noexcept;

  // `call` is the handle of the CollApi event, where it got one. `describe()` gives the CollectiveStart of one that is
  // chosen: most are not, and copying a descriptor costs as much as counting it.
  template <class Describe>
  void* start_collective(void* context, const char* operation, std::uint64_t sequence, const void* call,
                         const Describe& describe) noexcept {
    if (Communicator* communicator = find(context)) {
      return communicator->start_collective(operation, sequence, call, describe);
    }
    drop_operation(context);
    return nullptr;
  }
  void* start_p2p(void* context, const P2pStart& start) noexcept;
  void* start_channel(void* context, const ChannelStart& start) noexcept;
  void* start_network(void* context, const NetworkStart& start) noexcept;
  void* start_step(void* context, const StepStart& start) noexcept;

  // An operation for which NCCL gives no GPU timestamps: it counts as started and refused. `identity` where the
  // interface says who the communicator is with each operation (1 to 3), else null.
  void count_untimed(void* context, const char* operation, layout::OperationKind kind,
                     const Identity* identity) noexcept;

  // An event that is not wanted: it costs a callback all the same.
  void ignore_event(void* context) noexcept;

  // Of any handle. An operation's comes right after its launch and says nothing about its end.
  void stop(void* handle) noexcept;
  // Any state of any handle; `value` is the first word of the arguments (KernelCh: the GPU's timer; ProxyStep: bytes),
  // null where NCCL gave none.
  void record_state(void* handle, int state, const std::uint64_t* value) noexcept;

  // At process exit: the file goes, the mapping stays for threads that are still counting.
  void exit() noexcept;

  // Every call does nothing from here on.
  void switch_off() noexcept;

 private:
  enum class State : std::uint32_t { kUnused, kObserving, kOff };

  bool observes() const noexcept { return state_.load(std::memory_order_acquire) == State::kObserving; }
  State start_observing(const CommunicatorStart& start) noexcept;
  void write_header(const CommunicatorStart& start, const Environment& environment) noexcept;
  Communicator* free_slot(Failure& failure) noexcept;
  ActivationMask* join_mask(int* mask) noexcept;
  // The open communicator of a context; null for anything else.
  Communicator* find(const void* context) noexcept {
    if (kind_of(context) != HandleKind::kContext || !observes()) return nullptr;
    Communicator& communicator = communicators_[decode(context).slot];
    return communicator.is_open_as(context) ? &communicator : nullptr;
  }
  // The open communicator whose slot a handle of ours names.
  Communicator* find_slot(const void* handle) noexcept;
  void drop_operation(const void* context) noexcept;

  // Different NCCL libraries in one process have a mask each.
  static constexpr std::size_t kMasks = 4;

  std::atomic<State> state_;
  pthread_mutex_t opening_;  // all zero is PTHREAD_MUTEX_INITIALIZER
  bool warned_of_communicators_;
  std::uint32_t slots_;  // that have pages
  int operation_events_;
  int timing_events_;
  MappedFile mapping_;
  ActivationMask masks_[kMasks];
  Communicator::Shared shared_;
  Communicator communicators_[layout::kCommunicators];
};

Profiler& profiler() noexcept;

}  // namespace nccl_sentinel
