// SPDX-License-Identifier: Apache-2.0
// A budget for what the callbacks cost, and what is done about it.
#include "check.h"
#include "fake_nccl.h"
#include "frozen_clock.h"
#include "governor.h"
#include "launch.h"
#include "mapped_view.h"

namespace {

using namespace nccl_sentinel::tests;
using nccl_sentinel::Governor;

void* start_governed(const char* sample, const char* budget) {
  setenv("NCCL_SENTINEL_SAMPLE", sample, 1);
  setenv("NCCL_SENTINEL_BUDGET", budget, 1);
  freeze_clock();
  return nccl().init(7);
}

// So many times 64 operations, or more, that the clock passes before: how many of them were measured.
std::uint64_t run_windows(void* context, int windows, std::uint64_t each_ms, int operations = 64) {
  const std::uint64_t before = balance(communicator(7)).measured;
  for (int window = 0; window < windows; ++window) {
    pass_ms(each_ms);
    for (int i = 0; i < operations; ++i) play(context);
  }
  return balance(communicator(7)).measured - before;
}

std::uint32_t level() { return mapped().header.governor_level; }

// The callbacks of 64 timed operations take more than a microsecond, and less than a thousandth of a day.
constexpr const char* kTiny = "0.000001";
// So many that of each second's some are timed at the highest level but one.
constexpr int kMany = 64 * 1'024;
constexpr std::uint64_t kSecondMs = 1'000;
constexpr std::uint64_t kDayMs = 86'400'000;

CASE(over_its_budget_the_level_rises) {
  void* context = start_governed("all", kTiny);
  EXPECT_EQUAL(1U, mapped().header.budget_ppm);
  EXPECT_EQUAL(2U * 64, run_windows(context, 2, kSecondMs));
  EXPECT_EQUAL(0U, level());  // one look over the budget may be bad luck
  for (int i = 0; i < 64 && level() == 0; ++i) run_windows(context, 1, kSecondMs);
  EXPECT_EQUAL(1U, level());
  EXPECT_EQUAL(4U, run_windows(context, 1, kSecondMs));
  for (int i = 0; i < 64 && level() < Governor::kHighestLevel; ++i) run_windows(context, 1, kSecondMs, kMany);
  EXPECT_EQUAL(Governor::kHighestLevel, level());
  EXPECT(run_windows(context, 128, 0) <= 4);
  EXPECT_EQUAL(Governor::kHighestLevel, level());
  expect_balanced();
}

CASE(far_under_its_budget_the_level_falls) {
  void* context = start_governed("all", kTiny);
  for (int i = 0; i < 64 && level() < 2; ++i) run_windows(context, 1, kSecondMs, 64 * 64);
  EXPECT_EQUAL(2U, level());
  for (int i = 0; i < 59; ++i) {
    run_windows(context, 1, kDayMs);
    EXPECT_EQUAL(2U, level());
  }
  for (int i = 0; i < 4; ++i) run_windows(context, 1, kDayMs);
  EXPECT_EQUAL(1U, level());
  for (int i = 0; i < 64; ++i) run_windows(context, 1, kDayMs);
  EXPECT_EQUAL(0U, level());
  EXPECT_EQUAL(64U, run_windows(context, 1, kDayMs));
  expect_balanced();
}

// At level 2 each second second has timed operations: never two in a row are over the budget.
CASE(the_level_rises_no_further_than_it_helps) {
  void* context = start_governed("all", kTiny);
  run_windows(context, 128, kSecondMs);
  EXPECT(level() == 1 || level() == 2);
}

CASE(operations_that_nobody_times_leave_the_level) {
  void* context = start_governed("off", kTiny);
  run_windows(context, 8, kSecondMs, kMany / 8);
  EXPECT(communicator(7).callback_ns > 8'000);  // over the budget by far, were it for them
  EXPECT_EQUAL(0U, level());
}

CASE(within_its_budget_the_level_stays) {
  void* context = start_governed("all", "100%");
  EXPECT_EQUAL(20U * 64, run_windows(context, 20, kSecondMs));
  EXPECT_EQUAL(0U, level());
}

CASE(without_a_budget_the_level_stays) {
  void* context = start_governed("all", "off");
  EXPECT_EQUAL(0U, mapped().header.budget_ppm);
  EXPECT_EQUAL(20U * 64, run_windows(context, 20, kSecondMs));
  EXPECT_EQUAL(0U, level());
}

CASE_OF(a_raised_level_wants_no_timing_for_what_it_skips, 5, 7) {
  void* context = start_governed("4/64", kTiny);
  for (int i = 0; i < 64 && level() < 4; ++i) run_windows(context, 1, kSecondMs, kMany / 8);
  run_windows(context, 1, 0);
  const std::uint64_t before = balance(communicator(7)).measured;
  std::uint64_t told = 0;
  for (int i = 0; i < 2'048; ++i) told += play(context);
  EXPECT(told > 0 && told <= 2'048 / 64);
  EXPECT_EQUAL(before + told, balance(communicator(7)).measured);
  expect_balanced();
}

CASE(sends_and_receives_alone_are_governed_too) {
  void* context = start_governed("all", kTiny);
  for (int window = 0; window < 6; ++window) {
    pass_ms(kSecondMs);
    for (int i = 0; i < 64; ++i) play(context, PointToPoint{});
  }
  EXPECT(level() > 0);
  expect_balanced();
}

}  // namespace
