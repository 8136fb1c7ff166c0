// SPDX-License-Identifier: Apache-2.0
// From the calls of the API to the choice of an operation.
#include "callback_cost.h"
#include "communicator.h"

namespace nccl_sentinel {
namespace {

// Of a communicator that has told no times lately only each so many-th chosen operation is waited for.
constexpr std::uint64_t kSilentAsked = 64;

}  // namespace

void Communicator::count_call() noexcept {
  const std::uint64_t calls = calls_.load(std::memory_order_relaxed) + 1;
  calls_.store(calls, std::memory_order_relaxed);
  if (calls % kCallsCounted == 0) count(block().callbacks, kCallsCounted);
}

void Communicator::start_group() noexcept {
  const CallbackCost cost(block(), is_timed(calls_.load(std::memory_order_relaxed)));
  count_call();
  groups_.store(groups_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

void Communicator::start_group_call() noexcept {
  const CallbackCost cost(block(), is_timed(calls_.load(std::memory_order_relaxed)));
  count_call();
  if (mask_ != nullptr) mask_->begin_group();
}

void* Communicator::start_call(bool is_captured) noexcept {
  const CallbackCost cost(block(), is_timed(calls_.load(std::memory_order_relaxed)));
  count_call();
  const bool timing = mask_ == nullptr || mask_->is_group_timed();
  if (!is_captured) {
    asked_timing_.store(timing ? 1 : 0, std::memory_order_relaxed);
    return nullptr;
  }
  if (mask_ != nullptr && !is_alone_) mask_->capture(timing);
  Handle handle;
  handle.slot = slot_;
  handle.generation = generation_;
  handle.part = timing ? 1 : 0;
  return encode(HandleKind::kCapturedCall, handle);
}

Communicator::Asked Communicator::asked(const void* call) const noexcept {
  if (const std::optional<Handle> captured = decode(HandleKind::kCapturedCall, call)) {
    return {captured->part != 0, true};
  }
  if (mask_ == nullptr) return {true, false};
  const int timing = asked_timing_.load(std::memory_order_relaxed);
  return {timing < 0 ? mask_->is_group_timed() : timing != 0, false};
}

void Communicator::decide(Stream& stream, std::uint64_t number) noexcept {
  stream.decide(sampling_, number, shared_->governor.level());
  shared_->governor.look();
  if (mask_ != nullptr && shared_->governor.level() > 0) mask_->drop(first_wish_);
}

// NCCL announced channels, was asked in time for what they do, and answers at all.
bool Communicator::is_heard(std::uint32_t channels, const Asked& asked, std::uint64_t number,
                            std::uint8_t row) noexcept {
  if (channels != 0 && channels <= kMaxChannels && asked.timing &&
      (left_behind_.load(std::memory_order_relaxed) < kSilent || number % kSilentAsked == 0)) {
    return true;
  }
  const bool is_graphs = asked.is_replay || (mask_ != nullptr && mask_->has_given_up());
  leave_out(row, is_graphs ? layout::Outcome::kGraph : layout::Outcome::kIncomplete);
  count(block().callbacks);
  return false;
}

}  // namespace nccl_sentinel
