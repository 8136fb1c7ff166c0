// SPDX-License-Identifier: Apache-2.0
#include "launch.h"

#include "nccl_sentinel/abi.h"

namespace nccl_sentinel::tests {
namespace {

constexpr int kGroupStartApiStop = 23;
constexpr int kGroupEndApiStart = 24;

void* announce(void* context, const Collective& one, void* group_call) {
  return nccl().collective_call(context, one.operation, false, group_call);
}
void* announce(void* context, const PointToPoint& one, void* group_call) {
  return nccl().p2p_call(context, one.operation, false, group_call);
}

void* start(void* context, const Collective& one) { return nccl().collective(context, one); }
void* start(void* context, const PointToPoint& one) { return nccl().p2p(context, one); }

template <typename Operation>
Launched launch_group(void* context, const std::vector<Operation>& operations) {
  Launched launched{{}, wants_timing()};
  void* group_call = nccl().group_call(context);
  if (group_call != nullptr) nccl().state(group_call, kGroupStartApiStop);
  std::vector<void*> calls;
  for (const Operation& one : operations) {
    calls.push_back(announce(context, one, group_call));
    if (calls.back() != nullptr) nccl().stop(calls.back());
  }
  if (group_call != nullptr) nccl().state(group_call, kGroupEndApiStart);
  nccl().group(context);
  for (std::size_t i = 0; i < operations.size(); ++i) {
    Operation one = operations[i];
    one.call = calls[i];
    launched.handles.push_back(start(context, one));
    if (launched.handles.back() != nullptr) nccl().stop(launched.handles.back());
  }
  if (group_call != nullptr) nccl().stop(group_call);
  return launched;
}

template <typename Operation>
bool play_group(void* context, const std::vector<Operation>& operations) {
  const Launched launched = launch_group(context, operations);
  if (!launched.is_told) return false;
  for (std::size_t i = 0; i < operations.size(); ++i) {
    for (std::uint8_t channel = 0; channel < operations[i].channels; ++channel) {
      nccl().run_channel(context, launched.handles[i], channel, kEpoch, kEpoch + kPlayedNs);
    }
  }
  return true;
}

}  // namespace

int mask_now() { return __atomic_load_n(&nccl().mask, __ATOMIC_RELAXED); }

bool wants_timing() { return (mask_now() & static_cast<int>(abi::kKernelCh)) != 0; }

Launched launch(void* context, const std::vector<Collective>& collectives) {
  return launch_group(context, collectives);
}
Launched launch(void* context, const std::vector<PointToPoint>& messages) { return launch_group(context, messages); }

bool play(void* context, const std::vector<Collective>& collectives) { return play_group(context, collectives); }
bool play(void* context, const std::vector<PointToPoint>& messages) { return play_group(context, messages); }

Capture capture(void* context, int calls, const char* operation) {
  Capture captured{{}, wants_timing()};
  void* group_call = nccl().group_call(context, true);
  for (int i = 0; i < calls; ++i) {
    captured.calls.push_back(nccl().collective_call(context, operation, true, group_call));
    nccl().stop(captured.calls.back());
  }
  if (group_call != nullptr) nccl().stop(group_call);
  return captured;
}

}  // namespace nccl_sentinel::tests
