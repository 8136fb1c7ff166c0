// SPDX-License-Identifier: Apache-2.0
// What the shims of all interface versions do alike. Abi gives Descriptor, Table and StateArguments of one version.
#pragma once

#include <unistd.h>

#include "plugin_logger.h"
#include "profiler.h"

namespace nccl_sentinel::player {

template <class Abi>
class ProfilerShim : public Profiler {
 public:
  ProfilerShim(const void* table, const ScriptFile& script)
      : table_(*static_cast<const typename Abi::Table*>(table)), script_(script) {}

  const char* name() const override { return table_.name; }

  void start(void* context, void** handle, const Start& start) const override {
    typename Abi::Descriptor descriptor{};
    descriptor.type = static_cast<decltype(descriptor.type)>(1U << static_cast<unsigned>(start.event.type));
    descriptor.parentObj = start.parent;
    descriptor.rank = start.event.rank;
    fill(descriptor, start);
    table_.startEvent(context, handle, &descriptor);
  }

  void stop(void* handle) const override { table_.stopEvent(handle); }

  void state(void* handle, const script::Event& event, std::uint64_t value) const override {
    // The timer stands for the whole union: all its members begin at the same byte and none is longer.
    typename Abi::StateArguments arguments{value};
    const bool none = event.type == script::Type::kGroupApi || event.type == script::Type::kProxyOp;
    table_.recordEventState(handle, event.number, none ? nullptr : &arguments);
  }

  void finalize(void* context) const override { table_.finalize(context); }

 protected:
  // Fields that are called the same in every version.
  virtual void fill(typename Abi::Descriptor& descriptor, const Start& start) const {
    const script::Event& event = start.event;
    switch (event.type) {
      case script::Type::kColl:
        descriptor.coll.seqNumber = start.sequence;
        descriptor.coll.func = script_.text(event.func);
        descriptor.coll.count = event.value;
        descriptor.coll.root = event.number;
        descriptor.coll.datatype = script_.text(event.dtype);
        descriptor.coll.nChannels = event.channels;
        descriptor.coll.nWarps = event.warps;
        descriptor.coll.algo = script_.text(event.algo);
        descriptor.coll.proto = script_.text(event.proto);
        break;
      case script::Type::kP2p:
        descriptor.p2p.func = script_.text(event.func);
        descriptor.p2p.datatype = script_.text(event.dtype);
        descriptor.p2p.count = event.value;
        descriptor.p2p.peer = event.number;
        descriptor.p2p.nChannels = event.channels;
        break;
      case script::Type::kProxyOp:
        // Another process's operation (PXN) carries that process's id; any other id than our own says so.
        descriptor.proxyOp.pid = (event.flags & script::kOwnProcess) != 0 ? getpid() : getppid();
        descriptor.proxyOp.channelId = event.channels;
        descriptor.proxyOp.peer = event.number;
        descriptor.proxyOp.nSteps = event.extra;
        descriptor.proxyOp.chunkSize = static_cast<int>(event.value);
        descriptor.proxyOp.isSend = (event.flags & script::kSend) != 0 ? 1 : 0;
        break;
      case script::Type::kProxyStep:
        descriptor.proxyStep.step = event.number;
        break;
      case script::Type::kKernelCh:
        descriptor.kernelCh.channelId = event.channels;
        descriptor.kernelCh.pTimer = start.timer;
        break;
      default:
        break;
    }
  }

  const typename Abi::Table& table_;
  const ScriptFile& script_;
};

}  // namespace nccl_sentinel::player
