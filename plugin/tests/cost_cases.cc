// SPDX-License-Identifier: Apache-2.0
// What the plugin says of its own cost.
#include "check.h"
#include "fake_nccl.h"
#include "frozen_clock.h"
#include "launch.h"
#include "mapped_view.h"

namespace {

using namespace nccl_sentinel::tests;

CASE(callbacks_are_counted_and_timed_on_a_sample) {
  void* context = nccl().init(7);
  for (int i = 0; i < 6'400; ++i) nccl().run(context, {"AllReduce", 64, "ncclInt8", 2, "RING", "LL"}, kEpoch, 10);
  nccl().event(context, 0);  // not wanted, but it was a callback
  const auto& world = communicator(7);
  EXPECT_EQUAL(6'400U * 8 + 1, world.callbacks.load());
  // One in 64, but the operation's stop, in which nothing is done, never is.
  EXPECT(world.callbacks_timed.load() > 600 && world.callbacks_timed.load() < 900);
  EXPECT(world.callback_ns.load() > 0);
  EXPECT(world.callback_ns <= 20'000 * world.callbacks_timed);
}

CASE(calls_and_groups_are_callbacks_too) {
  void* context = nccl().init(7);
  const auto& world = communicator(7);
  for (int i = 0; i < 1'000; ++i) play(context);
  // Group 1, Coll 2, the channel 3; GroupApi 1, CollApi 1: null handles get no more callbacks.
  const std::uint64_t each = nccl().version() >= 5 ? 8 : 6;
  EXPECT(world.callbacks <= 1'000 * each && world.callbacks + 64 > 1'000 * each);  // calls are counted in batches
}

CASE(callbacks_of_skipped_operations_are_in_their_count) {
  setenv("NCCL_SENTINEL_SAMPLE", "off", 1);
  void* context = nccl().init(7);
  for (int i = 0; i < 1'000; ++i) nccl().collective(context);
  EXPECT_EQUAL(0U, communicator(7).callbacks.load());
  EXPECT_EQUAL(1'000U, balance(communicator(7)).skipped);
  EXPECT(communicator(7).callbacks_timed.load() > 5);
}

CASE(operations_that_are_refused_at_once_are_callbacks) {
  void* context = nccl().init(7);
  nccl().collective(context, {"AllReduce", 64, "ncclInt8", 0, "RING", "LL"});
  EXPECT_EQUAL(1U, communicator(7).callbacks.load());
}

CASE(what_is_lost_cost_its_callbacks_all_the_same) {
  void* context = nccl().init(7);
  const auto& world = communicator(7);
  void* operation = nccl().collective(context, {"AllReduce", 64, "ncclInt8", 2, "RING", "LL"});
  nccl().run_channel(context, operation, 0, kEpoch, kEpoch + 10);
  EXPECT_EQUAL(0U, world.callbacks.load());  // counted when it ends
  nccl().finalize(context);
  EXPECT_EQUAL(2U + 3, world.callbacks.load());
}

}  // namespace
