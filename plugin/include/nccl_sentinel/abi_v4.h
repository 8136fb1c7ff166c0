// SPDX-License-Identifier: Apache-2.0
// Version 4 of the profiler interface, as NCCL 2.27 calls it on x86-64 Linux. The communicator's id and name move to
// init; channels have the GPU's times.
#pragma once

#include "nccl_sentinel/abi.h"

namespace nccl_sentinel::abi::v4 {

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
};

struct P2p {
  const char* func;
  void* buff;
  const char* datatype;
  std::size_t count;
  int peer;
  std::uint8_t nChannels;
};

struct Descriptor {
  std::uint8_t type;
  void* parentObj;
  int rank;
  union {
    Coll coll;
    P2p p2p;
    ProxyOp proxyOp;
    ProxyStep proxyStep;
    KernelCh kernelCh;
    NetPlugin netPlugin;
  };
};

using StateArguments = abi::StateArguments;
using Table = PluginTable<InitV4, Descriptor, StateArguments>;
using Abi = Interface<4, Descriptor, StateArguments, Table>;

NCCL_SENTINEL_ABI_SIZES(104, 8, 48);
NCCL_SENTINEL_ABI_FIELD(type, 0, 1);
NCCL_SENTINEL_ABI_FIELD(parentObj, 8, 8);
NCCL_SENTINEL_ABI_FIELD(rank, 16, 4);
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
NCCL_SENTINEL_ABI_FIELD(p2p.func, 24, 8);
NCCL_SENTINEL_ABI_FIELD(p2p.buff, 32, 8);
NCCL_SENTINEL_ABI_FIELD(p2p.datatype, 40, 8);
NCCL_SENTINEL_ABI_FIELD(p2p.count, 48, 8);
NCCL_SENTINEL_ABI_FIELD(p2p.peer, 56, 4);
NCCL_SENTINEL_ABI_FIELD(p2p.nChannels, 60, 1);
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

}  // namespace nccl_sentinel::abi::v4

NCCL_SENTINEL_ABI_EXPORT(v4);
