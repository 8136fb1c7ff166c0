// SPDX-License-Identifier: Apache-2.0
#include "descriptor.h"

#include <cstring>
#include <new>

#include "nccl_sentinel/abi_v1.h"
#include "nccl_sentinel/abi_v2.h"
#include "nccl_sentinel/abi_v3.h"
#include "nccl_sentinel/abi_v4.h"
#include "nccl_sentinel/abi_v5.h"
#include "nccl_sentinel/abi_v6.h"
#include "nccl_sentinel/abi_v7.h"

namespace nccl_sentinel::fuzz {
namespace {

template <class Abi>
void describe_collective(const Event& event, typename Abi::Descriptor& descriptor) {
  auto& coll = descriptor.coll;
  coll.seqNumber = event.sequence;
  coll.count = event.count;
  coll.root = event.peer;
  if constexpr (Abi::kVersion == 1) {
    coll.func = abi::v1::number_of(event.operation, abi::v1::kFunctions);
    coll.datatype = abi::v1::number_of(event.datatype, abi::v1::kDatatypes);
    coll.algo = abi::v1::number_of(event.algorithm, abi::v1::kAlgorithms);
    coll.proto = abi::v1::number_of(event.protocol, abi::v1::kProtocols);
  } else {
    coll.func = event.operation;
    coll.datatype = event.datatype;
    coll.algo = event.algorithm;
    coll.proto = event.protocol;
  }
  if constexpr (Abi::kVersion <= 3) {
    coll.name = event.communicator;
    coll.commHash = event.id;
    coll.nMaxChannels = event.channels;
  } else {
    coll.nChannels = event.channels;
  }
  if constexpr (Abi::kVersion >= 5) coll.parentGroup = event.group;
}

template <class Abi>
void describe_p2p(const Event& event, typename Abi::Descriptor& descriptor) {
  auto& p2p = descriptor.p2p;
  p2p.count = event.count;
  p2p.peer = event.peer;
  if constexpr (Abi::kVersion == 1) {
    p2p.func = abi::v1::number_of(event.operation, abi::v1::kFunctions);
    p2p.datatype = abi::v1::number_of(event.datatype, abi::v1::kDatatypes);
  } else {
    p2p.func = event.operation;
    p2p.datatype = event.datatype;
  }
  if constexpr (Abi::kVersion <= 3) {
    p2p.name = event.communicator;
    p2p.commHash = event.id;
  } else {
    p2p.nChannels = event.channels;
  }
  if constexpr (Abi::kVersion >= 5) p2p.parentGroup = event.group;
}

template <class Abi>
void describe_call(const Event& event, typename Abi::Descriptor& descriptor) {
  const auto fill = [&event](auto& call) {
    call.func = event.operation;
    call.count = event.count;
    call.datatype = event.datatype;
    call.graphCaptured = event.is_captured;
  };
  switch (event.type) {
    case abi::kGroupApi:
      descriptor.groupApi.graphCaptured = event.is_captured;
      break;
    case abi::kCollApi:
      fill(descriptor.collApi);
      break;
    case abi::kP2pApi:
      fill(descriptor.p2pApi);
      break;
    default:
      break;
  }
}

template <class Abi>
void describe_as(const Event& event, Descriptor& room) {
  static_assert(sizeof(typename Abi::Descriptor) <= sizeof room);
  auto& descriptor = *new (room.bytes) typename Abi::Descriptor{};
  std::memset(&descriptor, 0, sizeof descriptor);
  descriptor.type = static_cast<decltype(descriptor.type)>(event.type);
  descriptor.parentObj = event.parent;
  switch (event.type) {
    case abi::kColl:
      return describe_collective<Abi>(event, descriptor);
    case abi::kP2p:
      return describe_p2p<Abi>(event, descriptor);
    case abi::kProxyOp:
      descriptor.proxyOp.pid = event.pid;
      descriptor.proxyOp.channelId = event.channel;
      descriptor.proxyOp.peer = event.peer;
      descriptor.proxyOp.isSend = event.is_send;
      return;
    case abi::kProxyStep:
      descriptor.proxyStep.step = event.step;
      return;
    default:
      break;
  }
  if constexpr (Abi::kVersion >= 3) {
    if (event.type == abi::kKernelCh) descriptor.kernelCh.channelId = event.channel;
  }
  if constexpr (Abi::kVersion >= 4) {
    if (event.type == abi::kKernelCh) descriptor.kernelCh.pTimer = event.timer;
  }
  if constexpr (Abi::kVersion >= 5) describe_call<Abi>(event, descriptor);
  if constexpr (Abi::kVersion >= 6) {
    if (event.type == abi::kCeColl) descriptor.ceColl.func = event.operation;
  }
}

}  // namespace

void describe(int version, const Event& event, Descriptor& descriptor) {
  static constexpr void (*kDescribe[])(const Event&, Descriptor&) = {
      describe_as<abi::v1::Abi>, describe_as<abi::v2::Abi>, describe_as<abi::v3::Abi>, describe_as<abi::v4::Abi>,
      describe_as<abi::v5::Abi>, describe_as<abi::v6::Abi>, describe_as<abi::v7::Abi>};
  kDescribe[version - 1](event, descriptor);
}

}  // namespace nccl_sentinel::fuzz
