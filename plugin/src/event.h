// SPDX-License-Identifier: Apache-2.0
// What happened, in this plugin's own words. Each interface version's shim turns NCCL's descriptors into these.
#pragma once

#include <cstdint>

#include "nccl_sentinel/abi.h"

namespace nccl_sentinel {

// Who a communicator is. Interfaces 1 to 3 do not say it at init but with each operation.
struct Identity {
  std::uint64_t id = 0;
  const char* name = nullptr;  // may be null
  int nodes = 0;               // 0: the interface does not say
  int ranks = 0;               // likewise
  int rank = 0;
};

struct CommunicatorStart {
  Identity identity;
  abi::Logger logger = nullptr;  // may be null; interfaces 1 to 3 have none
  std::uint32_t interface_version = 0;
};

// What is asked of a collective once it is chosen.
struct CollectiveStart {
  const char* algorithm;  // these three may be null
  const char* protocol;
  const char* datatype;
  std::uint64_t count;     // elements
  std::uint64_t sequence;  // NCCL's number of it in (communicator, operation)
  std::uint32_t channels;
};

struct P2pStart {
  const char* operation;  // Send or Recv; these two may be null
  const char* datatype;
  std::uint64_t count;
  std::int32_t peer;
  std::uint32_t channels;
  const void* call;  // handle of the P2pApi event, likewise
};

struct ChannelStart {
  const void* operation;  // handle of the Coll or P2p it belongs to; may be null or foreign
  std::uint32_t channel;
  std::uint64_t timer_ns;  // the GPU's globaltimer
};

struct NetworkStart {
  const void* operation;  // handle of the Coll or P2p it belongs to; may be null or foreign
  std::int32_t pid;       // whose operation it is; another process's with PXN
  std::uint32_t channel;
  std::int32_t peer;
  bool is_send;
};

struct StepStart {
  const void* network;  // handle of the ProxyOp; may be null or foreign
  std::uint32_t step;
};

}  // namespace nccl_sentinel
