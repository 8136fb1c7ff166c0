// SPDX-License-Identifier: Apache-2.0
// Counts system calls. Nothing escapes it: the kernel itself stops each one and hands it over.
#pragma once

#include <cstdint>
#include <cstdio>

namespace nccl_sentinel::bench {

struct SystemCallCounter {
  static constexpr int kNumbers = 1024;
  static thread_local bool counting;
  static std::uint64_t calls[kNumbers];  // by number, of all threads

  // From here on the calling thread makes no system call but to end itself: every other one fails with ENOSYS, and is
  // counted while the thread is told to. False where the kernel cannot do it.
  static bool install();
  // {"number": calls, ...}
  static void write(std::FILE* file);
};

}  // namespace nccl_sentinel::bench
