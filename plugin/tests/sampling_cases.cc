// SPDX-License-Identifier: Apache-2.0
// Which operations are timed in a job that runs, as NCCL_SENTINEL_SAMPLE says.
#include "check.h"
#include "fake_nccl.h"
#include "frozen_clock.h"
#include "launch.h"
#include "mapped_view.h"

namespace {

using namespace nccl_sentinel::tests;
using nccl_sentinel::layout::Outcome;

void* start_sampled(const char* sample) {
  setenv("NCCL_SENTINEL_SAMPLE", sample, 1);
  freeze_clock();
  return nccl().init(7);
}

// Plays so many operations that far apart: how many of them were measured. What NCCL timed is what was chosen.
std::uint64_t run_measured(void* context, int operations, std::uint64_t apart_ms, const Collective& one = {}) {
  const std::uint64_t before = balance(communicator(7)).measured;
  std::uint64_t told = 0;
  for (int i = 0; i < operations; ++i) {
    pass_ms(apart_ms);
    told += play(context, one);
  }
  const std::uint64_t sum = balance(communicator(7)).measured - before;
  EXPECT_EQUAL(sum, told);
  return sum;
}

CASE_OF(a_fast_stream_is_timed_whole_at_first_and_then_in_bursts, 5, 7) {
  void* context = start_sampled("4/64");
  for (int number = 0; number < 300; ++number) {
    const std::uint64_t expected = number < 64 || number % 64 < 4 ? 1 : 0;
    EXPECT_EQUAL(expected, run_measured(context, 1, 1));
    expect_balanced();
  }
  const Balance all = balance(communicator(7));
  EXPECT_EQUAL(300U, all.started);
  EXPECT_EQUAL(300U - 64 - 16, all.skipped);
  EXPECT_EQUAL(0U, all.refused + all.dropped + all.in_flight);
  EXPECT_EQUAL(4U, mapped().header.sample_burst);
  EXPECT_EQUAL(64U, mapped().header.sample_period);
}

CASE_OF(a_stream_changes_with_its_rate_and_not_in_between, 5, 7) {
  void* context = start_sampled("4/64");
  EXPECT_EQUAL(64U, run_measured(context, 64, 50));  // 20 a second
  EXPECT_EQUAL(64U, run_measured(context, 64, 20));  // 50 a second: as it is
  EXPECT_EQUAL(64U, run_measured(context, 64, 1));
  EXPECT_EQUAL(4U, run_measured(context, 64, 20));
  EXPECT_EQUAL(4U, run_measured(context, 64, 50));
  EXPECT_EQUAL(64U, run_measured(context, 64, 50));
  expect_balanced();
}

CASE(streams_of_one_communicator_are_sampled_apart) {
  void* context = start_sampled("4/64");
  const Collective rare{"AllGather"};
  for (int i = 0; i < 64 * 70; ++i) {
    pass_ms(1);
    play(context);
    if (i % 32 == 0) play(context, rare);
  }
  const auto& world = communicator(7);
  EXPECT_EQUAL(64U + 69 * 4, balance(world, operation(world, "AllReduce")).measured);
  // 31 a second: whole.
  EXPECT_EQUAL(140U, balance(world, operation(world, "AllGather")).measured);
  expect_balanced();
}

CASE_OF(another_burst_and_period, 5, 7) {
  void* context = start_sampled("8/128");
  EXPECT_EQUAL(128U, run_measured(context, 128, 1));
  EXPECT_EQUAL(8U, run_measured(context, 128, 1));
  EXPECT_EQUAL(8U, run_measured(context, 8, 1));
  EXPECT_EQUAL(0U, run_measured(context, 120, 1));
  expect_balanced();
}

CASE(off_counts_and_times_nothing) {
  void* context = start_sampled("off");
  for (int i = 0; i < 200; ++i) {
    EXPECT(!wants_timing());
    EXPECT(!play(context));
    EXPECT(!play(context, PointToPoint{}));
  }
  EXPECT_EQUAL(400U, balance(communicator(7)).skipped);
  EXPECT_EQUAL(400U, balance(communicator(7)).started);
  EXPECT_EQUAL(0U, mapped().header.sample_burst);
  expect_balanced();
}

CASE(all_times_everything_however_fast) {
  void* context = start_sampled("all");
  EXPECT_EQUAL(500U, run_measured(context, 500, 0));
  EXPECT_EQUAL(mapped().header.sample_period, mapped().header.sample_burst);
}

CASE_OF(a_wrong_value_is_said_once_and_the_default_used, 5, 7) {
  void* context = start_sampled("4/63x");
  nccl().finalize(nccl().init(8));
  EXPECT_EQUAL(4U, mapped().header.sample_burst);
  EXPECT_EQUAL(64U, mapped().header.sample_period);
  EXPECT_EQUAL(64U, run_measured(context, 64, 1));
  EXPECT_EQUAL(4U, run_measured(context, 64, 1));
  std::size_t warnings = 0;
  for (const auto& line : logged()) {
    if (line.level != 2) continue;
    ++warnings;
    EXPECT(line.text.find("NCCL_SENTINEL_SAMPLE=4/63x") != std::string::npos);
  }
  EXPECT_EQUAL(1U, warnings);
}

// A group is timed or not as a whole, but only the chosen ones count.
CASE_OF(a_group_across_the_begin_of_a_burst, 5, 7) {
  void* context = start_sampled("4/64");
  for (int number = 0; number < 510; number += 6) play(context, std::vector<Collective>(6));
  const Balance before = balance(communicator(7));
  EXPECT_EQUAL(0U, before.refused);
  EXPECT(play(context, std::vector<Collective>(6)));  // 512 is in it
  EXPECT_EQUAL(before.measured + 4, balance(communicator(7)).measured);
  EXPECT_EQUAL(before.skipped + 2, balance(communicator(7)).skipped);
  EXPECT(!play(context, std::vector<Collective>(6)));
  EXPECT_EQUAL(before.skipped + 8, balance(communicator(7)).skipped);
  expect_balanced();
}

// A burst that begins in a group that nobody foresaw.
CASE_OF(a_chosen_operation_that_is_not_timed_is_refused_at_once, 5, 7) {
  void* context = start_sampled("4/64");
  run_measured(context, 64 + 60, 1);
  const Balance before = balance(communicator(7));
  const Launched launched = launch(context, std::vector<Collective>(8));
  EXPECT(!launched.is_told);
  for (void* handle : launched.handles) EXPECT(handle == nullptr);
  const Balance after = balance(communicator(7));
  EXPECT_EQUAL(4U, outcome(communicator(7), Outcome::kIncomplete));
  EXPECT_EQUAL(before.skipped + 4, after.skipped);
  EXPECT_EQUAL(0U, after.in_flight);
  expect_balanced();
}

CASE(two_communicators_are_chosen_each_by_its_own_numbers) {
  void* often = start_sampled("4/64");
  void* seldom = nccl().init(8);
  for (int i = 0; i < 2'000; ++i) {
    pass_ms(1);
    play(often);
    if (i % 5 == 0) play(seldom);
  }
  // 64 at first, then four of each 64.
  const std::uint64_t expected = 64 + (2'000 - 64) / 64 * 4 + 4;
  EXPECT_EQUAL(expected, balance(communicator(7)).measured);
  EXPECT_EQUAL(64U + (400 - 64) / 64 * 4 + 4, balance(communicator(8)).measured);
  EXPECT_EQUAL(0U, balance(communicator(7)).refused + balance(communicator(8)).refused);
  expect_balanced();
}

// Nothing tells there of captures into CUDA graphs, and a capture decides over what may be timed later.
CASE_OF(before_interface_5_the_mask_stays_and_what_is_counted_is_sampled, 4) {
  void* context = start_sampled("4/64");
  const int mask = mask_now();
  EXPECT(wants_timing());
  for (int number = 0; number < 300; ++number) {
    EXPECT(play(context));
    EXPECT_EQUAL(mask, mask_now());
  }
  EXPECT_EQUAL(64U + 16U, balance(communicator(7)).measured);
  EXPECT_EQUAL(300U - 64 - 16, balance(communicator(7)).skipped);
  nccl().finalize(context);
  EXPECT_EQUAL(mask, mask_now());
  expect_balanced();
}

CASE_OF(before_interface_5_nothing_is_timed_where_nothing_is_sampled, 4) {
  void* context = start_sampled("off");
  EXPECT(!wants_timing());
  EXPECT(!play(context));
  EXPECT_EQUAL(1U, balance(communicator(7)).skipped);
}

}  // namespace
