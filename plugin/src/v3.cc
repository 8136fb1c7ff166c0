// SPDX-License-Identifier: Apache-2.0
// NCCL's profiler interface, version 3.
#include "nccl_sentinel/abi_v3.h"
#include "untimed_shim.h"

namespace shim = nccl_sentinel::shim;
using nccl_sentinel::abi::v3::Abi;

extern "C" constexpr Abi::Table ncclProfiler_v3 =
    shim::table<Abi, shim::start_untimed<Abi>>(shim::init_v1<Abi::kVersion>);
