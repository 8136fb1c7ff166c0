// SPDX-License-Identifier: Apache-2.0
// NCCL's profiler interface, version 5.
#include "nccl_sentinel/abi_v5.h"
#include "profiler.h"

namespace nccl_sentinel {
namespace {

using abi::StateArguments;
using abi::v5::Descriptor;

int init(void** context, std::uint64_t id, int* mask, const char* name, int nodes, int ranks, int rank,
         abi::Logger logger) noexcept {
  void* opened = profiler().open_communicator({id, name, nodes, ranks, rank, logger, 5}, mask);
  if (context != nullptr) *context = opened;
  return 0;
}

int start_event(void* context, void** handle, Descriptor* descriptor) noexcept {
  if (handle == nullptr) return 0;
  *handle = nullptr;
  if (descriptor == nullptr) return 0;
  switch (descriptor->type) {
    case abi::kColl: {
      const abi::v5::Coll& coll = descriptor->coll;
      *handle = profiler().start_collective(
          context, {coll.func, coll.algo, coll.proto, coll.datatype, coll.count, coll.nChannels});
      break;
    }
    case abi::kKernelCh:
      *handle = profiler().start_channel(
          context, {descriptor->parentObj, descriptor->kernelCh.channelId, descriptor->kernelCh.pTimer});
      break;
    default:
      profiler().ignore_event(context);
  }
  return 0;
}

int stop_event(void* handle) noexcept {
  profiler().stop(handle);
  return 0;
}

int record_event_state(void* handle, int state, StateArguments* arguments) noexcept {
  if (state == abi::kKernelChStop && arguments != nullptr) profiler().stop_channel_time(handle, arguments->pTimer);
  return 0;
}

int finalize(void* context) noexcept {
  profiler().close_communicator(context);
  return 0;
}

}  // namespace
}  // namespace nccl_sentinel

extern "C" const nccl_sentinel::abi::v5::Table ncclProfiler_v5 = {
    "Sentinel",
    nccl_sentinel::init,
    nccl_sentinel::start_event,
    nccl_sentinel::stop_event,
    nccl_sentinel::record_event_state,
    nccl_sentinel::finalize,
};
