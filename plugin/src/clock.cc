// SPDX-License-Identifier: Apache-2.0
#include "clock.h"

#include <cpuid.h>

namespace nccl_sentinel {
namespace {

constexpr std::uint64_t kOne = std::uint64_t{1} << 32;
constexpr std::uint64_t kFirstLookNs = 100'000;
constexpr std::uint64_t kWorthRefiningNs = 100'000'000;

// "Invariant TSC": leaf 0x80000007, EDX bit 8 (AMD64 and Intel manuals).
bool has_invariant_counter() noexcept {
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  return __get_cpuid(0x8000'0007, &a, &b, &c, &d) != 0 && (d & 1U << 8) != 0;
}

std::uint64_t scale(std::uint64_t ns, std::uint64_t ticks) noexcept {
  __extension__ using Wide = unsigned __int128;
  return ticks == 0 ? 0 : static_cast<std::uint64_t>((Wide{ns} << 32) / ticks);
}

}  // namespace

void TickClock::start() noexcept {
  scale_.store(kOne, std::memory_order_relaxed);
  has_counter_ = has_invariant_counter();
  if (!has_counter_) return;
  first_ns_ = monotonic_ns();
  first_ticks_ = __rdtsc();
  std::uint64_t passed_ns = 0;
  while (passed_ns < kFirstLookNs) passed_ns = monotonic_ns() - first_ns_;
  const std::uint64_t measured = scale(passed_ns, __rdtsc() - first_ticks_);
  // 0.2 to 10 GHz; anything else is no clock.
  has_counter_ = measured > kOne / 10 && measured < kOne * 5;
  if (has_counter_) scale_.store(measured, std::memory_order_relaxed);
}

void TickClock::refine() noexcept {
  if (!has_counter_) return;
  const std::uint64_t passed_ns = monotonic_ns() - first_ns_;
  const std::uint64_t ticks = __rdtsc() - first_ticks_;
  if (passed_ns > kWorthRefiningNs) scale_.store(scale(passed_ns, ticks), std::memory_order_relaxed);
}

}  // namespace nccl_sentinel
