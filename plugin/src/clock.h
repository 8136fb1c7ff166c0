// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <ctime>

namespace nccl_sentinel {

inline std::uint64_t read_clock_ns(clockid_t clock) noexcept {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(now.tv_nsec);
}

// The clock of Communicator::in_flight. Answered by the vDSO: no system call.
inline std::uint64_t monotonic_ns() noexcept { return read_clock_ns(CLOCK_MONOTONIC); }

}  // namespace nccl_sentinel
