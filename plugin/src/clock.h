// SPDX-License-Identifier: Apache-2.0
// The clocks of the callbacks. None of them is a system call: the vDSO and the processor answer.
#pragma once

#include <x86intrin.h>

#include <atomic>
#include <cstdint>
#include <ctime>

namespace nccl_sentinel {

inline std::uint64_t read_clock_ns(clockid_t clock) noexcept {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(now.tv_nsec);
}

inline std::uint64_t monotonic_ns() noexcept { return read_clock_ns(CLOCK_MONOTONIC); }

// The same clock as of the kernel's last tick (1 to 10 ms ago), at a seventh of the cost.
inline std::uint64_t coarse_monotonic_ns() noexcept { return read_clock_ns(CLOCK_MONOTONIC_COARSE); }

// Short intervals in the processor's own ticks: half the cost of CLOCK_MONOTONIC. Where the time stamp counter may stop
// or change its pace (no invariant TSC), ticks are nanoseconds of CLOCK_MONOTONIC.
class TickClock {
 public:
  // Before anybody reads: chooses the counter and measures its pace, for about 100 us.
  void start() noexcept;
  // The pace again, over all the time since the start. At any time.
  void refine() noexcept;

  std::uint64_t now() const noexcept { return has_counter_ ? __rdtsc() : monotonic_ns(); }
  std::uint64_t to_ns(std::uint64_t ticks) const noexcept {
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::uint64_t>(Wide{ticks} * scale_.load(std::memory_order_relaxed) >> 32);
  }

 private:
  bool has_counter_;
  std::uint64_t first_ticks_;
  std::uint64_t first_ns_;
  std::atomic<std::uint64_t> scale_;  // nanoseconds in a tick, times 2^32
};

inline TickClock tick_clock;  // zero: nothing to construct

}  // namespace nccl_sentinel
