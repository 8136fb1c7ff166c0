// SPDX-License-Identifier: Apache-2.0
// Group by group: the mask asks for timing in the groups in which a chosen operation is expected, and in no others.
#include <utility>
#include <vector>

#include "check.h"
#include "fake_nccl.h"
#include "frozen_clock.h"
#include "launch.h"
#include "mapped_view.h"

namespace {

using namespace nccl_sentinel::tests;
using nccl_sentinel::layout::Outcome;

constexpr std::uint64_t kPatience = 64;  // groups for which an operation whose coming nobody can tell is waited for

// A communicator that is sampled, and one of a single rank, whose groups want nothing.
struct Job {
  void* world;
  void* alone;
};

Job start_job() {
  setenv("NCCL_SENTINEL_SAMPLE", "4/64", 1);
  freeze_clock();
  return {nccl().init(7), nccl().init(8, "alone", 1, 1, 0)};
}

bool is_in_burst(std::uint64_t number) { return number % 64 < 4; }

// So many groups of others: how many of them were timed.
std::uint64_t run_others(const Job& job, std::uint64_t groups) {
  std::uint64_t told = 0;
  for (std::uint64_t i = 0; i < groups; ++i) told += play(job.alone);
  return told;
}

// Fast enough for bursts from its 64th operation on; its next number is the one given.
void run_to(const Job& job, std::uint64_t number, std::uint64_t others = 0) {
  while (balance(communicator(7)).started < number) {
    pass_ms(1);
    run_others(job, others);
    play(job.world);
  }
}

CASE_OF(a_stream_of_each_fifth_group_is_timed_in_its_groups_alone, 5, 7) {
  const Job job = start_job();
  run_to(job, 68, 4);
  for (std::uint64_t number = 68; number < 400; ++number) {
    EXPECT_EQUAL(0U, run_others(job, 4));
    EXPECT_EQUAL(is_in_burst(number), play(job.world));
  }
  EXPECT_EQUAL(64U + 6 * 4, balance(communicator(7)).measured);
  EXPECT_EQUAL(0U, balance(communicator(7)).refused);
  expect_balanced();
}

CASE_OF(two_streams_that_take_turns_are_timed_each_in_its_groups, 5, 7) {
  const Job job = start_job();
  const Collective gather{"AllGather"};
  run_to(job, 20);
  const auto run_both = [&job, &gather] {
    pass_ms(1);
    const bool is_first_told = play(job.world);
    return std::pair{is_first_told, play(job.world, gather)};
  };
  for (std::uint64_t i = 0; i < 68; ++i) run_both();
  // The bursts of one begin 20 operations before those of the other.
  for (std::uint64_t i = 68; i < 400; ++i) {
    const auto [is_first_told, is_second_told] = run_both();
    EXPECT_EQUAL(is_in_burst(20 + i), is_first_told);
    EXPECT_EQUAL(is_in_burst(i), is_second_told);
  }
  EXPECT_EQUAL(0U, balance(communicator(7)).refused);
  expect_balanced();
}

CASE_OF(several_operations_in_a_group_are_timed_where_one_is_chosen, 5, 7) {
  const Job job = start_job();
  constexpr std::uint64_t kInGroup = 6;
  std::uint64_t chosen = 0;
  for (std::uint64_t number = 0; number < 100 * kInGroup; number += kInGroup) {
    pass_ms(1);
    std::uint64_t in_group = 0;
    for (std::uint64_t i = number; i < number + kInGroup; ++i) in_group += i < 64 || is_in_burst(i);
    chosen += in_group;
    const bool is_told = play(job.world, std::vector<Collective>(kInGroup));
    if (number > kPatience * kInGroup) EXPECT_EQUAL(in_group > 0, is_told);
  }
  EXPECT_EQUAL(chosen, balance(communicator(7)).measured);
  EXPECT_EQUAL(0U, balance(communicator(7)).refused);
  expect_balanced();
}

CASE_OF(sends_to_peers_in_turn_are_timed_in_their_groups, 5, 7) {
  const Job job = start_job();
  for (std::uint64_t round = 0; round < 400; ++round) {
    pass_ms(1);
    for (const std::int32_t rank : {1, 2, 3}) {
      const bool is_told = play(job.world, PointToPoint{"Send", 64, "ncclInt8", rank});
      EXPECT_EQUAL(round < 64 || is_in_burst(round), is_told);
    }
  }
  EXPECT_EQUAL(3U * (64 + 6 * 4), balance(communicator(7)).measured);
  expect_balanced();
}

// A stream that stops just before its burst.
CASE_OF(an_operation_that_does_not_come_is_waited_for_as_its_gap_says, 5, 7) {
  const Job job = start_job();
  run_to(job, 128, 4);
  EXPECT_EQUAL(0U, run_others(job, 4));
  EXPECT(wants_timing());
  EXPECT_EQUAL(2U, run_others(job, 300));
  EXPECT(!play(job.world));  // 128 comes too late to be timed
  EXPECT_EQUAL(1U, outcome(communicator(7), Outcome::kIncomplete));
  // Its gaps are no longer alike: the next one is waited for, and not for ever.
  run_others(job, 4);
  EXPECT(play(job.world));
  run_others(job, 4 + kPatience);
  EXPECT_EQUAL(0U, run_others(job, 300));
  expect_balanced();
}

// Of a stream's second operation nobody can tell when it comes.
CASE_OF(an_operation_of_an_unknown_gap_is_not_waited_for_for_ever, 5, 7) {
  const Job job = start_job();
  EXPECT_EQUAL(kPatience, run_others(job, 300));  // for whatever comes first
  EXPECT(!play(job.world));
  EXPECT_EQUAL(kPatience, run_others(job, 300));
  EXPECT(!play(job.world));
  EXPECT_EQUAL(2U, outcome(communicator(7), Outcome::kIncomplete));
  expect_balanced();
}

CASE_OF(communicators_that_close_take_their_wishes_along, 5, 7) {
  const Job job = start_job();
  run_to(job, 4);
  play(job.world, PointToPoint{});
  EXPECT(wants_timing());
  nccl().finalize(job.world);
  EXPECT(!wants_timing());
  EXPECT_EQUAL(0U, run_others(job, 100));
  void* again = nccl().init(9);
  play(again);
  nccl().finalize(again);
  nccl().finalize(job.alone);
  EXPECT(!wants_timing());
}

// Peers that wait for one another: each keeps a place among the wishes.
CASE_OF(more_wishes_than_there_is_room_for_end_all_the_same, 5, 7) {
  const Job job = start_job();
  for (int round = 0; round < 3; ++round) {
    for (std::int32_t rank = 0; rank < 200; ++rank) play(job.world, PointToPoint{"Send", 64, "ncclInt8", rank});
  }
  EXPECT_EQUAL(600U, balance(communicator(7)).started);
  run_others(job, 300);
  EXPECT(!wants_timing());
  // Room again.
  EXPECT(!play(job.world));
  EXPECT(play(job.world));
  expect_balanced();
}

}  // namespace
