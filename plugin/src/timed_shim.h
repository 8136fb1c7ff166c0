// SPDX-License-Identifier: Apache-2.0
// Versions 4 to 7: channels with the GPU's times. Version 5 added the API calls behind operations, version 6 the copy
// engine.
#pragma once

#include "shim.h"

namespace nccl_sentinel::shim {

template <class Abi>
__attribute__((noinline)) void* start_collective(void* context, const typename Abi::Descriptor& descriptor,
                                                 const void* api) noexcept {
  const auto& coll = descriptor.coll;
  return profiler().start_collective(context, coll.func, coll.seqNumber, api, [&coll]() noexcept {
    return CollectiveStart{coll.algo, coll.proto, coll.datatype, coll.count, coll.seqNumber, coll.nChannels};
  });
}

template <class Abi>
void* start_timed(void* context, const typename Abi::Descriptor& descriptor) noexcept {
  // Before version 5 an operation's parent is its group.
  const void* api = Abi::kVersion >= 5 ? descriptor.parentObj : nullptr;
  switch (descriptor.type) {
    case abi::kGroup:
      profiler().start_group(context);
      return nullptr;
    case abi::kColl:
      return start_collective<Abi>(context, descriptor, api);
    case abi::kP2p: {
      const auto& p2p = descriptor.p2p;
      return profiler().start_p2p(context, {p2p.func, p2p.datatype, p2p.count, p2p.peer, p2p.nChannels, api});
    }
    case abi::kKernelCh: {
      const auto& channel = descriptor.kernelCh;
      return profiler().start_channel(context, {descriptor.parentObj, channel.channelId, channel.pTimer});
    }
    case abi::kProxyOp: {
      const auto& proxy = descriptor.proxyOp;
      return profiler().start_network(
          context, {descriptor.parentObj, proxy.pid, proxy.channelId, proxy.peer, proxy.isSend != 0});
    }
    case abi::kProxyStep:
      return profiler().start_step(context,
                                   {descriptor.parentObj, static_cast<std::uint32_t>(descriptor.proxyStep.step)});
    default:
      break;
  }
  if constexpr (Abi::kVersion >= 5) {
    switch (descriptor.type) {
      case abi::kGroupApi:
        profiler().start_group_call(context);
        return nullptr;
      case abi::kCollApi:
        return profiler().start_call(context, descriptor.collApi.graphCaptured);
      case abi::kP2pApi:
        return profiler().start_call(context, descriptor.p2pApi.graphCaptured);
      default:
        break;
    }
  }
  if constexpr (Abi::kVersion >= 6) {
    if (descriptor.type == abi::kCeColl) {
      profiler().count_untimed(context, descriptor.ceColl.func, layout::OperationKind::kCopyEngine, nullptr);
      return nullptr;
    }
  }
  profiler().ignore_event(context);
  return nullptr;
}

}  // namespace nccl_sentinel::shim
