// SPDX-License-Identifier: Apache-2.0
// Version 2 of the profiler interface, as NCCL 2.24 or 2.25 calls it on x86-64 Linux. What version 1 numbers has names.
#pragma once

#include "nccl_sentinel/abi.h"

namespace nccl_sentinel::abi::v2 {

struct Coll {
  const char* name;  // of the communicator
  std::uint64_t commHash;
  std::uint64_t seqNumber;
  const char* func;
  const void* sendBuff;
  void* recvBuff;
  std::size_t count;
  int root;
  const char* datatype;
  std::size_t trafficBytes;
  std::uint8_t nMaxChannels;
  std::uint8_t nWarps;
  const char* algo;
  const char* proto;
};

struct P2p {
  const char* name;  // of the communicator
  std::uint64_t commHash;
  const char* func;
  void* buff;
  const char* datatype;
  std::size_t count;
  int peer;
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
  };
};

using StateArguments = abi::EarlyStateArguments;
using Table = PluginTable<InitV1, Descriptor, StateArguments>;
using Abi = Interface<2, Descriptor, StateArguments, Table>;

NCCL_SENTINEL_ABI_SIZES(128, 16, 48);
NCCL_SENTINEL_ABI_FIELD(type, 0, 1);
NCCL_SENTINEL_ABI_FIELD(parentObj, 8, 8);
NCCL_SENTINEL_ABI_FIELD(rank, 16, 4);
NCCL_SENTINEL_ABI_FIELD(coll.name, 24, 8);
NCCL_SENTINEL_ABI_FIELD(coll.commHash, 32, 8);
NCCL_SENTINEL_ABI_FIELD(coll.seqNumber, 40, 8);
NCCL_SENTINEL_ABI_FIELD(coll.func, 48, 8);
NCCL_SENTINEL_ABI_FIELD(coll.sendBuff, 56, 8);
NCCL_SENTINEL_ABI_FIELD(coll.recvBuff, 64, 8);
NCCL_SENTINEL_ABI_FIELD(coll.count, 72, 8);
NCCL_SENTINEL_ABI_FIELD(coll.root, 80, 4);
NCCL_SENTINEL_ABI_FIELD(coll.datatype, 88, 8);
NCCL_SENTINEL_ABI_FIELD(coll.trafficBytes, 96, 8);
NCCL_SENTINEL_ABI_FIELD(coll.nMaxChannels, 104, 1);
NCCL_SENTINEL_ABI_FIELD(coll.nWarps, 105, 1);
NCCL_SENTINEL_ABI_FIELD(coll.algo, 112, 8);
NCCL_SENTINEL_ABI_FIELD(coll.proto, 120, 8);
NCCL_SENTINEL_ABI_FIELD(p2p.name, 24, 8);
NCCL_SENTINEL_ABI_FIELD(p2p.commHash, 32, 8);
NCCL_SENTINEL_ABI_FIELD(p2p.func, 40, 8);
NCCL_SENTINEL_ABI_FIELD(p2p.buff, 48, 8);
NCCL_SENTINEL_ABI_FIELD(p2p.datatype, 56, 8);
NCCL_SENTINEL_ABI_FIELD(p2p.count, 64, 8);
NCCL_SENTINEL_ABI_FIELD(p2p.peer, 72, 4);
NCCL_SENTINEL_ABI_FIELD(proxyOp.pid, 24, 4);
NCCL_SENTINEL_ABI_FIELD(proxyOp.channelId, 28, 1);
NCCL_SENTINEL_ABI_FIELD(proxyOp.peer, 32, 4);
NCCL_SENTINEL_ABI_FIELD(proxyOp.nSteps, 36, 4);
NCCL_SENTINEL_ABI_FIELD(proxyOp.chunkSize, 40, 4);
NCCL_SENTINEL_ABI_FIELD(proxyOp.isSend, 44, 4);
NCCL_SENTINEL_ABI_FIELD(proxyStep.step, 24, 4);

}  // namespace nccl_sentinel::abi::v2

NCCL_SENTINEL_ABI_EXPORT(v2);
