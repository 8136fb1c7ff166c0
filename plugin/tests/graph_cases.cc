// SPDX-License-Identifier: Apache-2.0
// Operations of CUDA graphs: the capture decides once, with the mask, what every replay tells.
#include <vector>

#include "check.h"
#include "fake_nccl.h"
#include "frozen_clock.h"
#include "launch.h"
#include "mapped_view.h"

namespace {

using namespace nccl_sentinel::tests;
using nccl_sentinel::layout::Outcome;

// A replay has no calls of its own: its parent is the capture's.
void* launch_replay(void* context, void* call) {
  nccl().group(context);
  void* handle = nccl().collective(context, {"AllReduce", 1'024, "ncclInt8", 1, "RING", "LL", {}, call});
  nccl().stop(handle);
  return handle;
}

void replay(void* context, const Capture& captured) {
  for (void* call : captured.calls) {
    void* handle = launch_replay(context, call);
    if (captured.is_told) nccl().run_channel(context, handle, 0, kEpoch, kEpoch + kPlayedNs);
  }
}

CASE_OF(replays_are_measured, 5, 6, 7) {
  void* context = nccl().init(7);
  const Capture captured = capture(context, 3);
  EXPECT(captured.is_told);
  for (void* call : captured.calls) EXPECT(call != nullptr);
  EXPECT_EQUAL(0U, balance(communicator(7)).started);  // a capture launches nothing
  for (int i = 0; i < 100; ++i) replay(context, captured);
  EXPECT_EQUAL(300U, balance(communicator(7)).measured);
  EXPECT_EQUAL(0U, balance(communicator(7)).in_flight);
  expect_balanced();
}

// One in each 64 of them, whatever is sampled elsewhere.
CASE_OF(captured_calls_that_are_not_timed_are_skipped_at_each_replay, 5, 7) {
  setenv("NCCL_SENTINEL_SAMPLE", "4/64", 1);
  freeze_clock();
  void* context = nccl().init(7);
  for (int i = 0; i < 132; ++i) play(context);
  const Balance before = balance(communicator(7));
  std::uint64_t timed = 0;
  for (int number = 0; number < 200; ++number) {
    const Capture captured = capture(context, 1);
    timed += captured.is_told;
    for (int i = 0; i < 5; ++i) replay(context, captured);
  }
  EXPECT(timed >= 3 && timed <= 200 / 32);
  EXPECT_EQUAL(before.measured + 5 * timed, balance(communicator(7)).measured);
  EXPECT_EQUAL(before.skipped + 5 * (200 - timed), balance(communicator(7)).skipped);
  EXPECT_EQUAL(before.refused, balance(communicator(7)).refused);
  expect_balanced();
}

// The first one of a capture comes unannounced; after it the next group is asked to be timed, and no other.
CASE_OF(a_captured_call_has_the_next_group_timed, 5, 7) {
  setenv("NCCL_SENTINEL_SAMPLE", "4/64", 1);
  freeze_clock();
  void* context = nccl().init(7);
  for (int i = 0; i < 132; ++i) play(context);
  std::vector<Capture> captures;
  for (int number = 0; number < 200; ++number) {
    captures.push_back(capture(context, 1));
    EXPECT_EQUAL(number % 64 == 1, captures.back().is_told);
    EXPECT_EQUAL(number % 64 == 0, wants_timing());
  }
  // Whatever the mask says at its replay, a graph tells what it told at its capture.
  const Balance before = balance(communicator(7));
  nccl().init(8);
  EXPECT(wants_timing());
  for (const Capture& captured : captures) replay(context, captured);
  EXPECT_EQUAL(before.measured + 4, balance(communicator(7)).measured);
  EXPECT_EQUAL(before.skipped + 196, balance(communicator(7)).skipped);
  EXPECT_EQUAL(before.refused, balance(communicator(7)).refused);
  expect_balanced();
}

// It wanted the next group timed, but there is none.
CASE_OF(a_communicator_that_closes_in_a_capture_wants_nothing, 5, 7) {
  setenv("NCCL_SENTINEL_SAMPLE", "4/64", 1);
  void* alone = nccl().init(8, "alone", 1, 1, 0);
  void* context = nccl().init(7);
  for (int i = 0; i < 64; ++i) play(alone);
  EXPECT(!wants_timing());
  capture(context, 1);
  EXPECT(wants_timing());
  nccl().finalize(context);
  EXPECT(!wants_timing());
}

// Not even the fastest replays are sampled again: their times come whether anybody listens or not.
CASE_OF(a_group_is_captured_with_one_mask, 5, 7) {
  setenv("NCCL_SENTINEL_SAMPLE", "4/64", 1);
  freeze_clock();
  void* context = nccl().init(7);
  const Capture captured = capture(context, 6);
  EXPECT(captured.is_told);
  for (int i = 0; i < 100; ++i) replay(context, captured);
  EXPECT_EQUAL(600U, balance(communicator(7)).measured);
  expect_balanced();
}

CASE_OF(a_replay_whose_times_never_come_ends_as_graph, 5, 7) {
  void* context = nccl().init(7);
  const Capture captured = capture(context, 1);
  for (int i = 0; i < 3; ++i) launch_replay(context, captured.calls[0]);
  EXPECT_EQUAL(3U, balance(communicator(7)).in_flight);
  // The other groups of the communicator go on.
  for (int i = 0; i < 20; ++i) play(context);
  EXPECT_EQUAL(3U, outcome(communicator(7), Outcome::kGraph));
  EXPECT_EQUAL(0U, outcome(communicator(7), Outcome::kIncomplete));
  EXPECT_EQUAL(0U, balance(communicator(7)).in_flight);
  const auto& world = communicator(7);
  launch_replay(context, captured.calls[0]);
  nccl().finalize(context);
  EXPECT_EQUAL(4U, outcome(world, Outcome::kGraph));
  expect_balanced();
}

// Nothing of a graph that NCCL is silent about fills the ring for ever.
CASE_OF(silent_replays_are_hardly_waited_for, 5, 7) {
  void* context = nccl().init(7);
  const Capture captured = capture(context, 1);
  for (int i = 0; i < 5'000; ++i) launch_replay(context, captured.calls[0]);
  const Balance all = balance(communicator(7));
  EXPECT_EQUAL(5'000U, all.started);
  EXPECT_EQUAL(0U, all.measured);
  EXPECT(all.in_flight < 100);
  expect_balanced();
  replay(context, captured);  // its number is no multiple of 64
  EXPECT_EQUAL(0U, balance(communicator(7)).measured);
  for (int i = 0; i < 64; ++i) replay(context, captured);
  const std::uint64_t heard = balance(communicator(7)).measured;
  EXPECT(heard > 0);  // from the first one that was heard on all are waited for again
  replay(context, captured);
  EXPECT_EQUAL(heard + 1, balance(communicator(7)).measured);
  expect_balanced();
}

CASE_OF(a_capture_beside_launches, 5, 7) {
  void* context = nccl().init(7);
  const Capture captured = capture(context, 2);
  for (int i = 0; i < 50; ++i) {
    EXPECT(play(context));
    replay(context, captured);
    EXPECT(play(context, PointToPoint{}));
  }
  EXPECT_EQUAL(200U, balance(communicator(7)).measured);
  expect_balanced();
}

// A group of calls on two communicators: the handle of its begin is one communicator's.
CASE_OF(a_captured_group_of_two_communicators_is_timed_for_both, 5, 7) {
  void* first = nccl().init(7);
  void* second = nccl().init(8);
  void* group_call = nccl().group_call(first, true);
  for (void* context : {first, second}) {
    void* call = nccl().collective_call(context, "AllReduce", true, group_call);
    nccl().stop(call);
    replay(context, {{call}, true});
  }
  nccl().stop(group_call);
  EXPECT_EQUAL(1U, balance(communicator(7)).measured);
  EXPECT_EQUAL(1U, balance(communicator(8)).measured);
}

}  // namespace
