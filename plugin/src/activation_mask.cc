// SPDX-License-Identifier: Apache-2.0
#include "activation_mask.h"

#include <algorithm>
#include <limits>

namespace nccl_sentinel {
namespace {

constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();

// Something that only this thread has, and even.
std::uint64_t this_thread() noexcept { return reinterpret_cast<std::uint64_t>(__builtin_thread_pointer()); }

// Stacks, and with them these pointers, lie whole pages apart: Fibonacci hashing brings the high bits down.
std::uint64_t hash(std::uint64_t thread) noexcept { return (thread * 0x9E37'79B9'7F4A'7C15) >> 32; }

bool is_thread(std::uint64_t began, std::uint64_t thread) noexcept { return (began & ~std::uint64_t{1}) == thread; }

}  // namespace

void ActivationMask::open(int* target, int always, int timing) noexcept {
  if (users_ == 0) {
    target_.store(target, std::memory_order_relaxed);
    always_.store(always, std::memory_order_relaxed);
    timing_.store(timing, std::memory_order_relaxed);
    const LockHold hold(lock_);
    if (hold) taken_ = 0;                                         // wishes that nobody dropped
    captures_.store(Captures::kNone, std::memory_order_relaxed);  // graphs go before their communicators
    next_change_.store(kNever, std::memory_order_relaxed);
    __atomic_store_n(target, always, __ATOMIC_RELAXED);
  }
  ++users_;
}

void ActivationMask::begin_group() noexcept {
  const std::uint64_t thread = this_thread();
  place_of(thread).store(thread | (has_timing() ? 1 : 0), std::memory_order_relaxed);
  const std::uint64_t next = group_.fetch_add(1, std::memory_order_relaxed) + 2;
  if (next >= next_change_.load(std::memory_order_relaxed)) {
    const LockHold hold(lock_);
    if (hold) prepare(group() + 1);
  }
}

bool ActivationMask::is_group_timed() const noexcept {
  const std::uint64_t thread = this_thread();
  for (const auto& place : began_[hash(thread) % kThreadSets]) {
    const std::uint64_t began = place.load(std::memory_order_relaxed);
    if (is_thread(began, thread)) return (began & 1) != 0;
  }
  return has_timing();
}

// Its own, else a free one, else one of another thread.
std::atomic<std::uint64_t>& ActivationMask::place_of(std::uint64_t thread) noexcept {
  ThreadSet& set = began_[hash(thread) % kThreadSets];
  for (auto& place : set) {
    std::uint64_t began = place.load(std::memory_order_relaxed);
    if (is_thread(began, thread)) return place;
    if (began == 0 && place.compare_exchange_strong(began, thread, std::memory_order_relaxed)) return place;
  }
  return set[hash(thread) / kThreadSets % kThreadsInSet];
}

ActivationMask::Ticket ActivationMask::want(std::uint64_t first, std::uint64_t last) noexcept {
  const LockHold hold(lock_);
  if (!hold || taken_ == kNever) return 0;
  const auto place = static_cast<std::uint32_t>(__builtin_ctzll(~taken_));
  taken_ |= std::uint64_t{1} << place;
  tickets_ += kWishes;
  const Ticket ticket = tickets_ | place;
  wishes_[place] = {first, last, ticket};
  prepare(group() + 1);
  return ticket;
}

void ActivationMask::drop(Ticket ticket) noexcept {
  if (ticket == 0) return;
  const std::uint32_t place = ticket % kWishes;
  const LockHold hold(lock_);
  if (!hold || (taken_ >> place & 1) == 0 || wishes_[place].ticket != ticket) return;
  taken_ &= ~(std::uint64_t{1} << place);
  prepare(group() + 1);
}

void ActivationMask::capture(bool is_timed) noexcept {
  if (captures_.load(std::memory_order_relaxed) != Captures::kNone) return;
  Captures none = Captures::kNone;
  captures_.compare_exchange_strong(none, is_timed ? Captures::kTimed : Captures::kUntimed, std::memory_order_relaxed);
  next_change_.store(0, std::memory_order_relaxed);  // for whoever holds the lock now, or the next group
  const LockHold hold(lock_);
  if (hold) prepare(group() + 1);
}

void ActivationMask::prepare(std::uint64_t next) noexcept {
  const Captures captures = captures_.load(std::memory_order_relaxed);
  bool is_wanted = false;
  std::uint64_t change = kNever;
  for (std::uint64_t rest = taken_; rest != 0; rest &= rest - 1) {
    const auto place = static_cast<std::uint32_t>(__builtin_ctzll(rest));
    const Wish& wish = wishes_[place];
    if (wish.last < next) {
      taken_ &= ~(std::uint64_t{1} << place);
    } else if (wish.first <= next) {
      is_wanted = true;
      change = std::min(change, wish.last + 1);
    } else {
      change = std::min(change, wish.first);
    }
  }
  const bool timed = captures == Captures::kNone ? is_wanted : captures == Captures::kTimed;
  next_change_.store(change, std::memory_order_relaxed);
  int* target = target_.load(std::memory_order_relaxed);
  const int always = always_.load(std::memory_order_relaxed);
  const int value = timed ? always | timing_.load(std::memory_order_relaxed) : always;
  if (__atomic_load_n(target, __ATOMIC_RELAXED) != value) __atomic_store_n(target, value, __ATOMIC_RELAXED);
}

}  // namespace nccl_sentinel
