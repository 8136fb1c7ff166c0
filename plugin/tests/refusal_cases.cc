// SPDX-License-Identifier: Apache-2.0
// Samples that are not trusted, and operations whose end is never told.
#include <vector>

#include "check.h"
#include "fake_nccl.h"
#include "frozen_clock.h"
#include "launch.h"
#include "mapped_view.h"

namespace {

using namespace nccl_sentinel::tests;
using nccl_sentinel::layout::kInFlight;
using nccl_sentinel::layout::Outcome;

// One operation of two channels, refused for the reason given and no other.
void expect_refused(Outcome reason, std::uint64_t start0, std::uint64_t stop0, std::uint64_t start1,
                    std::uint64_t stop1) {
  static void* context = nccl().init(7);
  const std::uint64_t all_before = balance(communicator(7)).refused;
  const std::uint64_t before = outcome(communicator(7), reason);
  void* operation = nccl().collective(context, {"AllReduce", 64, "ncclInt8", 2, "RING", "LL"});
  nccl().run_channel(context, operation, 0, start0, stop0);
  nccl().run_channel(context, operation, 1, start1, stop1);
  EXPECT_EQUAL(before + 1, outcome(communicator(7), reason));
  EXPECT_EQUAL(all_before + 1, balance(communicator(7)).refused);
  EXPECT_EQUAL(0U, balance(communicator(7)).measured);
  expect_balanced();
}

CASE(zero_timestamps_are_refused) {
  expect_refused(Outcome::kZero, 0, kEpoch, kEpoch, kEpoch + 5);
  expect_refused(Outcome::kZero, kEpoch, 0, kEpoch, kEpoch + 5);
  expect_refused(Outcome::kZero, kEpoch, kEpoch + 5, kEpoch, 0);
}

CASE(a_stop_before_its_start_is_refused) {
  expect_refused(Outcome::kNegative, kEpoch, kEpoch - 4'000'000, kEpoch, kEpoch - 4'000'000);
  // The other channel alone would make these look like 500 us.
  expect_refused(Outcome::kNegative, kEpoch, kEpoch - 4'000'000, kEpoch + 10, kEpoch + 500'000);
  expect_refused(Outcome::kNegative, kEpoch, kEpoch + 500'000, kEpoch + 900'000, kEpoch + 20);
}

CASE(a_span_of_more_than_a_day_is_refused) { expect_refused(Outcome::kOverwritten, 17, 18, kEpoch, kEpoch + 10); }

CASE(a_channel_without_its_stop_time_is_refused) {
  void* context = nccl().init(7);
  void* operation = nccl().collective(context, {"AllReduce", 64, "ncclInt8", 2, "RING", "LL"});
  nccl().run_channel(context, operation, 0, kEpoch, kEpoch + 10);
  void* channel = nccl().channel(context, operation, 1, kEpoch);
  nccl().state(channel, 22);  // null arguments
  nccl().state(channel, 21);  // another state
  nccl().stop(channel);
  EXPECT_EQUAL(1U, outcome(communicator(7), Outcome::kIncomplete));
  nccl().stop_time(channel, kEpoch + 20);  // too late
  EXPECT_EQUAL(1U, balance(communicator(7)).refused);
  EXPECT_EQUAL(0U, balance(communicator(7)).measured);
  expect_balanced();
}

CASE(an_operation_without_channels_is_refused_at_once) {
  void* context = nccl().init(7);
  EXPECT(nccl().collective(context, {"AllReduce", 64, "ncclInt8", 0, "RING", "LL"}) == nullptr);
  EXPECT_EQUAL(1U, outcome(communicator(7), Outcome::kIncomplete));
  EXPECT_EQUAL(0U, balance(communicator(7)).in_flight);
  expect_balanced();
}

CASE(the_ring_closes_what_it_overwrites) {
  void* context = nccl().init(7);
  std::vector<void*> operations;
  for (std::size_t i = 0; i < kInFlight + 10; ++i) operations.push_back(nccl().collective(context));
  EXPECT_EQUAL(10U, outcome(communicator(7), Outcome::kIncomplete));
  EXPECT_EQUAL(kInFlight, balance(communicator(7)).in_flight);
  expect_balanced();
  // The places of the first ten are others' now.
  for (std::size_t i = 0; i < 10; ++i) {
    EXPECT(nccl().channel(context, operations[i], 0, kEpoch) == nullptr);
  }
  for (void* operation : operations) nccl().run_channel(context, operation, 0, kEpoch, kEpoch + 10);
  EXPECT_EQUAL(kInFlight, balance(communicator(7)).measured);
  EXPECT_EQUAL(10U, balance(communicator(7)).refused);
  EXPECT_EQUAL(0U, balance(communicator(7)).in_flight);
  expect_balanced();
}

CASE(an_operation_that_others_outlived_is_closed) {
  void* context = nccl().init(7);
  std::vector<void*> silent;
  for (int i = 0; i < 10; ++i) silent.push_back(nccl().collective(context));
  for (int i = 0; i < 246; ++i) nccl().run(context, {}, kEpoch, 10);
  EXPECT_EQUAL(10U, balance(communicator(7)).in_flight);
  for (int i = 0; i < 10; ++i) {
    nccl().run(context, {}, kEpoch, 10);
    EXPECT_EQUAL(static_cast<std::uint64_t>(i + 1), outcome(communicator(7), Outcome::kIncomplete));
  }
  EXPECT_EQUAL(0U, balance(communicator(7)).in_flight);
  nccl().run_channel(context, silent[0], 0, kEpoch, kEpoch + 10);
  EXPECT_EQUAL(256U, balance(communicator(7)).measured);
  expect_balanced();
}

CASE(an_operation_that_many_groups_outlived_is_closed) {
  void* context = nccl().init(7);
  const Launched silent = launch(context, std::vector<Collective>(1));
  for (int i = 0; i < 15; ++i) play(context);
  EXPECT_EQUAL(1U, balance(communicator(7)).in_flight);
  play(context);
  EXPECT_EQUAL(0U, balance(communicator(7)).in_flight);
  EXPECT_EQUAL(1U, outcome(communicator(7), Outcome::kIncomplete));
  nccl().run_channel(context, silent.handles[0], 0, kEpoch, kEpoch + 10);
  EXPECT_EQUAL(16U, balance(communicator(7)).measured);
  expect_balanced();
}

CASE(a_flight_word_says_when_and_of_what) {
  using namespace nccl_sentinel::layout;
  freeze_clock();
  void* context = nccl().init(7);
  nccl().run(context, {"AllGather", 64, "ncclInt8", 1, "RING", "LL"}, kEpoch, 10);
  nccl().run(context, {"AllReduce", 64, "ncclInt8", 1, "RING", "LL"}, kEpoch, 10);
  nccl().collective(context);
  pass_ms(60'000);
  nccl().collective(context);
  const Communicator& world = communicator(7);
  std::vector<std::uint64_t> words;
  for (const auto& word : world.in_flight) {
    if (word != 0) words.push_back(word);
  }
  EXPECT_EQUAL(2U, words.size());
  const auto row = static_cast<std::uint64_t>(&operation(world, "AllReduce") - world.operations);
  for (std::size_t i = 0; i < words.size(); ++i) {
    EXPECT_EQUAL(row, words[i] >> kFlightOperationShift & 15);
    EXPECT_EQUAL(i + 1, words[i] >> kFlightNumberShift & kFlightNumberMask);
  }
  const std::uint64_t apart_ns = ((words[1] >> kFlightTimeShift) - (words[0] >> kFlightTimeShift)) << kFlightTimeUnit;
  constexpr std::uint64_t unit_ns = std::uint64_t{1} << kFlightTimeUnit;
  EXPECT(apart_ns > 60'000'000'000 - unit_ns - 1'000'000 && apart_ns < 60'000'000'000 + unit_ns + 1'000'000);
  expect_balanced();
}

CASE(what_is_in_flight_at_the_end_is_closed) {
  void* context = nccl().init(7);
  void* operation = nccl().collective(context);
  void* channel = nccl().channel(context, operation, 0, kEpoch);
  const auto& world = communicator(7);
  nccl().finalize(context);
  EXPECT_EQUAL(static_cast<std::uint32_t>(nccl_sentinel::layout::SlotState::kClosed), world.state.load());
  EXPECT(world.closed_monotonic_ns.load() > 0);
  EXPECT_EQUAL(1U, outcome(world, Outcome::kIncomplete));
  nccl().stop_time(channel, kEpoch + 10);
  nccl().stop(channel);
  EXPECT(nccl().collective(context) == nullptr);
  nccl().finalize(context);
  EXPECT_EQUAL(0U, balance(world).measured);
  EXPECT_EQUAL(0, nccl().returned.load());
  expect_balanced();
}

}  // namespace
