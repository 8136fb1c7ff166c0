// SPDX-License-Identifier: Apache-2.0
// Samples that are not trusted, and operations whose end is never told.
#include <vector>

#include "check.h"
#include "fake_nccl.h"
#include "mapped_view.h"

namespace {

using namespace nccl_sentinel::tests;
using nccl_sentinel::layout::kInFlight;
using nccl_sentinel::layout::Refused;

constexpr std::uint64_t kEpoch = 1'795'973'375'725'036'416;

// One operation of two channels, refused for the reason given and no other.
void expect_refused(Refused reason, std::uint64_t start0, std::uint64_t stop0, std::uint64_t start1,
                    std::uint64_t stop1) {
  static void* context = nccl().init(7);
  const std::uint64_t all_before = balance(communicator(7)).refused;
  const std::uint64_t before = refused(communicator(7), reason);
  void* operation = nccl().collective(context, {"AllReduce", 64, "ncclInt8", 2, "RING", "LL"});
  nccl().run_channel(context, operation, 0, start0, stop0);
  nccl().run_channel(context, operation, 1, start1, stop1);
  EXPECT_EQUAL(before + 1, refused(communicator(7), reason));
  EXPECT_EQUAL(all_before + 1, balance(communicator(7)).refused);
  EXPECT_EQUAL(0U, balance(communicator(7)).measured);
  expect_balanced();
}

CASE(zero_timestamps_are_refused) {
  expect_refused(Refused::kZero, 0, kEpoch, kEpoch, kEpoch + 5);
  expect_refused(Refused::kZero, kEpoch, 0, kEpoch, kEpoch + 5);
  expect_refused(Refused::kZero, kEpoch, kEpoch + 5, kEpoch, 0);
}

CASE(a_stop_before_its_start_is_refused) {
  expect_refused(Refused::kNegative, kEpoch, kEpoch - 4'000'000, kEpoch, kEpoch - 4'000'000);
  // The other channel alone would make these look like 500 us.
  expect_refused(Refused::kNegative, kEpoch, kEpoch - 4'000'000, kEpoch + 10, kEpoch + 500'000);
  expect_refused(Refused::kNegative, kEpoch, kEpoch + 500'000, kEpoch + 900'000, kEpoch + 20);
}

CASE(a_span_of_more_than_a_day_is_refused) { expect_refused(Refused::kOverwritten, 17, 18, kEpoch, kEpoch + 10); }

CASE(a_channel_without_its_stop_time_is_refused) {
  void* context = nccl().init(7);
  void* operation = nccl().collective(context, {"AllReduce", 64, "ncclInt8", 2, "RING", "LL"});
  nccl().run_channel(context, operation, 0, kEpoch, kEpoch + 10);
  void* channel = nccl().channel(context, operation, 1, kEpoch);
  nccl().state(channel, 22);  // null arguments
  nccl().state(channel, 21);  // another state
  nccl().stop(channel);
  EXPECT_EQUAL(1U, refused(communicator(7), Refused::kIncomplete));
  nccl().stop_time(channel, kEpoch + 20);  // too late
  EXPECT_EQUAL(1U, balance(communicator(7)).refused);
  EXPECT_EQUAL(0U, balance(communicator(7)).measured);
  expect_balanced();
}

CASE(an_operation_without_channels_is_refused_at_once) {
  void* context = nccl().init(7);
  EXPECT(nccl().collective(context, {"AllReduce", 64, "ncclInt8", 0, "RING", "LL"}) == nullptr);
  EXPECT_EQUAL(1U, refused(communicator(7), Refused::kIncomplete));
  EXPECT_EQUAL(0U, balance(communicator(7)).in_flight);
  expect_balanced();
}

CASE(the_ring_closes_what_it_overwrites) {
  void* context = nccl().init(7);
  std::vector<void*> operations;
  for (std::size_t i = 0; i < kInFlight + 10; ++i) operations.push_back(nccl().collective(context));
  EXPECT_EQUAL(10U, refused(communicator(7), Refused::kIncomplete));
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
    EXPECT_EQUAL(static_cast<std::uint64_t>(i + 1), refused(communicator(7), Refused::kIncomplete));
  }
  EXPECT_EQUAL(0U, balance(communicator(7)).in_flight);
  nccl().run_channel(context, silent[0], 0, kEpoch, kEpoch + 10);
  EXPECT_EQUAL(256U, balance(communicator(7)).measured);
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
  EXPECT_EQUAL(1U, refused(world, Refused::kIncomplete));
  nccl().stop_time(channel, kEpoch + 10);
  nccl().stop(channel);
  EXPECT(nccl().collective(context) == nullptr);
  nccl().finalize(context);
  EXPECT_EQUAL(0U, balance(world).measured);
  EXPECT_EQUAL(0, nccl().returned.load());
  expect_balanced();
}

}  // namespace
