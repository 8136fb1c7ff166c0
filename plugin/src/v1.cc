// SPDX-License-Identifier: Apache-2.0
// NCCL's profiler interface, version 1.
#include "nccl_sentinel/abi_v1.h"
#include "untimed_shim.h"

namespace shim = nccl_sentinel::shim;
using nccl_sentinel::abi::v1::Abi;

extern "C" constexpr Abi::Table ncclProfiler_v1 =
    shim::table<Abi, shim::start_untimed<Abi>>(shim::init_v1<Abi::kVersion>);
