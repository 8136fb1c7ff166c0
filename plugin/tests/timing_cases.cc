// SPDX-License-Identifier: Apache-2.0
// What NCCL is asked to time in a job that runs: the chosen operations, and little beside.
#include "check.h"
#include "fake_nccl.h"
#include "frozen_clock.h"
#include "launch.h"
#include "mapped_view.h"

namespace {

using namespace nccl_sentinel::tests;
using nccl_sentinel::layout::Outcome;

void* start_sampled(std::uint64_t id) {
  setenv("NCCL_SENTINEL_SAMPLE", "4/64", 1);
  freeze_clock();
  return nccl().init(id);
}

// A communicator whose AllReduce is sampled in bursts by now; its next number is 132.
void* start_between_bursts(std::uint64_t id) {
  void* context = start_sampled(id);
  for (int i = 0; i < 132; ++i) play(context);
  EXPECT(!wants_timing());
  return context;
}

// Steps of several operations on several communicators, each in a group of its own: how many groups were timed.
struct Step {
  std::uint64_t id;
  const char* operation;
};
std::uint64_t run_steps(const std::vector<void*>& contexts, const std::vector<Step>& step, int steps) {
  std::uint64_t timed = 0;
  for (int i = 0; i < steps; ++i) {
    pass_ms(10);
    for (const auto& [id, text] : step) timed += play(contexts[id - 1], Collective{text});
  }
  return timed;
}

void expect_all_chosen_were_timed(const std::vector<std::uint64_t>& ids) {
  for (const std::uint64_t id : ids) {
    EXPECT(balance(communicator(id)).measured > 0);
    EXPECT_EQUAL(0U, balance(communicator(id)).refused);
  }
  expect_balanced();
}

CASE_OF(every_chosen_operation_of_a_step_is_timed, 5, 7) {
  std::vector<void*> contexts{start_sampled(1)};
  const std::vector<Step> step{{1, "AllGather"}, {1, "AllReduce"}, {1, "ReduceScatter"}};
  run_steps(contexts, step, 64);
  const std::uint64_t timed = run_steps(contexts, step, 640);
  // Four in 64 are chosen, of each name at about the same time.
  EXPECT(timed <= 640 * 3 / 8);
  expect_all_chosen_were_timed({1});
}

CASE_OF(steps_across_communicators_are_timed_alike, 5, 7) {
  std::vector<void*> contexts{start_sampled(1)};
  for (std::uint64_t id = 2; id <= 4; ++id) contexts.push_back(nccl().init(id));
  const std::vector<Step> step{{1, "AllGather"},     {2, "AllReduce"}, {3, "AllReduce"}, {2, "AllReduce"},
                               {1, "ReduceScatter"}, {2, "AllReduce"}, {4, "Broadcast"}, {1, "AllGather"}};
  run_steps(contexts, step, 64);
  const std::uint64_t timed = run_steps(contexts, step, 640);
  EXPECT(timed < 640 * step.size() / 2);
  expect_all_chosen_were_timed({1, 2, 3, 4});
}

CASE_OF(an_idle_communicator_does_not_keep_others_timed, 5, 7) {
  void* context = start_between_bursts(7);
  nccl().init(8);
  int timed = 0;
  for (int i = 0; i < 1'000; ++i) timed += play(context);
  EXPECT(timed < 64 + 1'000 / 64 * 6);
  EXPECT(!wants_timing() || balance(communicator(7)).started % 64 < 5);
  expect_balanced();
}

CASE_OF(a_new_communicator_is_timed_from_its_first_operation, 5, 7) {
  void* first = start_between_bursts(7);
  void* second = nccl().init(8);
  for (int i = 0; i < 10; ++i) {
    EXPECT(play(second));
    play(first);
  }
  EXPECT_EQUAL(10U, balance(communicator(8)).measured);
  expect_balanced();
}

// NCCL was not asked for it, because nobody could know that it would come.
CASE_OF(an_operation_out_of_the_blue_is_refused_and_the_next_one_timed, 5, 7) {
  void* context = start_between_bursts(7);
  EXPECT(!play(context, Collective{"AllGather"}));
  EXPECT_EQUAL(1U, outcome(communicator(7), Outcome::kIncomplete));
  EXPECT(play(context, Collective{"AllGather"}));
  EXPECT_EQUAL(0U, balance(communicator(7)).in_flight);
  expect_balanced();
}

CASE_OF(a_skipped_operation_that_carries_timing_is_ignored, 5, 7) {
  void* context = start_between_bursts(7);
  nccl().init(8);  // whose first operation is awaited
  EXPECT(wants_timing());
  const auto& world = communicator(7);
  const std::uint64_t channels = world.channels[0].operations[0];
  const std::uint64_t skipped = balance(world).skipped;
  EXPECT(play(context));
  EXPECT_EQUAL(skipped + 1, balance(world).skipped);
  EXPECT_EQUAL(0U, balance(world).in_flight);
  EXPECT_EQUAL(channels, world.channels[0].operations[0].load());
  expect_balanced();
}

CASE_OF(a_closed_communicator_wants_nothing, 5, 7) {
  void* first = start_between_bursts(7);
  void* second = nccl().init(8);
  EXPECT(play(second));
  EXPECT(play(second, PointToPoint{}));
  EXPECT(wants_timing());
  nccl().finalize(second);
  EXPECT(!wants_timing());
  play(first);
  EXPECT(!wants_timing());
}

CASE_OF(nobody_writes_the_mask_when_all_are_closed, 5, 7) {
  void* first = start_between_bursts(7);
  void* second = nccl().init(8);
  const Launched open = launch(second, std::vector<Collective>(1));
  EXPECT(open.handles[0] != nullptr);
  nccl().finalize(first);
  nccl().finalize(second);
  constexpr int kSomething = 0x5A5A5A;
  nccl().mask = kSomething;
  for (void* context : {first, second}) {
    for (int i = 0; i < 100; ++i) play(context);
    play(context, PointToPoint{});
    capture(context, 2);
    nccl().finalize(context);
  }
  nccl().run_channel(second, open.handles[0], 0, kEpoch, kEpoch + 10);
  EXPECT_EQUAL(kSomething, mask_now());
  void* third = nccl().init(9);
  EXPECT(play(third));
  EXPECT_EQUAL(1U, balance(communicator(9)).measured);
  EXPECT_EQUAL(0, nccl().returned.load());
  expect_balanced();
}

// NCCL launches nothing for it, or what it launches waits for nobody.
CASE_OF(a_communicator_of_one_rank_wants_no_timing, 5, 7) {
  freeze_clock();
  void* alone = nccl().init(7, "alone", 1, 1, 0);
  EXPECT(!wants_timing());
  for (int i = 0; i < 10; ++i) {
    for (const char* text : {"AllReduce", "AllGather", "Broadcast"}) {
      EXPECT(!play(alone, Collective{text}));
      EXPECT(!wants_timing());
    }
    for (const std::int32_t peer : {0, 1}) {
      EXPECT(!play(alone, PointToPoint{"Send", 64, "ncclInt8", peer}));
      EXPECT(!wants_timing());
    }
  }
  if (nccl().version() >= 5) EXPECT(!capture(alone, 2).is_told);
  EXPECT(!wants_timing());
  EXPECT_EQUAL(50U, balance(communicator(7)).skipped);
  // Others have their own.
  void* world = nccl().init(8);
  EXPECT(play(world));
  nccl().finalize(world);
  EXPECT(!wants_timing());
  expect_balanced();
}

// As where one thread has several GPUs: the group begins with one communicator and holds calls of all.
CASE_OF(groups_of_several_communicators_are_timed_for_all, 5, 7) {
  void* contexts[] = {start_sampled(1), nccl().init(2), nccl().init(3)};
  for (int i = 0; i < 32; ++i) play(contexts[2]);  // its bursts come when the others' do not
  int timed = 0;
  for (int i = 0; i < 400; ++i) {
    pass_ms(1);
    const bool is_told = wants_timing();
    timed += is_told;
    nccl().group_call(contexts[0]);
    for (void* context : contexts) nccl().collective_call(context);
    for (void* context : contexts) {
      nccl().group(context);
      void* handle = nccl().collective(context);
      if (is_told) nccl().run_channel(context, handle, 0, kEpoch, kEpoch + kPlayedNs);
    }
  }
  for (const std::uint64_t id : {1, 2, 3}) {
    EXPECT_EQUAL(64U + 6 * 4, balance(communicator(id)).measured);
    EXPECT_EQUAL(0U, balance(communicator(id)).refused);
  }
  EXPECT(timed < 64 + 2 * 6 * 4 + 24);
  expect_balanced();
}

// More streams than the mask has room for wishes.
CASE(wishes_without_room_keep_the_balance) {
  void* context = start_sampled(7);
  for (int round = 0; round < 300; ++round) {
    for (std::int32_t rank = 0; rank < 40; ++rank) {
      play(context, std::vector<PointToPoint>{{"Send", 64, "ncclInt8", rank}, {"Recv", 64, "ncclInt8", rank}});
    }
  }
  EXPECT_EQUAL(300U * 80, balance(communicator(7)).started);
  EXPECT(balance(communicator(7)).measured > 0);
  expect_balanced();
}

}  // namespace
