// SPDX-License-Identifier: Apache-2.0
// The directory that the training processes of a node share with its exporter.
#pragma once

#include "report.h"

namespace nccl_sentinel {

inline constexpr const char* kNodeDirectory = "/run/nccl-sentinel";
inline constexpr const char* kFallbackDirectory = "/dev/shm/nccl-sentinel";

struct Directory {
  int fd = -1;
  char path[kPathBytes] = "";
};

// `chosen` where it is not null. Else `node` where it exists, else `fallback`, created for everybody and sticky (1777)
// where it does not exist. The defaults are not followed through a symbolic link, and are refused where anybody may
// remove the files of others in them.
bool open_directory(const char* chosen, const char* node, const char* fallback, Directory& directory,
                    Failure& failure) noexcept;

}  // namespace nccl_sentinel
