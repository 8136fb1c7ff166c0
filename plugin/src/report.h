// SPDX-License-Identifier: Apache-2.0
// What the plugin says to people: at most a few lines, at init, through NCCL's own logger.
#pragma once

#include "nccl_sentinel/abi.h"

namespace nccl_sentinel {

inline constexpr int kPathBytes = 512;

// What failed, where, why (an errno, 0 for none) and what to do about it.
struct Failure {
  const char* what = "";
  char where[kPathBytes] = "";
  int error = 0;
  const char* hint = "";
};

// NCCL warns where the plugin can not do its work. The job goes on in any case.
void warn(abi::Logger logger, const Failure& failure) noexcept;
void inform(abi::Logger logger, const char* message) noexcept;

}  // namespace nccl_sentinel
