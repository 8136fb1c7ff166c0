// SPDX-License-Identifier: Apache-2.0
#include "report.h"

#include <cstdio>
#include <cstring>

namespace nccl_sentinel {

void warn(abi::Logger logger, const Failure& failure) noexcept {
  if (logger == nullptr) return;
  char reason[128] = "";
  const char* why = failure.error == 0 ? "" : strerror_r(failure.error, reason, sizeof reason);  // the GNU one
  char message[kPathBytes + 512];
  std::snprintf(message, sizeof message, "nccl-sentinel: %s%s%s%s%s. %s", failure.what, failure.where[0] ? " " : "",
                failure.where, why[0] ? ": " : "", why, failure.hint);
  logger(abi::kLogWarn, abi::kSubsystemProfile, "nccl-sentinel", 0, "%s", message);
}

void inform(abi::Logger logger, const char* message) noexcept {
  if (logger != nullptr) logger(abi::kLogInfo, abi::kSubsystemProfile, "nccl-sentinel", 0, "%s", message);
}

}  // namespace nccl_sentinel
