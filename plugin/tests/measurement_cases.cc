// SPDX-License-Identifier: Apache-2.0
// What is counted for an operation whose channels told their times.
#include <cerrno>
#include <cmath>
#include <cstring>

#include "check.h"
#include "fake_nccl.h"
#include "mapped_view.h"

namespace {

using namespace nccl_sentinel::tests;
using nccl_sentinel::layout::Communicator;
using nccl_sentinel::layout::kSizeEmpty;

constexpr std::uint64_t kEpoch = 1'795'973'375'725'036'416;  // a real globaltimer is about as large as this

double log_sum(const nccl_sentinel::layout::Cell& cell) {
  const std::uint64_t bits = cell.log_microseconds;
  double sum = 0;
  std::memcpy(&sum, &bits, sizeof sum);
  return sum;
}

CASE(init_asks_for_collectives_and_channels) {
  nccl().init(0xE06114C4E13BF1DD, nullptr, 4, 16, 5);
  EXPECT_EQUAL((1 << 1) | (1 << 6), nccl().mask);
  const Communicator& world = communicator(0xE06114C4E13BF1DD);
  EXPECT_EQUAL(4, world.nnodes);
  EXPECT_EQUAL(16, world.nranks);
  EXPECT_EQUAL(5, world.rank);
  EXPECT_EQUAL(std::string(), world.name);
  EXPECT_EQUAL(1U, world.generation.load());
  EXPECT_EQUAL(std::string("unknown"), name(0));
}

CASE(one_operation_is_measured) {
  void* context = nccl().init(7, "world");
  void* operation = nccl().collective(context, {"AllReduce", 1 << 20, "ncclFloat32", 2, "RING", "SIMPLE"});
  const Communicator& world = communicator(7);
  EXPECT_EQUAL(1U, balance(world).in_flight);
  nccl().stop(operation);  // right after the launch: the kernel has not begun
  EXPECT_EQUAL(1U, balance(world).in_flight);
  nccl().run_channel(context, operation, 0, kEpoch, kEpoch + 40'000);
  EXPECT_EQUAL(0U, balance(world).measured);
  nccl().run_channel(context, operation, 1, kEpoch + 5'000, kEpoch + 50'000);

  const auto& all = counters(world, "AllReduce");
  EXPECT_EQUAL(1U, all.started.load());
  EXPECT_EQUAL(1U, all.operations.load());
  EXPECT_EQUAL(50'000U, all.duration_ns.load());
  EXPECT_EQUAL(4U << 20, all.bytes.load());
  EXPECT_EQUAL(1U, all.buckets[3].load());  // 39,811 ns < 50,000 ns <= 251,189 ns
  const auto& exact = cell(world, 22);
  EXPECT_EQUAL(std::string("AllReduce"), name(exact.operation));
  EXPECT_EQUAL(std::string("RING"), name(exact.algorithm));
  EXPECT_EQUAL(std::string("SIMPLE"), name(exact.protocol));
  EXPECT_EQUAL(50'000U, exact.duration_ns.load());
  EXPECT(std::abs(log_sum(exact) - std::log(50.0)) < 1e-12);
  EXPECT_EQUAL(0U, balance(world).in_flight);
  expect_balanced();
}

CASE(channels_end_in_any_order) {
  void* context = nccl().init(7);
  void* operation = nccl().collective(context, {"AllGather", 64, "ncclInt8", 4, "RING", "LL"});
  void* third = nccl().channel(context, operation, 3, 1'300);
  void* zeroth = nccl().channel(context, operation, 0, 1'200);
  nccl().stop_time(third, 3'000);
  void* first = nccl().channel(context, operation, 1, 1'100);
  nccl().stop_time(zeroth, 3'100);
  nccl().stop(third);
  nccl().stop_time(first, 2'900);
  nccl().stop(first);
  void* second = nccl().channel(context, operation, 2, 1'250);
  nccl().stop_time(second, 2'800);
  nccl().stop(second);
  EXPECT_EQUAL(0U, counters(communicator(7), "AllGather").operations.load());
  nccl().stop(zeroth);
  EXPECT_EQUAL(1U, counters(communicator(7), "AllGather").operations.load());
  EXPECT_EQUAL(2'000U, counters(communicator(7), "AllGather").duration_ns.load());
  expect_balanced();
}

CASE(short_operations_count_as_one_microsecond_in_the_logarithm) {
  void* context = nccl().init(7);
  nccl().run(context, {}, 1'000, 0);
  nccl().run(context, {}, 1'000, 800);
  EXPECT_EQUAL(0.0, log_sum(cell(communicator(7), 12)));
  EXPECT_EQUAL(800U, cell(communicator(7), 12).duration_ns.load());
  EXPECT_EQUAL(2U, counters(communicator(7), "AllReduce").buckets[0].load());
}

CASE(buckets_hold_their_upper_bound) {
  void* context = nccl().init(7);
  for (const std::uint64_t bound : nccl_sentinel::layout::kBucketBoundsNs) {
    nccl().run(context, {}, kEpoch, bound);
    nccl().run(context, {}, kEpoch, bound + 1);
  }
  const auto& all = counters(communicator(7), "AllReduce");
  EXPECT_EQUAL(1U, all.buckets[0].load());
  for (std::size_t i = 1; i + 1 < nccl_sentinel::layout::kBuckets; ++i) EXPECT_EQUAL(2U, all.buckets[i].load());
  EXPECT_EQUAL(1U, all.buckets[nccl_sentinel::layout::kBuckets - 1].load());
}

CASE(bytes_are_count_times_datatype) {
  void* context = nccl().init(7);
  const struct {
    const char* datatype;
    std::uint64_t bytes;
  } expected[] = {{"ncclInt8", 1},       {"ncclUint8", 1},
                  {"ncclFloat8e4m3", 1}, {"ncclFloat8e5m2", 1},
                  {"ncclHalf", 2},       {"ncclFloat16", 2},
                  {"ncclBfloat16", 2},   {"ncclInt32", 4},
                  {"ncclUint32", 4},     {"ncclFloat32", 4},
                  {"ncclInt64", 8},      {"ncclUint64", 8},
                  {"ncclFloat64", 8},    {"ncclDouble", 8},
                  {"ncclFloat", 4},      {"ncclChar", 1},
                  {"ncclFloat4e2", 1},   {"", 1},
                  {nullptr, 1},          {"something else entirely", 1}};
  std::uint64_t sum = 0;
  for (const auto& one : expected) {
    nccl().run(context, {"AllReduce", 1000, one.datatype, 1, "RING", "LL"}, kEpoch, 10);
    sum += 1000 * one.bytes;
    EXPECT_EQUAL(sum, counters(communicator(7), "AllReduce").bytes.load());
  }
}

CASE(sizes_are_powers_of_two_at_or_below) {
  void* context = nccl().init(7);
  const auto run = [context](std::uint64_t count, const char* datatype) {
    nccl().run(context, {"Broadcast", count, datatype, 1, "TREE", "LL128"}, kEpoch, 10);
  };
  run(0, "ncclInt8");
  run(1, "ncclInt8");
  run((1 << 20) - 1, "ncclInt8");
  run(1 << 20, "ncclInt8");
  run((1 << 21) - 1, "ncclInt8");
  run(UINT64_MAX, "ncclFloat64");  // past what 64 bits hold
  const Communicator& world = communicator(7);
  EXPECT_EQUAL(1U, cell(world, kSizeEmpty).operations.load());
  EXPECT_EQUAL(1U, cell(world, 0).operations.load());
  EXPECT_EQUAL(1U, cell(world, 19).operations.load());
  EXPECT_EQUAL(2U, cell(world, 20).operations.load());
  EXPECT_EQUAL(1U, cell(world, 63).operations.load());
}

CASE(callbacks_are_counted_and_timed_on_a_sample) {
  void* context = nccl().init(7);
  for (int i = 0; i < 6'400; ++i) nccl().run(context, {"AllReduce", 64, "ncclInt8", 2, "RING", "LL"}, kEpoch, 10);
  nccl().event(context, 1 << 0);  // not wanted, but it was a callback
  const Communicator& world = communicator(7);
  EXPECT_EQUAL(6'400U * 8 + 1, world.callbacks.load());
  EXPECT(world.callbacks_timed.load() > 700 && world.callbacks_timed.load() < 900);  // one in 64 is 800
  EXPECT(world.callback_ns.load() > 0);
}

CASE(errno_is_left_alone) {
  errno = ENOTTY;
  void* context = nccl().init(7);
  nccl().run(context, {}, kEpoch, 10);
  nccl().finalize(context);
  EXPECT_EQUAL(ENOTTY, errno);
}

}  // namespace
