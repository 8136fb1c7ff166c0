// SPDX-License-Identifier: Apache-2.0
// From an operation's launch to its end.
#include <sched.h>

#include <algorithm>

#include "callback_cost.h"
#include "clock.h"
#include "communicator.h"
#include "datatype.h"

namespace nccl_sentinel {
namespace {

using layout::OperationKind;
using layout::Outcome;

// A communicator runs its groups in order, and NCCL keeps the last 64 timestamps of a channel. An operation that is
// still open when one launched this many groups later has ended will never hear of its end.
constexpr std::uint64_t kOutlivedGroups = 16;
// The same in operations, where NCCL does not report groups.
constexpr std::uint64_t kOutlivedOperations = 256;
// How many of those one callback closes at most.
constexpr int kClosedAtOnce = 4;
// Only in close, which may wait: until callbacks of other threads have left.
constexpr int kPatience = 10'000;

}  // namespace

void Communicator::ignore_event() noexcept {
  // Of an operation that nobody times, in a group that is timed: fewer of these come when sampling is lowered.
  Governor* governor = mask_ != nullptr && mask_->follows_sampling() ? &shared_->governor : nullptr;
  const CallbackCost cost(block(), is_timed(count(block().callbacks)), governor);
}

Communicator::Chosen Communicator::choose_collective(const char* operation, std::uint64_t sequence,
                                                     const void* call) noexcept {
  const Row row = find_row(operation, OperationKind::kCollective);
  if (row.dropped != Outcome::kCount) {
    leave_out(row.place, row.dropped);
    return {};
  }
  Asked asked{};
  if (!choose(rows_[row.place].stream, sequence, call, row.place, asked)) return {};
  return {true, row.place, asked};
}

void* Communicator::start_chosen(const CollectiveStart& start, const Chosen& chosen) noexcept {
  const auto& [is_chosen, row, asked] = chosen;
  if (!is_heard(start.channels, asked, start.sequence, row)) return nullptr;
  const std::uint64_t bytes = message_bytes(start.count, start.datatype);
  const NameLookup algorithm = NameTable::intern(shared_->file->names, guesses_, start.algorithm);
  const NameLookup protocol = NameTable::intern(shared_->file->names, guesses_, start.protocol);
  if (algorithm.dropped || protocol.dropped) {
    leave_out(row, algorithm.dropped ? *algorithm.dropped : *protocol.dropped);
    return nullptr;
  }
  const auto cell = counters_.cell({counters_.name(row), algorithm.index, protocol.index, size_class(bytes)});
  if (!cell) {
    leave_out(row, Outcome::kDroppedCell);
    return nullptr;
  }
  return launch({bytes, start.channels, row, *cell, OperationKind::kCollective, asked.is_replay});
}

void* Communicator::start_p2p(const P2pStart& start) noexcept {
  CallbackCost cost(block(), is_timed(callbacks_so_far()));
  const Row row = find_row(start.operation, OperationKind::kPointToPoint);
  if (row.dropped != Outcome::kCount) {
    leave_out(row.place, row.dropped);
    return nullptr;
  }
  Stream& stream = peer_stream(row.place, start.peer);
  const std::uint64_t number = stream.take_number();
  Asked asked{};
  if (!choose(stream, number, start.call, row.place, asked)) return nullptr;
  cost.charge(shared_->governor);
  if (!is_heard(start.channels, asked, number, row.place)) return nullptr;
  const std::uint64_t bytes = message_bytes(start.count, start.datatype);
  const auto peer = counters_.peer({counters_.name(row.place), size_class(bytes), start.peer});
  if (!peer) {
    leave_out(row.place, Outcome::kDroppedCell);
    return nullptr;
  }
  return launch({bytes, start.channels, row.place, *peer, OperationKind::kPointToPoint, asked.is_replay});
}

void* Communicator::launch(const Launch& what) noexcept {
  const std::uint64_t number = next_.fetch_add(1, std::memory_order_relaxed);
  Handle handle;
  handle.slot = slot_;
  handle.place = static_cast<std::uint32_t>(number % layout::kInFlight);
  Operation& operation = ring_[handle.place];
  const Place::Taken taken = operation.take();
  if (taken == Place::Taken::kNo) {
    leave_out(what.row, Outcome::kDroppedContention);
    return nullptr;
  }
  if (taken == Place::Taken::kLeftBehind) {
    if (!settle_unheard(operation)) {
      operation.open();
      leave_out(what.row, Outcome::kDroppedContention);
      return nullptr;
    }
    if (left_behind_.fetch_add(1, std::memory_order_relaxed) + 1 == kSilent) close_all(number);
  }
  handle.generation = operation.renew();
  operation.number = number;
  operation.group = groups_.load(std::memory_order_relaxed);
  operation.bytes = what.bytes;
  operation.times.reset(what.channels);
  operation.net_channels = 0;
  operation.callbacks = 2;  // its start and its stop, which comes at once
  operation.row = what.row;
  operation.counted_in = what.counted_in;
  operation.kind = what.kind;
  operation.is_replay = what.is_replay;
  const std::uint64_t word = coarse_monotonic_ns() >> layout::kFlightTimeUnit << layout::kFlightTimeShift |
                             std::uint64_t{what.row} << layout::kFlightOperationShift |
                             (handle.generation & layout::kFlightGenerationMask);
  if (!counters_.launch(what.row, block().in_flight[handle.place], word)) {
    operation.leave();
    leave_out(what.row, Outcome::kDroppedContention);
    return nullptr;
  }
  operation.open();
  return encode(HandleKind::kOperation, handle);
}

void* Communicator::start_channel(const Handle& operation, const ChannelStart& start) noexcept {
  Handle channel = operation;
  channel.part = start.channel % kMaxChannels;
  const CallbackCost cost(block(), is_timed(callback_number(channel, 0)), &shared_->governor);
  Operation& held = ring_[operation.place];
  if (start.channel >= kMaxChannels || !held.hold(operation.generation)) return nullptr;
  ++held.callbacks;
  held.times.start(start.channel, start.timer_ns);
  held.open();
  return encode(HandleKind::kChannel, channel);
}

void Communicator::stop_channel_time(const Handle& channel, std::uint64_t timer_ns) noexcept {
  const CallbackCost cost(block(), is_timed(callback_number(channel, 1)), &shared_->governor);
  Operation& held = ring_[channel.place];
  if (!held.hold(channel.generation)) return;
  ++held.callbacks;
  const std::optional<std::uint64_t> own_ns = held.times.stop_time(channel.part, timer_ns);
  const bool is_net = (held.net_channels & channel_bit(channel.part)) != 0;
  held.open();
  if (!own_ns) return;
  layout::Channel& mapped = block().channels[channel.part];
  const auto transport = static_cast<std::size_t>(is_net ? layout::Transport::kNet : layout::Transport::kP2p);
  count(mapped.operations[transport]);
  count(mapped.duration_ns[transport], *own_ns);
}

void Communicator::stop_channel(const Handle& channel) noexcept {
  const CallbackCost cost(block(), is_timed(callback_number(channel, 2)), &shared_->governor);
  Operation& held = ring_[channel.place];
  if (!held.hold(channel.generation)) return;
  ++held.callbacks;
  held.times.stop(channel.part);
  const std::uint64_t number = held.number;
  const std::uint64_t group = held.group;
  if (!held.times.complete() || !finish(held)) {
    held.open();
    return;
  }
  left_behind_.store(0, std::memory_order_relaxed);
  close_outlived(number, group);
}

Flight Communicator::flight(const Operation& operation) noexcept {
  const auto place = static_cast<std::uint32_t>(operation.number % layout::kInFlight);
  return {&block().in_flight[place], flight_name(place, operation.generation())};
}

bool Communicator::finish(Operation& operation) noexcept {
  if (const auto refused = operation.times.refusal()) return settle(operation, *refused);
  const std::uint64_t duration_ns = operation.times.duration_ns();
  const bool is_measured =
      operation.kind == OperationKind::kPointToPoint
          ? counters_.measure_p2p(operation.counted_in, flight(operation), duration_ns, operation.bytes)
          : counters_.measure_collective(operation.counted_in, flight(operation), duration_ns, operation.bytes);
  if (!is_measured) return settle(operation, Outcome::kDroppedContention);
  leave(operation);
  return true;
}

bool Communicator::settle(Operation& operation, Outcome outcome) noexcept {
  if (!counters_.settle(operation.row, flight(operation), outcome)) return false;
  leave(operation);
  return true;
}

// What is lost on a ring that came round, or in a communicator that closes, keeps its place held for the next tenant.
bool Communicator::settle_unheard(Operation& operation) noexcept {
  const Outcome outcome = operation.is_replay ? Outcome::kGraph : Outcome::kIncomplete;
  if (!counters_.settle(operation.row, flight(operation), outcome)) return false;
  count(block().callbacks, operation.callbacks);
  return true;
}

void Communicator::leave(Operation& operation) noexcept {
  count(block().callbacks, operation.callbacks);
  operation.leave();
}

void Communicator::close_outlived(std::uint64_t number, std::uint64_t group) noexcept {
  for (int i = 0; i < kClosedAtOnce; ++i) {
    std::uint64_t oldest = oldest_.load(std::memory_order_relaxed);
    if (oldest >= number) return;
    Operation& operation = ring_[oldest % layout::kInFlight];
    if (operation.hold_any()) {
      const bool is_it = operation.number == oldest;
      const bool is_outlived =
          group == 0 ? oldest + kOutlivedOperations <= number : operation.group + kOutlivedGroups <= group;
      if (is_it && !is_outlived) {
        operation.open();
        return;
      }
      if (is_it && settle_unheard(operation)) {
        operation.leave();
      } else {
        operation.open();
        if (is_it) return;
      }
    }
    oldest_.compare_exchange_strong(oldest, oldest + 1, std::memory_order_relaxed);
  }
}

// Every operation before the one of number `last`.
void Communicator::close_all(std::uint64_t last) noexcept {
  const bool may_wait = !is_open();
  // At the end all places are looked at: one may have been passed over while its launch was on the way.
  std::uint64_t number = may_wait ? 0 : oldest_.load(std::memory_order_relaxed);
  if (last > layout::kInFlight) number = std::max(number, last - layout::kInFlight);
  for (; number < last; ++number) {
    Operation& operation = ring_[number % layout::kInFlight];
    Place::Taken taken = operation.take();
    for (int i = 0; may_wait && taken == Place::Taken::kNo && i < kPatience; ++i) {
      sched_yield();
      taken = operation.take();
    }
    if (taken == Place::Taken::kNo) continue;
    bool is_settled = taken == Place::Taken::kEmpty;
    if (!is_settled && operation.number < last) {
      is_settled = settle_unheard(operation);
      for (int i = 0; may_wait && !is_settled && i < kPatience; ++i) {
        sched_yield();
        is_settled = settle_unheard(operation);
      }
    }
    if (is_settled) {
      operation.leave();
    } else {
      operation.open();
    }
  }
}

}  // namespace nccl_sentinel
