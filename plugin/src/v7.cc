// SPDX-License-Identifier: Apache-2.0
// NCCL's profiler interface, version 7.
#include "nccl_sentinel/abi_v7.h"
#include "timed_shim.h"

namespace shim = nccl_sentinel::shim;
using nccl_sentinel::abi::v7::Abi;

extern "C" constexpr Abi::Table ncclProfiler_v7 =
    shim::table<Abi, shim::start_timed<Abi>>(shim::init_v5<Abi::kVersion>);
