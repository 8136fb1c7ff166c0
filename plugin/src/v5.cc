// SPDX-License-Identifier: Apache-2.0
// NCCL's profiler interface, version 5.
#include "nccl_sentinel/abi_v5.h"
#include "timed_shim.h"

namespace shim = nccl_sentinel::shim;
using nccl_sentinel::abi::v5::Abi;

extern "C" constexpr Abi::Table ncclProfiler_v5 =
    shim::table<Abi, shim::start_timed<Abi>>(shim::init_v5<Abi::kVersion>);
