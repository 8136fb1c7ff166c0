// SPDX-License-Identifier: Apache-2.0
// Collectives that copy engines do: they count, and have no GPU timestamps.
#include "check.h"
#include "fake_nccl.h"
#include "launch.h"
#include "mapped_view.h"

namespace {

using namespace nccl_sentinel::tests;
using nccl_sentinel::layout::OperationKind;
using nccl_sentinel::layout::Outcome;

CASE_OF(copy_engine_collectives_count_as_untimed, 6, 7) {
  void* context = nccl().init(7);
  for (int i = 0; i < 3; ++i) {
    EXPECT(nccl().copy_engine_collective(context, {"AllGather"}) == nullptr);
    nccl().run(context, {"AllGather"}, kEpoch, 10);
  }
  const auto& world = communicator(7);
  const Balance copied = balance(world, operation(world, "AllGather", OperationKind::kCopyEngine));
  EXPECT_EQUAL(3U, copied.started);
  EXPECT_EQUAL(3U, copied.refused);
  EXPECT_EQUAL(3U, outcome(world, Outcome::kUntimed));
  EXPECT_EQUAL(3U, balance(world, operation(world, "AllGather")).measured);
  EXPECT_EQUAL(3U + 3 * 5, world.callbacks.load());
  expect_balanced();
}

// In rows at nearly every place, whichever kind comes first.
CASE_OF(copy_engine_collectives_are_apart_from_others_of_their_name, 6) {
  const char* names[] = {"AllGather", "AllReduce", "AlltoAll", "Broadcast", "Gather", "ReduceScatter", "Scatter"};
  void* contexts[] = {nccl().init(1), nccl().init(2)};
  for (const char* name : names) {
    nccl().copy_engine_collective(contexts[0], {name});
    for (void* context : contexts) nccl().run(context, {name}, kEpoch, 10);
    nccl().copy_engine_collective(contexts[1], {name});
  }
  for (const std::uint64_t id : {1, 2}) {
    const auto& one = communicator(id);
    for (const char* name : names) {
      EXPECT_EQUAL(1U, balance(one, operation(one, name, OperationKind::kCopyEngine)).refused);
      EXPECT_EQUAL(1U, balance(one, operation(one, name)).measured);
    }
  }
}

CASE_OF(copy_engine_collectives_of_no_slot_are_dropped, 6) {
  using nccl_sentinel::layout::Dropped;
  void* extra = nullptr;
  for (std::uint64_t id = 0; id <= nccl_sentinel::layout::kCommunicators; ++id) extra = nccl().init(id);
  EXPECT(nccl().copy_engine_collective(extra) == nullptr);
  EXPECT_EQUAL(2U, dropped(Dropped::kCommunicator));
}

}  // namespace
