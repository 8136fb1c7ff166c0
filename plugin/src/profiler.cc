// SPDX-License-Identifier: Apache-2.0
#include "profiler.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <type_traits>

#include "clock.h"
#include "dead_files.h"
#include "device.h"
#include "errno_guard.h"
#include "lock.h"
#include "report.h"
#include "text_field.h"

namespace nccl_sentinel {
namespace {

using layout::Dropped;

// A closed communicator's slot is not used again before callbacks that were on their way have left it.
constexpr std::uint64_t kQuarantineNs = 50'000'000;

// The context of a communicator that found no slot. Its operations are counted as dropped.
constexpr std::uint32_t kNoSlotGeneration = 0;

class MutexHold {
 public:
  explicit MutexHold(pthread_mutex_t& mutex) noexcept : mutex_(mutex) { pthread_mutex_lock(&mutex_); }
  ~MutexHold() { pthread_mutex_unlock(&mutex_); }
  MutexHold(const MutexHold&) = delete;
  MutexHold& operator=(const MutexHold&) = delete;

 private:
  pthread_mutex_t& mutex_;
};

// NCCL has one mask for all communicators of a process and reads it at every group: it never holds a passing value.
void write_mask(int* mask, int events) noexcept {
  if (mask != nullptr) __atomic_store_n(mask, events, __ATOMIC_RELAXED);
}

void* no_slot_context() noexcept {
  Handle handle;
  handle.generation = kNoSlotGeneration;  // an open slot's is at least 1
  return encode(HandleKind::kContext, handle);
}

}  // namespace

// Static and all zero: its memory costs nothing until a communicator uses its part, and no constructor runs.
Profiler& profiler() noexcept {
  static_assert(std::is_trivially_default_constructible_v<Profiler> && std::is_trivially_destructible_v<Profiler>);
  static Profiler instance;
  return instance;
}

void* Profiler::open_communicator(const CommunicatorStart& start, int* mask) noexcept {
  const ErrnoGuard guard;
  if (state_.load(std::memory_order_acquire) ==
      State::kOff) {  // before the lock: in a forked child it may be held for ever
    write_mask(mask, 0);
    return nullptr;
  }
  const MutexHold hold(opening_);
  if (state_.load(std::memory_order_relaxed) == State::kUnused) {
    state_.store(start_observing(start), std::memory_order_release);
  }
  if (!observes()) {
    write_mask(mask, 0);
    return nullptr;
  }
  // Before interface 5 nothing tells that operations are captured into CUDA graphs: there the mask stays as it is, see
  // ActivationMask::capture. Before interface 4 there are no times to ask for.
  const bool has_times = start.interface_version >= 4 && shared_.sampling.burst != 0;
  ActivationMask* joined = start.interface_version < 5 ? nullptr : join_mask(mask);
  if (joined == nullptr) write_mask(mask, has_times ? operation_events_ | timing_events_ : operation_events_);
  tick_clock.refine();
  Failure failure;
  if (Communicator* communicator = free_slot(failure)) {
    communicator->open(shared_, static_cast<std::uint32_t>(communicator - communicators_), start, joined);
    return const_cast<void*>(communicator->context());
  }
  if (joined != nullptr) joined->close();
  count(mapping_.get()->header.dropped[static_cast<std::size_t>(Dropped::kCommunicator)]);
  if (!warned_of_communicators_) {
    warned_of_communicators_ = true;
    warn(start.logger, failure);
  }
  return no_slot_context();
}

void Profiler::close_communicator(void* context) noexcept {
  const ErrnoGuard guard;
  if (!observes()) return;
  const MutexHold hold(opening_);
  Communicator* communicator = find(context);
  if (communicator == nullptr) return;
  communicator->close();
  if (communicator->mask() != nullptr) communicator->mask()->close();
}

void Profiler::start_group(void* context) noexcept {
  if (Communicator* communicator = find(context)) communicator->start_group();
}

void Profiler::start_group_call(void* context) noexcept {
  if (Communicator* communicator = find(context)) communicator->start_group_call();
}

void* Profiler::start_call(void* context, bool is_captured) noexcept {
  if (Communicator* communicator = find(context)) return communicator->start_call(is_captured);
  if (is_captured && context == no_slot_context() && observes()) {
    for (ActivationMask& mask : masks_) {
      if (mask.was_opened()) mask.capture(mask.is_group_timed());
    }
  }
  return nullptr;
}

void* Profiler::start_p2p(void* context, const P2pStart& start) noexcept {
  if (Communicator* communicator = find(context)) return communicator->start_p2p(start);
  drop_operation(context);
  return nullptr;
}

void Profiler::count_untimed(void* context, const char* operation, layout::OperationKind kind,
                             const Identity* identity) noexcept {
  if (Communicator* communicator = find(context)) {
    communicator->count_untimed(operation, kind, identity);
  } else {
    drop_operation(context);
  }
}

void* Profiler::start_channel(void* context, const ChannelStart& start) noexcept {
  if (kind_of(start.operation) == HandleKind::kOperation) {
    if (Communicator* communicator = find_slot(start.operation)) {
      return communicator->start_channel(decode(start.operation), start);
    }
  }
  ignore_event(context);
  return nullptr;
}

void* Profiler::start_network(void* context, const NetworkStart& start) noexcept {
  if (kind_of(start.operation) == HandleKind::kOperation) {
    if (Communicator* communicator = find_slot(start.operation)) {
      return communicator->start_network(decode(start.operation), start);
    }
  }
  ignore_event(context);
  return nullptr;
}

void* Profiler::start_step(void* context, const StepStart& start) noexcept {
  if (kind_of(start.network) == HandleKind::kNetwork) {
    if (Communicator* communicator = find_slot(start.network)) {
      return communicator->start_step(decode(start.network), start.step);
    }
  }
  ignore_event(context);
  return nullptr;
}

void Profiler::ignore_event(void* context) noexcept {
  if (Communicator* communicator = find(context)) communicator->ignore_event();
}

void Profiler::stop(void* value) noexcept {
  const HandleKind kind = kind_of(value);
  if (kind < HandleKind::kChannel || kind > HandleKind::kStep) return;  // the others' say nothing
  Communicator* communicator = find_slot(value);
  if (communicator == nullptr) return;
  const Handle handle = decode(value);
  switch (kind) {
    case HandleKind::kChannel:
      communicator->stop_channel(handle);
      break;
    case HandleKind::kNetwork:
      communicator->stop_network(handle);
      break;
    case HandleKind::kStep:
      communicator->stop_step(handle);
      break;
    default:
      break;
  }
}

void Profiler::record_state(void* value, int state, const std::uint64_t* argument) noexcept {
  const HandleKind kind = kind_of(value);
  if (kind == HandleKind::kStep) {
    if (Communicator* communicator = find_slot(value)) communicator->record_step(decode(value), state, argument);
  } else if (kind == HandleKind::kChannel && state == abi::kKernelChStop && argument != nullptr) {
    if (Communicator* communicator = find_slot(value)) communicator->stop_channel_time(decode(value), *argument);
  } else if (kind == HandleKind::kNetwork) {  // in progress: its steps tell more
    if (Communicator* communicator = find_slot(value)) communicator->ignore_event();
  }
}

void Profiler::exit() noexcept {
  if (!observes()) return;
  mapping_.get()->header.state.store(static_cast<std::uint32_t>(layout::FileState::kFinished),
                                     std::memory_order_release);
  mapping_.remove();
}

Communicator* Profiler::find_slot(const void* handle) noexcept {
  if (!observes()) return nullptr;
  Communicator& communicator = communicators_[decode(handle).slot];
  return communicator.is_open() ? &communicator : nullptr;
}

void Profiler::drop_operation(const void* context) noexcept {
  if (context != no_slot_context() || !observes()) return;
  count(mapping_.get()->header.dropped[static_cast<std::size_t>(Dropped::kCommunicator)]);
}

ActivationMask* Profiler::join_mask(int* mask) noexcept {
  if (mask == nullptr) return nullptr;
  ActivationMask* joined = nullptr;
  for (ActivationMask& one : masks_) {
    if (one.is_of(mask)) joined = &one;
  }
  for (ActivationMask& one : masks_) {
    if (joined == nullptr && one.is_free()) joined = &one;
  }
  if (joined != nullptr) joined->open(mask, operation_events_, timing_events_);
  return joined;
}

// One that never was used, else the one that has been closed for longest.
Communicator* Profiler::free_slot(Failure& failure) noexcept {
  if (slots_ < layout::kCommunicators && mapping_.allocate(slots_, failure)) {
    return &communicators_[slots_++];
  }
  Communicator* oldest = nullptr;
  for (std::uint32_t slot = 0; slot < slots_; ++slot) {
    Communicator& communicator = communicators_[slot];
    if (communicator.is_open()) continue;
    if (oldest == nullptr || communicator.closed_ns() < oldest->closed_ns()) oldest = &communicator;
  }
  if (oldest == nullptr) {
    if (slots_ == layout::kCommunicators) {
      failure = Failure{};
      failure.what = "cannot observe more than 64 communicators at a time in one process";
      failure.hint = "The others are not observed; their operations are counted as dropped.";
    }
    return nullptr;
  }
  const std::uint64_t closed_for_ns = monotonic_ns() - oldest->closed_ns();
  if (closed_for_ns < kQuarantineNs) {
    const timespec rest{0, static_cast<long>(kQuarantineNs - closed_for_ns)};
    nanosleep(&rest, nullptr);
  }
  return oldest;
}

Profiler::State Profiler::start_observing(const CommunicatorStart& start) noexcept {
  const Environment environment = read_environment();
  if (environment.has_wrong_value) warn(start.logger, environment.wrong_value);
  Directory directory;
  Failure failure;
  if (!open_directory(environment.directory, kNodeDirectory, kFallbackDirectory, directory, failure)) {
    warn(start.logger, failure);
    return State::kOff;
  }
  remove_dead_files(directory.fd);
  if (!mapping_.create(directory, monotonic_ns(), failure)) {
    warn(start.logger, failure);
    close(directory.fd);
    return State::kOff;
  }
  tick_clock.start();
  operation_events_ = environment.operation_events;
  timing_events_ = environment.timing_events;
  shared_.file = mapping_.get();
  shared_.sampling = environment.sampling;
  shared_.governor.start(*mapping_.get(), environment.budget_ppm);
  shared_.pid = getpid();
  shared_.local_rank = environment.local_rank;
  write_header(start, environment);
  char message[kPathBytes + 128];
  std::snprintf(message, sizeof message, "nccl-sentinel %s counts in %s/%s", NCCL_SENTINEL_VERSION, directory.path,
                mapping_.name());
  inform(start.logger, message);
  return State::kObserving;
}

void Profiler::write_header(const CommunicatorStart& start, const Environment& environment) noexcept {
  layout::File& file = *mapping_.get();
  layout::Header& header = file.header;
  std::memcpy(header.magic, layout::kMagic, sizeof header.magic);
  header.version = layout::kVersion;
  header.header_bytes = sizeof(layout::Header);
  header.file_bytes = sizeof(layout::File);
  header.pid = getpid();
  header.start_unix_ns = static_cast<std::int64_t>(read_clock_ns(CLOCK_REALTIME));
  header.start_monotonic_ns = mapping_.start_monotonic_ns();
  header.global_rank = environment.global_rank;
  header.nccl_version = nccl_version(start.logger);
  header.interface_version = start.interface_version;
  header.events = static_cast<std::uint32_t>(operation_events_ | timing_events_);
  header.sample_burst = environment.sampling.burst;
  header.sample_period = environment.sampling.period;
  header.budget_ppm = environment.budget_ppm;
  char host[65] = "";
  gethostname(host, sizeof host - 1);
  write_text(header.plugin_version, NCCL_SENTINEL_VERSION);
  write_text(header.hostname, host);
  write_text(header.job_id, environment.job_id);
  NameTable::prepare(file.names);
  header.state.store(static_cast<std::uint32_t>(layout::FileState::kLive), std::memory_order_release);
}

void Profiler::switch_off() noexcept { state_.store(State::kOff, std::memory_order_release); }

namespace {

// A forked child shares the mapping, but it is another process: it neither counts nor removes. Said at load, so that a
// fork in the middle of the first init finds it too.
__attribute__((constructor)) void watch_for_forks() {
  pthread_atfork(nullptr, nullptr, [] { profiler().switch_off(); });
}

// The library is never unloaded before the process ends (it is linked with nodelete).
__attribute__((destructor)) void remove_file_at_exit() { profiler().exit(); }

}  // namespace

}  // namespace nccl_sentinel
