// SPDX-License-Identifier: Apache-2.0
// NCCL's order of callbacks around operations: calls, where the interface has them; the group; the operations; and what
// times them, only where the mask asked for it when NCCL read it, which it does before all of these.
#pragma once

#include <cstdint>
#include <vector>

#include "fake_nccl.h"

namespace nccl_sentinel::tests {

inline constexpr std::uint64_t kEpoch = 1'795'973'375'725'036'416;  // a real globaltimer is about as large as this
inline constexpr std::uint64_t kPlayedNs = 40'000;                  // what an operation takes that is played

// What NCCL would read now.
int mask_now();
bool wants_timing();

struct Launched {
  std::vector<void*> handles;
  bool is_told;  // whether NCCL will tell the times of these operations
};

// One group of operations of one communicator.
Launched launch(void* context, const std::vector<Collective>& collectives);
Launched launch(void* context, const std::vector<PointToPoint>& messages);

// From the calls to the end. True: NCCL told the times.
bool play(void* context, const std::vector<Collective>& collectives);
bool play(void* context, const std::vector<PointToPoint>& messages);
inline bool play(void* context, const Collective& one = {}) { return play(context, std::vector<Collective>{one}); }
inline bool play(void* context, const PointToPoint& one) { return play(context, std::vector<PointToPoint>{one}); }

// A group of calls that is captured into a CUDA graph, and whether its replays will tell their times.
struct Capture {
  std::vector<void*> calls;
  bool is_told;
};
Capture capture(void* context, int calls, const char* operation = "AllReduce");

}  // namespace nccl_sentinel::tests
