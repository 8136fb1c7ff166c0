// SPDX-License-Identifier: Apache-2.0
// From the calls of the API to the choice of an operation. From interface 5 on NCCL reads its mask as a group of calls
// begins; before that, by the start of the group of operations.
#include "callback_cost.h"
#include "communicator.h"

namespace nccl_sentinel {
namespace {

// Of the operations captured into graphs one in each so many is timed, at every replay: NCCL's way to time one costs a
// graph a node of the host's. The first one of a capture cannot be: nothing tells of a capture before it.
constexpr std::uint64_t kCaptured = 64;
constexpr std::uint64_t kCapturedPlace = 1;

}  // namespace

void Communicator::count_calls(std::uint32_t callbacks) noexcept {
  const std::uint64_t before = calls_.load(std::memory_order_relaxed);
  const std::uint64_t after = before + callbacks;
  calls_.store(after, std::memory_order_relaxed);
  if (before / kCallsCounted != after / kCallsCounted) count(block().callbacks, kCallsCounted);
}

void Communicator::start_group() noexcept {
  groups_.store(groups_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  if (has_calls_.load(std::memory_order_relaxed)) return;  // it was counted as the calls began
  const CallbackCost cost(block(), is_timed(calls_.load(std::memory_order_relaxed)));
  count_calls(1);
  asked_timing_.store(mask_ == nullptr || mask_->begin_group() ? 1 : 0, std::memory_order_relaxed);
}

void Communicator::start_group_call() noexcept {
  const CallbackCost cost(block(), is_timed(calls_.load(std::memory_order_relaxed)));
  count_calls(2);  // and the start of the group of operations that follows
  if (!has_calls_.load(std::memory_order_relaxed)) has_calls_.store(true, std::memory_order_relaxed);
  if (mask_ != nullptr) mask_->begin_group();
}

void* Communicator::start_call(bool is_captured) noexcept {
  const CallbackCost cost(block(), is_timed(calls_.load(std::memory_order_relaxed)));
  count_calls(1);
  // The group may have begun with another communicator.
  if (!has_calls_.load(std::memory_order_relaxed)) has_calls_.store(true, std::memory_order_relaxed);
  const bool timing = mask_ == nullptr || mask_->is_group_timed();
  if (!is_captured) {
    asked_timing_.store(timing ? 1 : 0, std::memory_order_relaxed);
    return nullptr;
  }
  const std::uint64_t next = captured_calls_.fetch_add(1, std::memory_order_relaxed) + 1;
  const bool is_all = shared_->sampling.burst == shared_->sampling.period;
  if (mask_ != nullptr && !is_alone_ && shared_->sampling.burst != 0 &&
      (is_all || next % kCaptured == kCapturedPlace)) {
    mask_->drop(captured_wish_.exchange(0, std::memory_order_relaxed));
    captured_wish_.store(mask_->want(mask_->group() + 1, mask_->group() + 1), std::memory_order_relaxed);
  }
  Handle handle;
  handle.slot = slot_;
  handle.generation = generation_;
  handle.part = timing ? 1 : 0;
  return encode(HandleKind::kCapturedCall, handle);
}

Communicator::Asked Communicator::asked(const void* call) noexcept {
  if (const std::optional<Handle> captured = decode(HandleKind::kCapturedCall, call)) {
    return {captured->part != 0, true};
  }
  if (mask_ == nullptr) return {true, false};
  const int timing = asked_timing_.load(std::memory_order_relaxed);
  // Where NCCL tells neither calls nor groups, each operation is a group of its own.
  return {timing >= 0 ? timing > 0 : mask_->begin_group(), false};
}

bool Communicator::choose(Stream& stream, std::uint64_t number, const Asked& asked) noexcept {
  const Sampling& sampling = shared_->sampling;
  if (Stream::is_decision(sampling, number)) {
    stream.decide(sampling, number, shared_->governor.level());
    shared_->governor.look();
    if (mask_ != nullptr && shared_->governor.level() > 0) mask_->drop(first_wish_);
  }
  const bool is_chosen = stream.takes(sampling, number) && !is_alone_;
  // A replay tells times or does not, as its capture decided; the governor can only leave it unheard.
  return asked.is_replay ? asked.timing && (is_chosen || shared_->governor.level() == 0) : is_chosen;
}

}  // namespace nccl_sentinel
