// SPDX-License-Identifier: Apache-2.0
// NCCL's profiler interface, version 2.
#include "nccl_sentinel/abi_v2.h"
#include "untimed_shim.h"

namespace shim = nccl_sentinel::shim;
using nccl_sentinel::abi::v2::Abi;

extern "C" constexpr Abi::Table ncclProfiler_v2 =
    shim::table<Abi, shim::start_untimed<Abi>>(shim::init_v1<Abi::kVersion>);
