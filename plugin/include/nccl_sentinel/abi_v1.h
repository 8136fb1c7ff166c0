// SPDX-License-Identifier: Apache-2.0
// Version 1 of the profiler interface, as NCCL 2.23 calls it on x86-64 Linux. Operations are numbered, not named, and
// carry the communicator's id and name.
#pragma once

#include <cstring>

#include "nccl_sentinel/abi.h"

namespace nccl_sentinel::abi::v1 {

struct Coll {
  const char* name;  // of the communicator
  std::uint64_t commHash;
  std::uint64_t seqNumber;
  std::uint8_t func;
  const void* sendBuff;
  void* recvBuff;
  std::size_t count;
  int root;
  std::uint8_t datatype;
  std::uint32_t op;
  std::size_t trafficBytes;
  std::uint8_t nMaxChannels;
  std::uint8_t nWarps;
  std::uint8_t algo;
  std::uint8_t proto;
  int isCollnet;
  int isNvls;
};

struct P2p {
  const char* name;  // of the communicator
  std::uint64_t commHash;
  std::uint8_t func;
  void* buff;
  std::uint8_t datatype;
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
using Abi = Interface<1, Descriptor, StateArguments, Table>;

// The names that later versions give to this one's numbers, by number.
inline constexpr const char* kFunctions[] = {"Broadcast", "Reduce",   "AllGather", "ReduceScatter",
                                             "AllReduce", "SendRecv", "Send",      "Recv"};
inline constexpr const char* kDatatypes[] = {"ncclInt8",    "ncclUint8",    "ncclInt32",      "ncclUint32",
                                             "ncclInt64",   "ncclUint64",   "ncclFloat16",    "ncclFloat32",
                                             "ncclFloat64", "ncclBfloat16", "ncclFloat8e4m3", "ncclFloat8e5m2"};
inline constexpr const char* kAlgorithms[] = {"TREE",      "RING", "COLLNET_DIRECT", "COLLNET_CHAIN", "NVLS",
                                              "NVLS_TREE", "PAT"};
inline constexpr const char* kProtocols[] = {"LL", "LL128", "SIMPLE"};

// The number of a name in one of these; 255 when it is not there.
template <std::size_t size>
std::uint8_t number_of(const char* name, const char* const (&names)[size]) {
  for (std::size_t number = 0; number < size; ++number) {
    if (name != nullptr && std::strcmp(names[number], name) == 0) return static_cast<std::uint8_t>(number);
  }
  return 255;
}

NCCL_SENTINEL_ABI_SIZES(120, 16, 48);
NCCL_SENTINEL_ABI_FIELD(type, 0, 1);
NCCL_SENTINEL_ABI_FIELD(parentObj, 8, 8);
NCCL_SENTINEL_ABI_FIELD(rank, 16, 4);
NCCL_SENTINEL_ABI_FIELD(coll.name, 24, 8);
NCCL_SENTINEL_ABI_FIELD(coll.commHash, 32, 8);
NCCL_SENTINEL_ABI_FIELD(coll.seqNumber, 40, 8);
NCCL_SENTINEL_ABI_FIELD(coll.func, 48, 1);
NCCL_SENTINEL_ABI_FIELD(coll.sendBuff, 56, 8);
NCCL_SENTINEL_ABI_FIELD(coll.recvBuff, 64, 8);
NCCL_SENTINEL_ABI_FIELD(coll.count, 72, 8);
NCCL_SENTINEL_ABI_FIELD(coll.root, 80, 4);
NCCL_SENTINEL_ABI_FIELD(coll.datatype, 84, 1);
NCCL_SENTINEL_ABI_FIELD(coll.op, 88, 4);
NCCL_SENTINEL_ABI_FIELD(coll.trafficBytes, 96, 8);
NCCL_SENTINEL_ABI_FIELD(coll.nMaxChannels, 104, 1);
NCCL_SENTINEL_ABI_FIELD(coll.nWarps, 105, 1);
NCCL_SENTINEL_ABI_FIELD(coll.algo, 106, 1);
NCCL_SENTINEL_ABI_FIELD(coll.proto, 107, 1);
NCCL_SENTINEL_ABI_FIELD(coll.isCollnet, 108, 4);
NCCL_SENTINEL_ABI_FIELD(coll.isNvls, 112, 4);
NCCL_SENTINEL_ABI_FIELD(p2p.name, 24, 8);
NCCL_SENTINEL_ABI_FIELD(p2p.commHash, 32, 8);
NCCL_SENTINEL_ABI_FIELD(p2p.func, 40, 1);
NCCL_SENTINEL_ABI_FIELD(p2p.buff, 48, 8);
NCCL_SENTINEL_ABI_FIELD(p2p.datatype, 56, 1);
NCCL_SENTINEL_ABI_FIELD(p2p.count, 64, 8);
NCCL_SENTINEL_ABI_FIELD(p2p.peer, 72, 4);
NCCL_SENTINEL_ABI_FIELD(proxyOp.pid, 24, 4);
NCCL_SENTINEL_ABI_FIELD(proxyOp.channelId, 28, 1);
NCCL_SENTINEL_ABI_FIELD(proxyOp.peer, 32, 4);
NCCL_SENTINEL_ABI_FIELD(proxyOp.nSteps, 36, 4);
NCCL_SENTINEL_ABI_FIELD(proxyOp.chunkSize, 40, 4);
NCCL_SENTINEL_ABI_FIELD(proxyOp.isSend, 44, 4);
NCCL_SENTINEL_ABI_FIELD(proxyStep.step, 24, 4);

}  // namespace nccl_sentinel::abi::v1

NCCL_SENTINEL_ABI_EXPORT(v1);
