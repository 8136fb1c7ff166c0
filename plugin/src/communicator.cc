// SPDX-License-Identifier: Apache-2.0
#include "communicator.h"

#include <initializer_list>

#include "clock.h"
#include "datatype.h"
#include "sequence.h"
#include "text_field.h"

namespace nccl_sentinel {
namespace {

using layout::Dropped;
using layout::Refused;
using layout::SlotState;

// A communicator runs its operations in order, and NCCL keeps the last 64 timestamps of a channel. An operation that is
// still open when one launched this much later has ended will never hear of its end.
constexpr std::uint64_t kOutlived = 256;
// How many of those one callback closes at most.
constexpr int kClosedAtOnce = 4;

constexpr std::uint32_t number_of(SlotState state) noexcept { return static_cast<std::uint32_t>(state); }

}  // namespace

void* Communicator::context() const noexcept {
  Handle handle;
  handle.slot = slot_;
  handle.generation = generation_;
  return encode(HandleKind::kContext, handle);
}

void Communicator::open(layout::File& file, std::uint32_t slot, const CommunicatorStart& start) noexcept {
  file_ = &file;
  slot_ = slot;
  ++generation_;
  layout::Communicator& mapped = block();
  mapped.state.store(number_of(SlotState::kClaimed), std::memory_order_seq_cst);
  mapped.generation.store(generation_, std::memory_order_seq_cst);
  clear_block();
  mapped.id = start.id;
  mapped.rank = start.rank;
  mapped.nranks = start.ranks;
  mapped.nnodes = start.nodes;
  mapped.opened_unix_ns = static_cast<std::int64_t>(read_clock_ns(CLOCK_REALTIME));
  write_text(mapped.name, start.name);
  table_.attach(mapped);
  next_.store(0, std::memory_order_relaxed);
  oldest_.store(0, std::memory_order_relaxed);
  mapped.state.store(number_of(SlotState::kOpen), std::memory_order_release);
  is_open_.store(true, std::memory_order_release);
}

void Communicator::close() noexcept {
  is_open_.store(false, std::memory_order_release);
  for (Operation& operation : ring_) {
    if (operation.hold_any()) refuse(operation, Refused::kIncomplete);
  }
  closed_ns_ = monotonic_ns();
  block().closed_monotonic_ns.store(closed_ns_, std::memory_order_relaxed);
  block().state.store(number_of(SlotState::kClosed), std::memory_order_release);
}

void* Communicator::start_collective(const CollectiveStart& start) noexcept {
  const std::uint64_t bytes = message_bytes(start.count, start.datatype);
  const Counted counted = count_start(start, bytes);
  if (counted.is_dropped) return nullptr;
  if (start.channels == 0 || start.channels > kMaxChannels) {
    // Nothing will tell its end; left open it would read as a communicator that hangs.
    count(block().refused[static_cast<std::size_t>(Refused::kIncomplete)]);
    return nullptr;
  }

  const std::uint64_t number = next_.fetch_add(1, std::memory_order_relaxed);
  Handle handle;
  handle.slot = slot_;
  handle.place = static_cast<std::uint32_t>(number % layout::kInFlight);
  Operation& operation = ring_[handle.place];
  const Operation::Taken taken = operation.take();
  if (taken == Operation::Taken::kNo) {
    drop(Dropped::kContention);
    return nullptr;
  }
  if (taken == Operation::Taken::kLeftBehind) count(block().refused[static_cast<std::size_t>(Refused::kIncomplete)]);
  handle.generation = operation.renew();
  operation.number = number;
  operation.bytes = bytes;
  operation.counters = counted.counters;
  operation.cell = counted.cell;
  operation.times.reset(start.channels);
  block().in_flight[handle.place].store(monotonic_ns(), std::memory_order_relaxed);
  operation.open();
  return encode(HandleKind::kOperation, handle);
}

void* Communicator::start_channel(const Handle& operation, const ChannelStart& start) noexcept {
  Operation& held = ring_[operation.place];
  if (start.channel >= kMaxChannels || !held.hold(operation.generation)) return nullptr;
  held.times.start(start.channel, start.timer_ns);
  held.open();
  Handle channel = operation;
  channel.channel = start.channel;
  return encode(HandleKind::kChannel, channel);
}

void Communicator::stop_channel_time(const Handle& channel, std::uint64_t timer_ns) noexcept {
  Operation& held = ring_[channel.place];
  if (!held.hold(channel.generation)) return;
  held.times.stop_time(channel.channel, timer_ns);
  held.open();
}

void Communicator::stop_channel(const Handle& channel) noexcept {
  Operation& held = ring_[channel.place];
  if (!held.hold(channel.generation)) return;
  held.times.stop(channel.channel);
  if (held.times.complete()) {
    finish(held);
  } else {
    held.open();
  }
}

Communicator::Counted Communicator::count_start(const CollectiveStart& start, std::uint64_t bytes) noexcept {
  const NameLookup operation = NameTable::intern(file_->names, guesses_, start.operation);
  const std::optional<std::uint8_t> counters = table_.counters(operation.index);
  const std::uint8_t counted_in = counters ? *counters : table_.unknown_counters();
  count(block().operations[counted_in].started);
  const Counted dropped{counted_in, 0, true};
  if (operation.dropped || !counters) {
    drop(operation.dropped.value_or(Dropped::kOperation));
    return dropped;
  }
  const NameLookup algorithm = NameTable::intern(file_->names, guesses_, start.algorithm);
  const NameLookup protocol = NameTable::intern(file_->names, guesses_, start.protocol);
  if (algorithm.dropped || protocol.dropped) {
    drop(algorithm.dropped ? *algorithm.dropped : *protocol.dropped);
    return dropped;
  }
  const auto cell = table_.cell({operation.index, algorithm.index, protocol.index, size_class(bytes)});
  if (!cell) {
    drop(Dropped::kCell);
    return dropped;
  }
  return {counted_in, *cell, false};
}

void Communicator::finish(Operation& operation) noexcept {
  const std::uint64_t number = operation.number;
  if (const auto refused = operation.times.refusal()) {
    refuse(operation, *refused);
  } else {
    if (!table_.measure(operation.cell, operation.counters, operation.times.duration_ns(), operation.bytes)) {
      drop(Dropped::kContention);
    }
    block().in_flight[number % layout::kInFlight].store(0, std::memory_order_relaxed);
    operation.leave();
  }
  close_outlived(number);
}

void Communicator::refuse(Operation& operation, Refused reason) noexcept {
  count(block().refused[static_cast<std::size_t>(reason)]);
  block().in_flight[operation.number % layout::kInFlight].store(0, std::memory_order_relaxed);
  operation.leave();
}

void Communicator::close_outlived(std::uint64_t number) noexcept {
  for (int i = 0; i < kClosedAtOnce; ++i) {
    std::uint64_t oldest = oldest_.load(std::memory_order_relaxed);
    if (oldest + kOutlived > number) return;
    if (!oldest_.compare_exchange_strong(oldest, oldest + 1, std::memory_order_relaxed)) return;
    Operation& operation = ring_[oldest % layout::kInFlight];
    if (!operation.hold_any()) continue;
    if (operation.number == oldest) {
      refuse(operation, Refused::kIncomplete);
    } else {
      operation.open();
    }
  }
}

void Communicator::drop(Dropped reason) noexcept { count(file_->header.dropped[static_cast<std::size_t>(reason)]); }

void Communicator::clear_block() noexcept {
  layout::Communicator& mapped = block();
  const auto zero = [](layout::Word& word) { word.store(0, std::memory_order_relaxed); };
  for (auto* word : {&mapped.closed_monotonic_ns, &mapped.skipped, &mapped.callbacks, &mapped.callbacks_timed,
                     &mapped.callback_ns}) {
    zero(*word);
  }
  for (auto& word : mapped.refused) zero(word);
  for (auto& counters : mapped.operations) {
    counters.state.store(number_of(SlotState::kFree), std::memory_order_relaxed);
    counters.name = kUnknownName;
    for (auto* word : {&counters.started, &counters.operations, &counters.duration_ns, &counters.bytes}) zero(*word);
    for (auto& word : counters.buckets) zero(word);
  }
  for (auto& cell : mapped.cells) {
    cell.state.store(number_of(SlotState::kFree), std::memory_order_relaxed);
    for (auto* word : {&cell.operations, &cell.duration_ns, &cell.log_microseconds}) zero(*word);
  }
  for (auto& word : mapped.in_flight) zero(word);
}

}  // namespace nccl_sentinel
