// SPDX-License-Identifier: Apache-2.0
// Sends and receives: by peer and size, and chosen so that both sides time the same ones.
#include "check.h"
#include "fake_nccl.h"
#include "frozen_clock.h"
#include "launch.h"
#include "mapped_view.h"

namespace {

using namespace nccl_sentinel::tests;
using nccl_sentinel::layout::kOtherPeers;
using nccl_sentinel::layout::kPeerOther;
using nccl_sentinel::layout::kPeers;
using nccl_sentinel::layout::kSizeEmpty;
using nccl_sentinel::layout::kSizeOther;
using nccl_sentinel::layout::OperationKind;
using nccl_sentinel::layout::Outcome;

CASE(messages_are_measured_by_peer_and_size) {
  void* context = nccl().init(7);
  nccl().run_p2p(context, {"Send", 1'000, "ncclFloat32", 1, 2}, kEpoch, 30'000);
  nccl().run_p2p(context, {"Send", 900, "ncclFloat32", 1, 1}, kEpoch, 10'000);
  nccl().run_p2p(context, {"Send", 1'000, "ncclInt8", 2, 1}, kEpoch, 500);
  nccl().run_p2p(context, {"Recv", 1'000, "ncclFloat32", 1, 1}, kEpoch, 700);
  nccl().run_p2p(context, {"Recv", 0, "ncclFloat32", 0, 1}, kEpoch, 800);
  const auto& world = communicator(7);
  const auto& sends = counts(peer(world, "Send", 1, 11));
  EXPECT_EQUAL(2U, sends.operations.load());
  EXPECT_EQUAL(40'000U, sends.duration_ns.load());
  EXPECT_EQUAL(7'600U, sends.bytes.load());
  EXPECT_EQUAL(500U, counts(peer(world, "Send", 2, 9)).duration_ns.load());
  EXPECT_EQUAL(700U, counts(peer(world, "Recv", 1, 11)).duration_ns.load());
  EXPECT_EQUAL(1U, counts(peer(world, "Recv", 0, kSizeEmpty)).operations.load());
  EXPECT_EQUAL(3U, balance(world, operation(world, "Send", OperationKind::kPointToPoint)).measured);
  EXPECT_EQUAL(2U, balance(world, operation(world, "Recv", OperationKind::kPointToPoint)).started);
  expect_balanced();
}

CASE(peers_past_the_table_fold_into_other) {
  void* context = nccl().init(7);
  constexpr std::int32_t kExact = kPeers - kOtherPeers;
  const auto run = [context](const char* text, std::int32_t peer) {
    nccl().run_p2p(context, {text, 64, "ncclInt8", peer, 1}, kEpoch, 100);
  };
  for (std::int32_t rank = 0; rank < kExact; ++rank) run("Send", rank);
  for (std::int32_t rank = 0; rank < 10; ++rank) run("Recv", rank);
  run("Send", kExact);
  run("Send", 3);
  nccl().run_p2p(context, {"Send", 1 << 20, "ncclInt8", 3, 1}, kEpoch, 100);  // another size of a peer that has a place
  const auto& world = communicator(7);
  EXPECT_EQUAL(2U, counts(peer(world, "Send", kPeerOther, kSizeOther)).operations.load());
  EXPECT_EQUAL(10U, counts(peer(world, "Recv", kPeerOther, kSizeOther)).operations.load());
  EXPECT_EQUAL(2U, counts(peer(world, "Send", 3, 6)).operations.load());
  EXPECT_EQUAL(static_cast<std::uint64_t>(kExact) + 13, balance(world).measured);
  EXPECT_EQUAL(0U, balance(world).dropped);
  expect_balanced();
}

// NCCL does not number them. The n-th Send to a peer is that peer's n-th Recv from here.
CASE(each_peer_has_numbers_of_its_own) {
  setenv("NCCL_SENTINEL_SAMPLE", "4/64", 1);
  freeze_clock();
  void* context = nccl().init(7);
  const auto& world = communicator(7);
  const auto play_next = [context](const char* text, std::int32_t peer) {
    play(context, PointToPoint{text, 64, "ncclInt8", peer});
  };
  for (int round = 0; round < 200; ++round) {
    pass_ms(5);
    for (const std::int32_t rank : {1, 2}) play_next("Send", rank);
    if (round % 2 == 0) play_next("Recv", 1);
  }
  for (const std::int32_t rank : {1, 2}) {
    EXPECT_EQUAL(64U + 4 * 3, counts(peer(world, "Send", rank, 6)).operations.load());  // at 64, 128, 192
  }
  EXPECT_EQUAL(64U + 4, counts(peer(world, "Recv", 1, 6)).operations.load());
  expect_balanced();
}

CASE(a_group_sends_and_receives) {
  void* context = nccl().init(7);
  EXPECT(play(context, std::vector<PointToPoint>{{"Send", 64, "ncclInt8", 1}, {"Recv", 64, "ncclInt8", 5}}));
  const auto& world = communicator(7);
  EXPECT_EQUAL(kPlayedNs, counts(peer(world, "Send", 1, 6)).duration_ns.load());
  EXPECT_EQUAL(kPlayedNs, counts(peer(world, "Recv", 5, 6)).duration_ns.load());
  expect_balanced();
}

CASE(messages_are_refused_for_the_same_reasons) {
  void* context = nccl().init(7);
  const auto& world = communicator(7);
  nccl().run_p2p(context, {"Send", 64, "ncclInt8", 1, 0}, kEpoch, 10);
  EXPECT_EQUAL(1U, outcome(world, Outcome::kIncomplete));
  void* sent = nccl().p2p(context);
  nccl().run_channel(context, sent, 0, kEpoch, kEpoch - 10);
  EXPECT_EQUAL(1U, outcome(world, Outcome::kNegative));
  nccl().p2p(context);
  EXPECT_EQUAL(1U, balance(world).in_flight);
  nccl().finalize(context);
  EXPECT_EQUAL(2U, outcome(world, Outcome::kIncomplete));
  EXPECT_EQUAL(0U, balance(world).measured);
  expect_balanced();
}

// More peers than streams: the rest share one, and nothing is lost.
CASE(hundreds_of_peers_keep_the_balance) {
  setenv("NCCL_SENTINEL_SAMPLE", "4/64", 1);
  freeze_clock();
  void* context = nccl().init(7, "world", 100, 800, 3);
  for (int round = 0; round < 10; ++round) {
    for (std::int32_t rank = 0; rank < 600; ++rank) play(context, PointToPoint{"Send", 64, "ncclInt8", rank});
  }
  EXPECT_EQUAL(6'000U, balance(communicator(7)).started);
  expect_balanced();
}

}  // namespace
