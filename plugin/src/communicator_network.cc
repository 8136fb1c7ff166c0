// SPDX-License-Identifier: Apache-2.0
// Network operations of launched operations, and their steps.
#include "callback_cost.h"
#include "communicator.h"

namespace nccl_sentinel {

void* Communicator::start_network(const Handle& operation, const NetworkStart& start) noexcept {
  const CallbackCost cost(block(), is_timed(callback_number(operation, 3) + start.channel), &shared_->governor);
  if (start.pid != shared_->pid) return nullptr;  // another process's handle, which only looks like one of ours
  Operation& held = ring_[operation.place];
  if (!held.hold(operation.generation)) return nullptr;
  if (start.channel < kMaxChannels) held.net_channels |= channel_bit(start.channel);
  held.open();
  const std::uint64_t number = next_network_.fetch_add(1, std::memory_order_relaxed);
  Handle handle = operation;
  handle.place = static_cast<std::uint32_t>(number % kNetworkOperations);
  handle.part = 0;
  NetworkOperation& network = networks_[handle.place];
  const Place::Taken taken = network.take();
  if (taken != Place::Taken::kEmpty)
    count(shared_->file->header.dropped[static_cast<std::size_t>(layout::Dropped::kNetwork)]);
  if (taken == Place::Taken::kNo) return nullptr;
  handle.generation = network.renew();
  const auto direction = start.is_send ? layout::Direction::kSend : layout::Direction::kReceive;
  network.reset(counters_.link(start.peer, direction), direction);
  network.open();
  return encode(HandleKind::kNetwork, handle);
}

void Communicator::stop_network(const Handle& handle) noexcept {
  const CallbackCost cost(block(), is_timed(callback_number(handle, 0)), &shared_->governor);
  NetworkOperation& network = networks_[handle.place % kNetworkOperations];
  if (!network.hold(handle.generation)) return;
  if (!counters_.add_steps(network.link, network.times())) {
    count(shared_->file->header.dropped[static_cast<std::size_t>(layout::Dropped::kNetwork)]);
  }
  count(block().callbacks, network.callbacks + 1);
  network.leave();
}

void* Communicator::start_step(const Handle& handle, std::uint32_t step) noexcept {
  Handle own = handle;
  own.part = step % NetworkOperation::kStepParts;
  const CallbackCost cost(block(), is_timed(callback_number(own, 1)), &shared_->governor);
  NetworkOperation& network = networks_[handle.place % kNetworkOperations];
  if (!network.hold(handle.generation)) return nullptr;
  ++network.callbacks;
  network.start_step(own.part);
  network.open();
  return encode(HandleKind::kStep, own);
}

void Communicator::record_step(const Handle& step, int state, const std::uint64_t* bytes) noexcept {
  const CallbackCost cost(block(), is_timed(callback_number(step, 2) + static_cast<std::uint64_t>(state)),
                          &shared_->governor);
  NetworkOperation& network = networks_[step.place % kNetworkOperations];
  if (!network.hold(step.generation)) return;
  ++network.callbacks;
  network.record(step.part, state, bytes, tick_clock.now());
  network.open();
}

void Communicator::stop_step(const Handle& step) noexcept {
  const CallbackCost cost(block(), is_timed(callback_number(step, 3)), &shared_->governor);
  NetworkOperation& network = networks_[step.place % kNetworkOperations];
  if (!network.hold(step.generation)) return;
  ++network.callbacks;
  network.stop_step(step.part, tick_clock.now());
  network.open();
}

void Communicator::close_network() noexcept {
  const std::uint64_t last = next_network_.load(std::memory_order_relaxed);
  std::uint64_t number = last > kNetworkOperations ? last - kNetworkOperations : 0;
  for (; number < last; ++number) {
    NetworkOperation& network = networks_[number % kNetworkOperations];
    if (!network.hold_any()) continue;
    count(shared_->file->header.dropped[static_cast<std::size_t>(layout::Dropped::kNetwork)]);
    network.leave();
  }
}

}  // namespace nccl_sentinel
