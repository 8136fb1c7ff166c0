// SPDX-License-Identifier: Apache-2.0
#include "frozen_clock.h"

#include <dlfcn.h>

#include <atomic>
#include <ctime>

namespace {

constexpr std::uint64_t kSecondNs = 1'000'000'000;

std::atomic<std::uint64_t> frozen_ns{0};  // 0: not frozen

using ClockGettime = int (*)(clockid_t, timespec*);

ClockGettime real() {
  static const auto function = reinterpret_cast<ClockGettime>(dlsym(RTLD_NEXT, "clock_gettime"));
  return function;
}

}  // namespace

extern "C" int clock_gettime(clockid_t clock, timespec* now) noexcept {
  const std::uint64_t ns = frozen_ns.load(std::memory_order_relaxed);
  if (ns == 0 || clock != CLOCK_MONOTONIC_COARSE) return real()(clock, now);
  now->tv_sec = static_cast<time_t>(ns / kSecondNs);
  now->tv_nsec = static_cast<long>(ns % kSecondNs);
  return 0;
}

namespace nccl_sentinel::tests {

void freeze_clock() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  frozen_ns = static_cast<std::uint64_t>(now.tv_sec) * kSecondNs + static_cast<std::uint64_t>(now.tv_nsec);
}

void pass_ms(std::uint64_t milliseconds) { frozen_ns += milliseconds * 1'000'000; }

}  // namespace nccl_sentinel::tests
