// SPDX-License-Identifier: Apache-2.0
// Files left behind by processes that were killed.
#pragma once

#include <cstdint>
#include <optional>

namespace nccl_sentinel {

inline constexpr const char* kFileSuffix = ".nccl-sentinel";

struct FileName {
  std::int32_t pid;
  std::uint64_t start_monotonic_ns;
};

// <pid>-<start in nanoseconds, hexadecimal>.nccl-sentinel, or nothing.
std::optional<FileName> parse_file_name(const char* name) noexcept;

// Removes this user's files whose lock nobody holds: the kernel drops a process's lock when it dies, however it dies.
// Returns how many.
int remove_dead_files(int directory) noexcept;

}  // namespace nccl_sentinel
