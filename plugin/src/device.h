// SPDX-License-Identifier: Apache-2.0
// The GPU of this process and the version of NCCL, asked of libraries that the job has loaded anyway. Only at init.
#pragma once

#include "nccl_sentinel/abi.h"

namespace nccl_sentinel {

struct Device {
  int ordinal = -1;    // of the CUDA context that is current; -1 where there is none
  char uuid[48] = "";  // GPU-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx
};

// Never loads the CUDA driver: where the job has not, nothing is known.
Device current_device() noexcept;

// As ncclGetVersion counts, asked of the library that `logger` lives in; 0 where that does not tell.
int nccl_version(abi::Logger logger) noexcept;

}  // namespace nccl_sentinel
