// SPDX-License-Identifier: Apache-2.0
// Version 6 of the profiler interface, as NCCL 2.29 or 2.30 calls it on x86-64 Linux. Adds collectives by copy engine.
#pragma once

#include "nccl_sentinel/abi.h"
#include "nccl_sentinel/abi_v5.h"

namespace nccl_sentinel::abi::v6 {

using v5::Coll;
using v5::CollApi;
using v5::P2p;
using v5::P2pApi;

struct CeColl {
  std::uint64_t seqNumber;
  const char* func;
  const void* sendBuff;
  void* recvBuff;
  std::size_t count;
  int root;
  const char* datatype;
  const char* syncStrategy;
  bool intraBatchSync;
  std::uint32_t batchSize;
  std::uint32_t numBatches;
  std::uint32_t ceSeqNum;
  void* stream;
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
    CeColl ceColl;
    CeCollSync ceCollSync;
    CeCollBatch ceCollBatch;
  };
};

using StateArguments = abi::StateArguments;
using Table = PluginTable<InitV5, Descriptor, StateArguments>;
using Abi = Interface<6, Descriptor, StateArguments, Table>;

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
NCCL_SENTINEL_ABI_FIELD(ceColl.seqNumber, 24, 8);
NCCL_SENTINEL_ABI_FIELD(ceColl.func, 32, 8);
NCCL_SENTINEL_ABI_FIELD(ceColl.sendBuff, 40, 8);
NCCL_SENTINEL_ABI_FIELD(ceColl.recvBuff, 48, 8);
NCCL_SENTINEL_ABI_FIELD(ceColl.count, 56, 8);
NCCL_SENTINEL_ABI_FIELD(ceColl.root, 64, 4);
NCCL_SENTINEL_ABI_FIELD(ceColl.datatype, 72, 8);
NCCL_SENTINEL_ABI_FIELD(ceColl.syncStrategy, 80, 8);
NCCL_SENTINEL_ABI_FIELD(ceColl.intraBatchSync, 88, 1);
NCCL_SENTINEL_ABI_FIELD(ceColl.batchSize, 92, 4);
NCCL_SENTINEL_ABI_FIELD(ceColl.numBatches, 96, 4);
NCCL_SENTINEL_ABI_FIELD(ceColl.ceSeqNum, 100, 4);
NCCL_SENTINEL_ABI_FIELD(ceColl.stream, 104, 8);
NCCL_SENTINEL_ABI_FIELD(ceCollSync.isComplete, 24, 1);
NCCL_SENTINEL_ABI_FIELD(ceCollSync.nRanks, 28, 4);
NCCL_SENTINEL_ABI_FIELD(ceCollBatch.numOps, 24, 4);
NCCL_SENTINEL_ABI_FIELD(ceCollBatch.totalBytes, 32, 8);
NCCL_SENTINEL_ABI_FIELD(ceCollBatch.useIntraSync, 40, 1);

}  // namespace nccl_sentinel::abi::v6

NCCL_SENTINEL_ABI_EXPORT(v6);
