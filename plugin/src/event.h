// SPDX-License-Identifier: Apache-2.0
// What happened, in this plugin's own words. Each interface version's shim turns NCCL's descriptors into these.
#pragma once

#include <cstdint>

#include "nccl_sentinel/abi.h"

namespace nccl_sentinel {

struct CommunicatorStart {
  std::uint64_t id;
  const char* name;  // may be null
  int nodes;
  int ranks;
  int rank;
  abi::Logger logger;  // may be null
  std::uint32_t interface_version;
};

struct CollectiveStart {
  const char* operation;  // these four may be null
  const char* algorithm;
  const char* protocol;
  const char* datatype;
  std::uint64_t count;  // elements
  std::uint32_t channels;
};

struct ChannelStart {
  void* collective;  // handle of the operation it belongs to; may be null or foreign
  std::uint32_t channel;
  std::uint64_t timer_ns;  // the GPU's globaltimer
};

}  // namespace nccl_sentinel
