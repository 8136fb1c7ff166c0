// SPDX-License-Identifier: Apache-2.0
// Network operations and the intervals of their steps.
#include <unistd.h>

#include <cstddef>
#include <vector>

#include "check.h"
#include "fake_nccl.h"
#include "launch.h"
#include "mapped_view.h"
#include "nccl_sentinel/abi.h"

namespace {

using namespace nccl_sentinel::abi;
using namespace nccl_sentinel::tests;
using nccl_sentinel::layout::Direction;
using nccl_sentinel::layout::Dropped;
using nccl_sentinel::layout::kLinks;
using nccl_sentinel::layout::kOtherLinks;
using nccl_sentinel::layout::kPeerOther;
using nccl_sentinel::layout::LinkCounts;

constexpr std::size_t kPool = 512;

constexpr int kSendStates[] = {kProxyStepSendGpuWait, kProxyStepSendPeerWait, kProxyStepSendWait};
constexpr int kReceiveStates[] = {kProxyStepRecvWait, kProxyStepRecvFlushWait, kProxyStepRecvGpuWait};

void run_step(void* context, void* network, std::int32_t number, bool is_send, std::uint64_t bytes) {
  void* step = nccl().step(context, network, number);
  for (const int state : is_send ? kSendStates : kReceiveStates) nccl().state(step, state, bytes);
  nccl().stop(step);
}

void expect_steps(const LinkCounts& counts, std::uint64_t first, std::uint64_t second, std::uint64_t third) {
  EXPECT_EQUAL(first, counts.steps[0].load());
  EXPECT_EQUAL(second, counts.steps[1].load());
  EXPECT_EQUAL(third, counts.steps[2].load());
}

CASE(steps_are_counted_by_peer_direction_and_state) {
  void* context = nccl().init(7);
  void* parent = nccl().collective(context);
  for (const bool is_send : {true, false}) {
    void* network = nccl().network(context, parent, {is_send ? 2 : 5, is_send, 0, 4});
    EXPECT(network != nullptr);
    nccl().state(network, kProxyOpInProgress);
    for (std::int32_t number = 0; number < 4; ++number) run_step(context, network, number, is_send, 1'000);
    nccl().stop(network);
  }
  const auto& world = communicator(7);
  for (const auto* row : {&link(world, 2, Direction::kSend), &link(world, 5, Direction::kReceive)}) {
    EXPECT_EQUAL(1U, counts(*row).operations.load());
    EXPECT_EQUAL(4'000U, counts(*row).bytes.load());
    expect_steps(counts(*row), 4, 4, 4);
  }
  nccl().run_channel(context, parent, 0, kEpoch, kEpoch + 10);
  EXPECT_EQUAL(1U, balance(world).measured);
  EXPECT_EQUAL(0U, dropped(Dropped::kNetwork));
  // The Coll 2, its channel 3; of each network operation 3, and of its four steps 5 each.
  EXPECT_EQUAL(2U + 3 + 2 * (3 + 4 * 5), world.callbacks.load());
}

CASE(an_interval_lasts_until_the_next_state) {
  void* context = nccl().init(7);
  void* network = nccl().network(context, nccl().collective(context), {2, true});
  void* step = nccl().step(context, network, 0);
  nccl().state(step, kProxyStepSendGpuWait, 0);
  usleep(2'000);
  nccl().state(step, kProxyStepSendPeerWait, 0);
  nccl().state(step, kProxyStepSendWait, 0);
  usleep(5'000);
  nccl().stop(step);
  nccl().stop(network);
  const LinkCounts& row = counts(link(communicator(7), 2, Direction::kSend));
  EXPECT(row.duration_ns[0] >= 1'900'000);  // by a clock whose pace is known to a percent or so
  EXPECT(row.duration_ns[2] >= 4'800'000);
}

CASE(the_last_bytes_told_of_a_step_count) {
  void* context = nccl().init(7);
  void* network = nccl().network(context, nccl().collective(context), {2, true});
  void* step = nccl().step(context, network, 0);
  nccl().state(step, kProxyStepSendGpuWait, 0);
  nccl().state(step, kProxyStepSendPeerWait, 100);
  nccl().state(step, kProxyStepSendWait, 4'096);
  nccl().state(step, kProxyStepSendWait, 0);
  nccl().state(step, kProxyStepSendWait);  // with null arguments
  nccl().stop(step);
  nccl().stop(network);
  EXPECT_EQUAL(4'096U, counts(link(communicator(7), 2, Direction::kSend)).bytes.load());
}

CASE(steps_run_side_by_side) {
  void* context = nccl().init(7);
  void* network = nccl().network(context, nccl().collective(context), {2, true});
  std::vector<void*> steps;
  for (std::int32_t number = 100; number < 108; ++number) steps.push_back(nccl().step(context, network, number));
  for (const int state : kSendStates) {
    for (void* step : steps) nccl().state(step, state, 10);
  }
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) nccl().stop(*step);
  nccl().stop(network);
  const LinkCounts& row = counts(link(communicator(7), 2, Direction::kSend));
  expect_steps(row, 8, 8, 8);
  EXPECT_EQUAL(80U, row.bytes.load());
}

CASE(steps_in_no_order_change_little) {
  void* context = nccl().init(7);
  void* network = nccl().network(context, nccl().collective(context), {2, true});
  void* step = nccl().step(context, network, 0);
  nccl().stop(step);  // without a state
  void* again = nccl().step(context, network, 0);
  nccl().state(again, kProxyStepRecvWait, 10);  // of the other direction
  nccl().state(again, kKernelChStop, 10);       // of another event
  nccl().state(again, kProxyStepSendWait, 10);  // states may be left out
  nccl().state(again, kProxyStepSendWait, 20);  // and be repeated
  nccl().state(again, -1, 10);
  nccl().stop(again);
  nccl().stop(again);
  nccl().state(again, kProxyStepSendWait, 30);  // too late
  void* lost = nccl().step(context, network, 1);
  nccl().state(lost, kProxyStepSendWait, 40);
  void* late = nccl().step(context, network, 17);  // takes the place of step 1, which never stopped
  nccl().state(late, kProxyStepSendGpuWait, 50);
  nccl().state(lost, kProxyStepSendWait, 60);
  nccl().stop(lost);
  nccl().stop(late);
  nccl().stop(network);
  nccl().stop(network);
  const LinkCounts& row = counts(link(communicator(7), 2, Direction::kSend));
  EXPECT_EQUAL(1U, row.operations.load());
  EXPECT_EQUAL(20U + 50, row.bytes.load());
  expect_steps(row, 1, 0, 2);
  EXPECT_EQUAL(0, nccl().returned.load());
}

CASE(network_operations_of_other_processes_are_ignored) {
  void* context = nccl().init(7);
  void* parent = nccl().collective(context);
  EXPECT(nccl().network(context, parent, {2, true, 0, 1, getpid() + 1}) == nullptr);
  EXPECT(nccl().network(context, nullptr, {2, true}) == nullptr);
  EXPECT(nccl().network(context, context, {2, true}) == nullptr);
  EXPECT(nccl().step(context, parent, 0) == nullptr);
  nccl().run_channel(context, parent, 0, kEpoch, kEpoch + 10);
  EXPECT(nccl().network(context, parent, {2, true}) == nullptr);  // it has ended
  for (const auto& row : communicator(7).links) EXPECT_EQUAL(0U, row.state.load());
  EXPECT_EQUAL(1U, communicator(7).channels[0].operations[0].load());
  EXPECT_EQUAL(0U, dropped(Dropped::kNetwork));
}

CASE(links_past_the_table_fold_into_other) {
  void* context = nccl().init(7);
  void* parent = nccl().collective(context);
  constexpr std::int32_t kExact = kLinks - kOtherLinks;
  const auto run = [&](std::int32_t peer, bool is_send) {
    void* network = nccl().network(context, parent, {peer, is_send});
    run_step(context, network, 0, is_send, 10);
    nccl().stop(network);
  };
  for (std::int32_t rank = 0; rank < kExact; ++rank) run(rank, true);
  for (std::int32_t rank = 0; rank < 3; ++rank) run(kExact + rank, true);
  for (std::int32_t rank = 0; rank < 5; ++rank) run(rank, false);
  run(-1, true);
  run(0, true);
  const auto& world = communicator(7);
  EXPECT_EQUAL(4U, counts(link(world, kPeerOther, Direction::kSend)).operations.load());
  EXPECT_EQUAL(5U, counts(link(world, kPeerOther, Direction::kReceive)).operations.load());
  EXPECT_EQUAL(2U, counts(link(world, 0, Direction::kSend)).operations.load());
}

CASE(network_operations_past_the_pool_are_dropped) {
  void* context = nccl().init(7);
  void* parent = nccl().collective(context);
  std::vector<void*> open;
  for (std::size_t i = 0; i < kPool; ++i) open.push_back(nccl().network(context, parent, {2, true}));
  EXPECT_EQUAL(0U, dropped(Dropped::kNetwork));
  for (int i = 0; i < 3; ++i) open.push_back(nccl().network(context, parent, {2, true}));
  EXPECT_EQUAL(3U, dropped(Dropped::kNetwork));
  for (void* network : open) {
    run_step(context, network, 0, true, 10);
    nccl().stop(network);
  }
  EXPECT_EQUAL(kPool, counts(link(communicator(7), 2, Direction::kSend)).operations.load());
  nccl().network(context, parent, {2, true});
  nccl().finalize(context);
  EXPECT_EQUAL(4U, dropped(Dropped::kNetwork));
  expect_balanced();
}

}  // namespace
