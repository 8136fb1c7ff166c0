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

void start_sampled() {
  setenv("NCCL_SENTINEL_SAMPLE", "4/64", 1);
  freeze_clock();
}

// NCCL's count of its kernels would no longer fit what the GPU has run: times would be waited for in vain.
CASE_OF(nothing_is_timed_any_more_after_a_capture_that_was_not, 5, 7) {
  start_sampled();
  void* context = nccl().init(7);
  for (int i = 0; i < 132; ++i) play(context);
  const Capture captured = capture(context, 2);
  EXPECT(!captured.is_told);
  const Balance before = balance(communicator(7));
  for (int i = 0; i < 60; ++i) EXPECT(!play(context));  // to number 192
  EXPECT_EQUAL(before.skipped + 60, balance(communicator(7)).skipped);
  for (int i = 0; i < 64; ++i) EXPECT(!play(context));
  EXPECT_EQUAL(4U, outcome(communicator(7), Outcome::kGraph));
  replay(context, captured);  // numbers 256 and 257, which are chosen
  EXPECT_EQUAL(6U, outcome(communicator(7), Outcome::kGraph));
  EXPECT_EQUAL(before.measured, balance(communicator(7)).measured);
  EXPECT_EQUAL(before.refused + 6, balance(communicator(7)).refused);
  expect_balanced();
}

// NCCL has one mask for the process, and another communicator's wish could have these timed.
CASE_OF(no_communicator_is_timed_after_a_capture_that_was_not, 5, 7) {
  start_sampled();
  void* first = nccl().init(7);
  for (int i = 0; i < 132; ++i) play(first);
  capture(first, 1);
  void* second = nccl().init(8);
  for (int i = 0; i < 200; ++i) {
    EXPECT(!wants_timing());
    EXPECT(!play(second));
    EXPECT(!play(first, PointToPoint{}));
  }
  // Graphs go before their communicators: with the last of these nothing is left to fear.
  nccl().finalize(first);
  nccl().finalize(second);
  EXPECT(play(nccl().init(9)));
}

// As at the beginning of a communicator, where all is timed.
CASE_OF(everything_stays_timed_after_a_capture_that_was, 5, 7) {
  start_sampled();
  void* context = nccl().init(7);
  const Capture first = capture(context, 3);
  EXPECT(first.is_told);
  for (int i = 0; i < 132; ++i) EXPECT(play(context));
  EXPECT(capture(context, 3).is_told);
  // What is counted is sampled as ever, replays as well.
  const Balance before = balance(communicator(7));
  for (int i = 0; i < 60 + 64; ++i) play(context);
  for (int i = 0; i < 64; ++i) replay(context, first);
  EXPECT_EQUAL(before.measured + 4 + 12, balance(communicator(7)).measured);
  EXPECT_EQUAL(before.refused, balance(communicator(7)).refused);
  expect_balanced();
}

// The governor may lower what is counted; what NCCL was asked to time it goes on to.
CASE_OF(a_captured_process_stays_timed_at_every_level, 5, 7) {
  setenv("NCCL_SENTINEL_SAMPLE", "all", 1);
  void* context = nccl().init(7);
  EXPECT(capture(context, 1).is_told);
  nccl().finalize(nccl().init(8));
  EXPECT(wants_timing());
  EXPECT(capture(context, 2).is_told);
}

// A communicator past the table is not known, but its captures are NCCL's all the same.
CASE_OF(a_capture_of_a_communicator_past_the_table_counts, 5, 7) {
  start_sampled();
  void* context = nccl().init(1);
  for (std::uint64_t id = 2; id <= nccl_sentinel::layout::kCommunicators; ++id) nccl().init(id);
  for (int i = 0; i < 200; ++i) play(context);
  void* past = nccl().init(1000);
  EXPECT(!wants_timing());
  capture(past, 1);
  for (int i = 0; i < 200; ++i) EXPECT(!play(context));
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
