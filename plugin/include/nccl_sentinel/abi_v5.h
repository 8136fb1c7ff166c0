// SPDX-License-Identifier: Apache-2.0
// Version 5 of the profiler interface, as NCCL 2.28 calls it on x86-64 Linux. Adds the API calls behind operations.
#pragma once

#include "nccl_sentinel/abi.h"

namespace nccl_sentinel::abi::v5 {

struct CollApi {
  const char* func;
  std::size_t count;
  const char* datatype;
  int root;
  void* stream;
  bool graphCaptured;
};

struct P2pApi {
  const char* func;
  std::size_t count;
  const char* datatype;
  void* stream;
  bool graphCaptured;
};

struct Coll {
  std::uint64_t seqNumber;
  const char* func;
  const void* sendBuff;
  void* recvBuff;
  std::size_t count;
  int root;
  const char* datatype;
  std::uint8_t nChannels;
  std::uint8_t nWarps;
  const char* algo;
  const char* proto;
  void* parentGroup;
};

struct P2p {
  const char* func;
  void* buff;
  const char* datatype;
  std::size_t count;
  int peer;
  std::uint8_t nChannels;
  void* parentGroup;
};

struct Descriptor {
  std::uint64_t type;
  void* parentObj;
  int rank;
  union {
    GroupApi groupApi;
    CollApi collApi;
    P2pApi p2pApi;
    KernelLaunch kernelLaunch;
    Coll coll;
    P2p p2p;
    ProxyOp proxyOp;
    ProxyStep proxyStep;
    KernelCh kernelCh;
    NetPlugin netPlugin;
  };
};

using StateArguments = abi::StateArguments;
using Table = PluginTable<InitV5, Descriptor, StateArguments>;
using Abi = Interface<5, Descriptor, StateArguments, Table>;

NCCL_SENTINEL_ABI_SIZES(112, 8, 48);
NCCL_SENTINEL_ABI_FIELD(type, 0, 8);
NCCL_SENTINEL_ABI_FIELD(parentObj, 8, 8);
NCCL_SENTINEL_ABI_FIELD(rank, 16, 4);
NCCL_SENTINEL_ABI_FIELD(groupApi.graphCaptured, 24, 1);
NCCL_SENTINEL_ABI_FIELD(groupApi.groupDepth, 28, 4);
NCCL_SENTINEL_ABI_FIELD(collApi.func, 24, 8);
NCCL_SENTINEL_ABI_FIELD(collApi.count, 32, 8);
NCCL_SENTINEL_ABI_FIELD(collApi.datatype, 40, 8);
NCCL_SENTINEL_ABI_FIELD(collApi.root, 48, 4);
NCCL_SENTINEL_ABI_FIELD(collApi.stream, 56, 8);
NCCL_SENTINEL_ABI_FIELD(collApi.graphCaptured, 64, 1);
NCCL_SENTINEL_ABI_FIELD(p2pApi.func, 24, 8);
NCCL_SENTINEL_ABI_FIELD(p2pApi.count, 32, 8);
NCCL_SENTINEL_ABI_FIELD(p2pApi.datatype, 40, 8);
NCCL_SENTINEL_ABI_FIELD(p2pApi.stream, 48, 8);
NCCL_SENTINEL_ABI_FIELD(p2pApi.graphCaptured, 56, 1);
NCCL_SENTINEL_ABI_FIELD(kernelLaunch.stream, 24, 8);
NCCL_SENTINEL_ABI_FIELD(coll.seqNumber, 24, 8);
NCCL_SENTINEL_ABI_FIELD(coll.func, 32, 8);
NCCL_SENTINEL_ABI_FIELD(coll.sendBuff, 40, 8);
NCCL_SENTINEL_ABI_FIELD(coll.recvBuff, 48, 8);
NCCL_SENTINEL_ABI_FIELD(coll.count, 56, 8);
NCCL_SENTINEL_ABI_FIELD(coll.root, 64, 4);
NCCL_SENTINEL_ABI_FIELD(coll.datatype, 72, 8);
NCCL_SENTINEL_ABI_FIELD(coll.nChannels, 80, 1);
NCCL_SENTINEL_ABI_FIELD(coll.nWarps, 81, 1);
NCCL_SENTINEL_ABI_FIELD(coll.algo, 88, 8);
NCCL_SENTINEL_ABI_FIELD(coll.proto, 96, 8);
NCCL_SENTINEL_ABI_FIELD(coll.parentGroup, 104, 8);
NCCL_SENTINEL_ABI_FIELD(p2p.func, 24, 8);
NCCL_SENTINEL_ABI_FIELD(p2p.buff, 32, 8);
NCCL_SENTINEL_ABI_FIELD(p2p.datatype, 40, 8);
NCCL_SENTINEL_ABI_FIELD(p2p.count, 48, 8);
NCCL_SENTINEL_ABI_FIELD(p2p.peer, 56, 4);
NCCL_SENTINEL_ABI_FIELD(p2p.nChannels, 60, 1);
NCCL_SENTINEL_ABI_FIELD(p2p.parentGroup, 64, 8);
NCCL_SENTINEL_ABI_FIELD(proxyOp.pid, 24, 4);
NCCL_SENTINEL_ABI_FIELD(proxyOp.channelId, 28, 1);
NCCL_SENTINEL_ABI_FIELD(proxyOp.peer, 32, 4);
NCCL_SENTINEL_ABI_FIELD(proxyOp.nSteps, 36, 4);
NCCL_SENTINEL_ABI_FIELD(proxyOp.chunkSize, 40, 4);
NCCL_SENTINEL_ABI_FIELD(proxyOp.isSend, 44, 4);
NCCL_SENTINEL_ABI_FIELD(proxyStep.step, 24, 4);
NCCL_SENTINEL_ABI_FIELD(kernelCh.channelId, 24, 1);
NCCL_SENTINEL_ABI_FIELD(kernelCh.pTimer, 32, 8);
NCCL_SENTINEL_ABI_FIELD(netPlugin.id, 24, 8);
NCCL_SENTINEL_ABI_FIELD(netPlugin.data, 32, 8);

}  // namespace nccl_sentinel::abi::v5

NCCL_SENTINEL_ABI_EXPORT(v5);
