// SPDX-License-Identifier: Apache-2.0
// NCCL's profiler interface, version 4.
#include "nccl_sentinel/abi_v4.h"
#include "timed_shim.h"

namespace shim = nccl_sentinel::shim;
using nccl_sentinel::abi::v4::Abi;

extern "C" constexpr Abi::Table ncclProfiler_v4 =
    shim::table<Abi, shim::start_timed<Abi>>(shim::init_v4<Abi::kVersion>);
