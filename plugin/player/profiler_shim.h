// SPDX-License-Identifier: Apache-2.0
// The shims of all interface versions: what each of them tells a plugin of a recorded event. Abi is one version.
#pragma once

#include <unistd.h>

#include <array>

#include "nccl_sentinel/abi_v1.h"
#include "plugin_logger.h"
#include "profiler.h"

namespace nccl_sentinel::player {

template <class Abi>
class ProfilerShim final : public Profiler {
  using Descriptor = typename Abi::Descriptor;
  using Type = script::Type;

  static constexpr bool kHasChannels = Abi::kVersion >= 3;
  // From this version on channels and states have values, and init says what a communicator is.
  static constexpr bool kTimed = Abi::kVersion >= 4;
  static constexpr bool kHasCalls = Abi::kVersion >= 5;

 public:
  ProfilerShim(const void* table, const ScriptFile& script)
      : table_(*static_cast<const typename Abi::Table*>(table)), script_(script) {
    for (const script::Communicator& communicator : script.communicators) {
      communicators_[communicator.index] = &communicator;
    }
  }

  const char* name() const override { return table_.name; }

  bool knows(Type type) const override {
    return type == Type::kKernelCh ? kHasChannels : type < Type::kNetPlugin || kHasCalls;
  }

  int init(void** context, int* mask, const script::Communicator& communicator) const override {
    if constexpr (kHasCalls) {
      return table_.init(context, communicator.id, mask, name_of(communicator), communicator.nnodes,
                         communicator.nranks, communicator.rank, log_from_plugin);
    } else if constexpr (kTimed) {
      return table_.init(context, mask, name_of(communicator), communicator.id, communicator.nnodes,
                         communicator.nranks, communicator.rank, log_from_plugin);
    } else {
      return table_.init(context, mask);
    }
  }

  void start(void* context, void** handle, const Start& start) const override {
    Descriptor descriptor{};
    descriptor.type = static_cast<decltype(descriptor.type)>(1U << static_cast<unsigned>(start.event.type));
    descriptor.parentObj = start.parent;
    descriptor.rank = start.event.rank;
    fill(descriptor, start);
    table_.startEvent(context, handle, &descriptor);
  }

  void stop(void* handle) const override { table_.stopEvent(handle); }

  void state(void* handle, const script::Event& event, std::uint64_t value) const override {
    typename Abi::StateArguments arguments{};
    bool has_value = event.type == Type::kProxyCtrl;
    if constexpr (kTimed) {
      has_value = has_value || event.type == Type::kProxyStep || event.type == Type::kKernelCh;
      arguments.pTimer = value;  // all members begin at the same byte and none is longer
    } else {
      if (event.number > kLastEarlyState) return;
      arguments.appendedProxyOps = static_cast<int>(value);
    }
    table_.recordEventState(handle, event.number, has_value ? &arguments : nullptr);
  }

  void finalize(void* context) const override { table_.finalize(context); }

 private:
  static constexpr int kLastEarlyState = 18;  // the end of an append to a proxy's queue

  const char* name_of(const script::Communicator& communicator) const {
    return communicator.name == script::kNone ? nullptr : script_.text(communicator.name);
  }

  void fill(Descriptor& descriptor, const Start& start) const {
    const script::Event& event = start.event;
    switch (event.type) {
      case Type::kColl:
        fill_coll(descriptor.coll, start);
        fill_operation(descriptor, descriptor.coll, start);
        break;
      case Type::kP2p:
        set(descriptor.p2p.datatype, event.dtype, abi::v1::kDatatypes);
        descriptor.p2p.count = event.value;
        descriptor.p2p.peer = event.number;
        if constexpr (kTimed) descriptor.p2p.nChannels = event.channels;
        fill_operation(descriptor, descriptor.p2p, start);
        break;
      case Type::kProxyOp:
        // Another process's operation (PXN) carries that process's id; any other id than our own says so.
        descriptor.proxyOp.pid = (event.flags & script::kOwnProcess) != 0 ? getpid() : getppid();
        descriptor.proxyOp.channelId = event.channels;
        descriptor.proxyOp.peer = event.number;
        descriptor.proxyOp.nSteps = event.extra;
        descriptor.proxyOp.chunkSize = static_cast<int>(event.value);
        descriptor.proxyOp.isSend = (event.flags & script::kSend) != 0 ? 1 : 0;
        break;
      case Type::kProxyStep:
        descriptor.proxyStep.step = event.number;
        break;
      case Type::kKernelCh:
        if constexpr (kHasChannels) descriptor.kernelCh.channelId = event.channels;
        if constexpr (kTimed) descriptor.kernelCh.pTimer = start.timer;
        break;
      default:
        if constexpr (kHasCalls) fill_call(descriptor, event);
        break;
    }
  }

  template <class Coll>
  void fill_coll(Coll& coll, const Start& start) const {
    const script::Event& event = start.event;
    coll.seqNumber = start.sequence;
    coll.count = event.value;
    coll.root = event.number;
    coll.nWarps = event.warps;
    set(coll.datatype, event.dtype, abi::v1::kDatatypes);
    set(coll.algo, event.algo, abi::v1::kAlgorithms);
    set(coll.proto, event.proto, abi::v1::kProtocols);
    if constexpr (kTimed) {
      coll.nChannels = event.channels;
    } else {
      coll.nMaxChannels = event.channels;
    }
  }

  // What collectives and point-to-point operations have in common.
  template <class Operation>
  void fill_operation(Descriptor& descriptor, Operation& operation, const Start& start) const {
    set(operation.func, start.event.func, abi::v1::kFunctions);
    if constexpr (kHasCalls) {
      operation.parentGroup = start.group;
    } else {
      descriptor.parentObj = start.group;  // without API events the group is an operation's parent
    }
    if constexpr (!kTimed) {
      const script::Communicator& communicator = *communicators_[start.event.communicator];
      operation.name = name_of(communicator);
      operation.commHash = communicator.id;
    }
  }

  void fill_call(Descriptor& descriptor, const script::Event& event) const {
    const bool captured = (event.flags & script::kGraphCaptured) != 0;
    const auto fill = [&](auto& call) {
      call.func = script_.text(event.func);
      call.count = event.value;
      call.datatype = script_.text(event.dtype);
      call.graphCaptured = captured;
    };
    if (event.type == Type::kGroupApi) {
      descriptor.groupApi.graphCaptured = captured;
      descriptor.groupApi.groupDepth = event.number;
    } else if (event.type == Type::kCollApi) {
      fill(descriptor.collApi);
      descriptor.collApi.root = event.number;
    } else if (event.type == Type::kP2pApi) {
      fill(descriptor.p2pApi);
    }
  }

  // Version 1 has numbers where the others have names.
  template <std::size_t size>
  void set(std::uint8_t& field, std::uint32_t string, const char* const (&names)[size]) const {
    field = abi::v1::number_of(script_.text(string), names);
  }
  template <std::size_t size>
  void set(const char*& field, std::uint32_t string, const char* const (&)[size]) const {
    field = script_.text(string);
  }

  const typename Abi::Table& table_;
  const ScriptFile& script_;
  std::array<const script::Communicator*, 256> communicators_{};
};

}  // namespace nccl_sentinel::player
