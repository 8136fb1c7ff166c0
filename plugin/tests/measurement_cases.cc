// SPDX-License-Identifier: Apache-2.0
// What is counted for an operation whose channels told their times.
#include <cerrno>
#include <cmath>
#include <cstring>

#include "check.h"
#include "fake_nccl.h"
#include "launch.h"
#include "mapped_view.h"
#include "nccl_sentinel/abi.h"

namespace {

using namespace nccl_sentinel::tests;
using nccl_sentinel::layout::Communicator;
using nccl_sentinel::layout::kSizeEmpty;

double log_sum(const nccl_sentinel::layout::Cell& cell) {
  const std::uint64_t bits = counts(cell).log_microseconds;
  double sum = 0;
  std::memcpy(&sum, &bits, sizeof sum);
  return sum;
}

CASE(init_asks_for_operations_and_what_times_them) {
  nccl().init(0xE06114C4E13BF1DD, nullptr, 4, 16, 5);
  const auto operations = nccl_sentinel::abi::kColl | nccl_sentinel::abi::kP2p | nccl_sentinel::abi::kCeColl;
  const auto timing = nccl_sentinel::abi::kKernelCh | nccl_sentinel::abi::kProxyOp | nccl_sentinel::abi::kProxyStep;
  EXPECT_EQUAL(static_cast<int>(operations | timing), mask_now());
  EXPECT_EQUAL(operations | timing, mapped().header.events);
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
  void* launched = nccl().collective(context, {"AllReduce", 1 << 20, "ncclFloat32", 2, "RING", "SIMPLE"});
  const Communicator& world = communicator(7);
  EXPECT_EQUAL(1U, balance(world).in_flight);
  nccl().stop(launched);  // right after the launch: the kernel has not begun
  EXPECT_EQUAL(1U, balance(world).in_flight);
  nccl().run_channel(context, launched, 0, kEpoch, kEpoch + 40'000);
  EXPECT_EQUAL(0U, balance(world).measured);
  nccl().run_channel(context, launched, 1, kEpoch + 5'000, kEpoch + 50'000);

  EXPECT_EQUAL(1U, balance(world, operation(world, "AllReduce")).started);
  const auto& exact = cell(world, 22);
  EXPECT_EQUAL(std::string("AllReduce"), name(exact.operation));
  EXPECT_EQUAL(std::string("RING"), name(exact.algorithm));
  EXPECT_EQUAL(std::string("SIMPLE"), name(exact.protocol));
  EXPECT_EQUAL(1U, counts(exact).operations.load());
  EXPECT_EQUAL(50'000U, counts(exact).duration_ns.load());
  EXPECT_EQUAL(4U << 20, counts(exact).bytes.load());
  EXPECT_EQUAL(1U, counts(exact).buckets[3].load());  // 39,811 ns < 50,000 ns <= 251,189 ns
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
  EXPECT_EQUAL(0U, measured(communicator(7), "AllGather").operations);
  nccl().stop(zeroth);
  EXPECT_EQUAL(1U, measured(communicator(7), "AllGather").operations);
  EXPECT_EQUAL(2'000U, measured(communicator(7), "AllGather").duration_ns);
  expect_balanced();
}

CASE(short_operations_count_as_one_microsecond_in_the_logarithm) {
  void* context = nccl().init(7);
  nccl().run(context, {}, 1'000, 0);
  nccl().run(context, {}, 1'000, 800);
  EXPECT_EQUAL(0.0, log_sum(cell(communicator(7), 12)));
  EXPECT_EQUAL(800U, counts(cell(communicator(7), 12)).duration_ns.load());
  EXPECT_EQUAL(2U, measured(communicator(7), "AllReduce").buckets[0]);
}

CASE(buckets_hold_their_upper_bound) {
  void* context = nccl().init(7);
  for (const std::uint64_t bound : nccl_sentinel::layout::kBucketBoundsNs) {
    nccl().run(context, {}, kEpoch, bound);
    nccl().run(context, {}, kEpoch, bound + 1);
  }
  const Measured all = measured(communicator(7), "AllReduce");
  EXPECT_EQUAL(1U, all.buckets[0]);
  for (std::size_t i = 1; i + 1 < nccl_sentinel::layout::kBuckets; ++i) EXPECT_EQUAL(2U, all.buckets[i]);
  EXPECT_EQUAL(1U, all.buckets[nccl_sentinel::layout::kBuckets - 1]);
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
    EXPECT_EQUAL(sum, measured(communicator(7), "AllReduce").bytes);
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
  EXPECT_EQUAL(1U, counts(cell(world, kSizeEmpty)).operations.load());
  EXPECT_EQUAL(1U, counts(cell(world, 0)).operations.load());
  EXPECT_EQUAL(1U, counts(cell(world, 19)).operations.load());
  EXPECT_EQUAL(2U, counts(cell(world, 20)).operations.load());
  EXPECT_EQUAL(1U, counts(cell(world, 63)).operations.load());
}

CASE(errno_is_left_alone) {
  errno = ENOTTY;
  void* context = nccl().init(7);
  nccl().run(context, {}, kEpoch, 10);
  nccl().finalize(context);
  EXPECT_EQUAL(ENOTTY, errno);
}

}  // namespace
