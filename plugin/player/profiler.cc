// SPDX-License-Identifier: Apache-2.0
#include "profiler.h"

#include "nccl_sentinel/abi_v1.h"
#include "nccl_sentinel/abi_v2.h"
#include "nccl_sentinel/abi_v3.h"
#include "nccl_sentinel/abi_v4.h"
#include "nccl_sentinel/abi_v5.h"
#include "nccl_sentinel/abi_v6.h"
#include "nccl_sentinel/abi_v7.h"
#include "profiler_shim.h"

namespace nccl_sentinel::player {

std::unique_ptr<Profiler> make_profiler(int interface, const void* table, const ScriptFile& script) {
  switch (interface) {
    case 1:
      return std::make_unique<ProfilerShim<abi::v1::Abi>>(table, script);
    case 2:
      return std::make_unique<ProfilerShim<abi::v2::Abi>>(table, script);
    case 3:
      return std::make_unique<ProfilerShim<abi::v3::Abi>>(table, script);
    case 4:
      return std::make_unique<ProfilerShim<abi::v4::Abi>>(table, script);
    case 5:
      return std::make_unique<ProfilerShim<abi::v5::Abi>>(table, script);
    case 6:
      return std::make_unique<ProfilerShim<abi::v6::Abi>>(table, script);
    default:
      return std::make_unique<ProfilerShim<abi::v7::Abi>>(table, script);
  }
}

}  // namespace nccl_sentinel::player
