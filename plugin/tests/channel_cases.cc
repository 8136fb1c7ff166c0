// SPDX-License-Identifier: Apache-2.0
// Kernel time by channel and transport.
#include "check.h"
#include "fake_nccl.h"
#include "launch.h"
#include "mapped_view.h"

namespace {

using namespace nccl_sentinel::tests;
using nccl_sentinel::layout::Transport;

void expect_channel(std::size_t number, Transport transport, std::uint64_t operations, std::uint64_t duration_ns) {
  const auto& channel = communicator(7).channels[number];
  EXPECT_EQUAL(operations, channel.operations[static_cast<std::size_t>(transport)].load());
  EXPECT_EQUAL(duration_ns, channel.duration_ns[static_cast<std::size_t>(transport)].load());
}

CASE(each_channel_counts_its_own_time) {
  void* context = nccl().init(7);
  for (int i = 0; i < 3; ++i) {
    void* launched = nccl().collective(context, {"AllReduce", 64, "ncclInt8", 2, "RING", "LL"});
    nccl().run_channel(context, launched, 0, kEpoch + 100, kEpoch + 1'100);
    nccl().run_channel(context, launched, 63, kEpoch, kEpoch + 7'000);
  }
  nccl().run_p2p(context, {}, kEpoch, 50);
  expect_channel(0, Transport::kP2p, 4, 3'050);
  expect_channel(63, Transport::kP2p, 3, 21'000);
  expect_channel(1, Transport::kP2p, 0, 0);
  expect_channel(0, Transport::kNet, 0, 0);
}

CASE(a_channel_with_network_steps_is_a_net_channel) {
  void* context = nccl().init(7);
  void* launched = nccl().collective(context, {"AllReduce", 64, "ncclInt8", 2, "RING", "LL"});
  void* near = nccl().channel(context, launched, 0, kEpoch);
  void* far = nccl().channel(context, launched, 1, kEpoch);
  void* network = nccl().network(context, launched, {2, true, 1});
  nccl().stop(network);
  nccl().stop_time(near, kEpoch + 10);
  nccl().stop_time(far, kEpoch + 30);
  nccl().stop(near);
  nccl().stop(far);
  expect_channel(0, Transport::kP2p, 1, 10);
  expect_channel(1, Transport::kNet, 1, 30);
  // Of that operation only.
  nccl().run(context, {"AllReduce", 64, "ncclInt8", 2, "RING", "LL"}, kEpoch, 5);
  expect_channel(1, Transport::kP2p, 1, 5);
  expect_channel(1, Transport::kNet, 1, 30);
  expect_balanced();
}

CASE(a_channel_whose_times_cannot_be_true_does_not_count) {
  void* context = nccl().init(7);
  const struct {
    std::uint64_t start;
    std::uint64_t stop;
  } wrong[] = {{0, kEpoch}, {kEpoch, 0}, {kEpoch, kEpoch - 1}, {17, kEpoch}};
  for (const auto& [start, stop] : wrong) nccl().run_channel(context, nccl().collective(context), 0, start, stop);
  expect_channel(0, Transport::kP2p, 0, 0);
  EXPECT_EQUAL(4U, balance(communicator(7)).refused);
  expect_balanced();
}

}  // namespace
