// SPDX-License-Identifier: Apache-2.0
// Versions 1 to 3: operations without GPU timestamps that say themselves whose they are.
#include "check.h"
#include "fake_nccl.h"
#include "launch.h"
#include "mapped_view.h"
#include "nccl_sentinel/abi.h"

namespace {

using namespace nccl_sentinel::tests;
using nccl_sentinel::layout::Communicator;
using nccl_sentinel::layout::OperationKind;
using nccl_sentinel::layout::Outcome;

CASE_OF(operations_count_as_untimed, 1, 2, 3) {
  void* context = nccl().init(7, "world", 2, 8, 3);
  for (int i = 0; i < 3; ++i) {
    void* handle = nccl().collective(context, {"AllGather"});
    EXPECT(handle == nullptr);
    nccl().channel(context, handle, 0, 0);
    nccl().step(context, nccl().network(context, handle), 0);
    EXPECT(nccl().p2p(context, {"Recv"}) == nullptr);
  }
  const Communicator& world = communicator(7);
  EXPECT_EQUAL(3U, balance(world, operation(world, "AllGather")).refused);
  EXPECT_EQUAL(3U, balance(world, operation(world, "Recv", OperationKind::kPointToPoint)).refused);
  EXPECT_EQUAL(6U, outcome(world, Outcome::kUntimed));
  EXPECT_EQUAL(6U, balance(world).started);
  EXPECT(world.callbacks >= 6);
  EXPECT_EQUAL(0, nccl().returned.load());
  expect_balanced();
}

CASE_OF(a_communicator_is_shown_from_its_first_operation_on, 1, 2, 3) {
  void* context = nccl().init(7, "world", 2, 8, 3);
  EXPECT(!is_shown(7));
  for (const auto& slot : mapped().communicators) {
    EXPECT(slot.state != static_cast<std::uint32_t>(nccl_sentinel::layout::SlotState::kOpen));
  }
  nccl().group(context);
  EXPECT(!is_shown(7));
  nccl().collective(context);
  const Communicator& world = communicator(7);
  EXPECT_EQUAL(std::string("world"), world.name);
  EXPECT_EQUAL(3, world.rank);
  EXPECT_EQUAL(0, world.nranks);
  EXPECT_EQUAL(0, world.nnodes);
  EXPECT_EQUAL(1U, world.generation.load());
  EXPECT_EQUAL(static_cast<std::uint32_t>(nccl().version()), mapped().header.interface_version);
}

CASE_OF(a_communicator_that_ran_nothing_leaves_nothing, 1, 2, 3) {
  nccl().finalize(nccl().init(7));
  for (const auto& slot : mapped().communicators) EXPECT_EQUAL(0U, slot.state.load());
  void* context = nccl().init(8);
  nccl().p2p(context);
  EXPECT_EQUAL(1U, balance(communicator(8)).started);
  nccl().finalize(context);
  EXPECT_EQUAL(0, nccl().returned.load());
  expect_balanced();
}

// Times would be of no use: whoever emits them pays for nothing.
CASE_OF(operations_are_asked_for_and_nothing_that_times_them, 1, 2, 3) {
  using namespace nccl_sentinel::abi;
  const int operations = static_cast<int>(kColl | kP2p | kCeColl);
  void* context = nccl().init(7);
  EXPECT_EQUAL(operations, mask_now());
  for (int i = 0; i < 100; ++i) {
    nccl().group(context);
    nccl().collective(context);
    nccl().p2p(context);
    EXPECT_EQUAL(operations, mask_now());
  }
}

CASE_OF(communicators_without_a_name_or_a_known_operation, 1, 2, 3) {
  void* context = nccl().init(7, nullptr);
  nccl().collective(context, {"Nothing that has a number"});
  const Communicator& world = communicator(7);
  EXPECT_EQUAL(std::string(), world.name);
  EXPECT_EQUAL(1U, balance(world).started);
  expect_balanced();
}

CASE_OF(many_early_communicators_in_turn, 1, 3) {
  for (std::uint64_t id = 1; id <= 200; ++id) {
    void* context = nccl().init(id);
    nccl().collective(context);
    EXPECT(is_shown(id));
    nccl().finalize(context);
  }
  expect_balanced();
}

}  // namespace
