// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cerrno>

namespace nccl_sentinel {

// The job's errno is the job's.
class ErrnoGuard {
 public:
  ErrnoGuard() noexcept : saved_(errno) {}
  ~ErrnoGuard() { errno = saved_; }
  ErrnoGuard(const ErrnoGuard&) = delete;
  ErrnoGuard& operator=(const ErrnoGuard&) = delete;

 private:
  int saved_;
};

}  // namespace nccl_sentinel
