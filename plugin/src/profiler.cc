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
#include "report.h"
#include "text_field.h"

namespace nccl_sentinel {
namespace {

using layout::Dropped;

constexpr auto kWantedEvents = static_cast<int>(abi::kColl | abi::kKernelCh);

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

// Static and all zero: its eight megabytes cost nothing until a communicator uses its part, and no constructor runs.
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
  write_mask(mask, observes() ? kWantedEvents : 0);
  if (!observes()) return nullptr;
  if (Communicator* communicator = free_slot()) {
    const auto slot = static_cast<std::uint32_t>(communicator - communicators_);
    communicator->open(*mapping_.get(), slot, start);
    return communicator->context();
  }
  count(mapping_.get()->header.dropped[static_cast<std::size_t>(Dropped::kCommunicator)]);
  if (!warned_of_communicators_) {
    warned_of_communicators_ = true;
    Failure failure;
    failure.what = "cannot observe more than 64 communicators at a time in one process";
    failure.hint = "The others are not observed; their operations are counted as dropped.";
    warn(start.logger, failure);
  }
  return no_slot_context();
}

void Profiler::close_communicator(void* context) noexcept {
  const ErrnoGuard guard;
  if (!observes()) return;
  const MutexHold hold(opening_);
  Handle handle;
  Communicator* communicator = find(HandleKind::kContext, context, handle);
  if (communicator != nullptr && communicator->is_open_as(context)) communicator->close();
}

void* Profiler::start_collective(void* context, const CollectiveStart& start) noexcept {
  Handle handle;
  Communicator* communicator = find(HandleKind::kContext, context, handle);
  if (communicator != nullptr && communicator->is_open_as(context)) {
    const CallbackCost cost(communicator->block());
    return communicator->start_collective(start);
  }
  if (context == no_slot_context() && observes()) {
    count(mapping_.get()->header.dropped[static_cast<std::size_t>(Dropped::kCommunicator)]);
  }
  return nullptr;
}

void* Profiler::start_channel(void* context, const ChannelStart& start) noexcept {
  Handle handle;
  Communicator* communicator = find(HandleKind::kOperation, start.collective, handle);
  if (communicator == nullptr) {
    ignore_event(context);
    return nullptr;
  }
  const CallbackCost cost(communicator->block());
  return communicator->start_channel(handle, start);
}

void Profiler::ignore_event(void* context) noexcept {
  Handle handle;
  Communicator* communicator = find(HandleKind::kContext, context, handle);
  if (communicator == nullptr || !communicator->is_open_as(context)) return;
  const CallbackCost cost(communicator->block());
}

void Profiler::stop(void* value) noexcept {
  Handle handle;
  if (Communicator* channel = find(HandleKind::kChannel, value, handle)) {
    const CallbackCost cost(channel->block());
    channel->stop_channel(handle);
  } else if (Communicator* operation = find(HandleKind::kOperation, value, handle)) {
    const CallbackCost cost(operation->block());
  }
}

void Profiler::stop_channel_time(void* value, std::uint64_t timer_ns) noexcept {
  Handle handle;
  Communicator* communicator = find(HandleKind::kChannel, value, handle);
  if (communicator == nullptr) return;
  const CallbackCost cost(communicator->block());
  communicator->stop_channel_time(handle, timer_ns);
}

void Profiler::exit() noexcept {
  if (!observes()) return;
  mapping_.get()->header.state.store(static_cast<std::uint32_t>(layout::FileState::kFinished),
                                     std::memory_order_release);
  mapping_.remove();
}

Communicator* Profiler::find(HandleKind kind, const void* value, Handle& handle) noexcept {
  const std::optional<Handle> decoded = decode(kind, value);
  if (!decoded || !observes()) return nullptr;
  handle = *decoded;
  Communicator& communicator = communicators_[handle.slot];
  return communicator.is_open() ? &communicator : nullptr;
}

Communicator* Profiler::free_slot() noexcept {
  Communicator* oldest = nullptr;
  for (Communicator& communicator : communicators_) {
    if (!communicator.was_opened()) return &communicator;
    if (communicator.is_open()) continue;
    if (oldest == nullptr || communicator.closed_ns() < oldest->closed_ns()) oldest = &communicator;
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
  const Device device = current_device();
  header.gpu =
      physical_gpu(device.ordinal >= 0 ? device.ordinal : environment.local_rank, std::getenv("CUDA_VISIBLE_DEVICES"));
  header.nccl_version = nccl_version(start.logger);
  header.interface_version = start.interface_version;
  char host[65] = "";
  gethostname(host, sizeof host - 1);
  write_text(header.plugin_version, NCCL_SENTINEL_VERSION);
  write_text(header.hostname, host);
  write_text(header.job_id, environment.job_id);
  write_text(header.gpu_uuid, device.uuid);
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
