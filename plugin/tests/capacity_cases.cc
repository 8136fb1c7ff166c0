// SPDX-License-Identifier: Apache-2.0
// Tables that are full: what does not fit is counted, and the balance holds.
#include <string>
#include <vector>

#include "check.h"
#include "fake_nccl.h"
#include "launch.h"
#include "mapped_view.h"

namespace {

using namespace nccl_sentinel::tests;
using nccl_sentinel::layout::Dropped;
using nccl_sentinel::layout::kCommunicators;
using nccl_sentinel::layout::kNames;
using nccl_sentinel::layout::kSizeOther;
using nccl_sentinel::layout::Outcome;

CASE(names_that_are_null_read_unknown) {
  void* context = nccl().init(7);
  nccl().run(context, {nullptr, 64, "ncclInt8", 1, nullptr, ""}, 1'000, 10);
  EXPECT_EQUAL(1U, measured(communicator(7), "unknown").operations);
  EXPECT_EQUAL(std::string("unknown"), name(cell(communicator(7), 6).algorithm));
  EXPECT_EQUAL(std::string("unknown"), name(cell(communicator(7), 6).protocol));
  expect_balanced();
}

CASE(long_names_are_cut_and_still_found) {
  void* context = nccl().init(7);
  for (int i = 0; i < 3; ++i) {
    // Another address each time, as a guess by address must not be believed.
    const std::string text = "AnOperationWithANameOfFortyCharactersAll";
    nccl().run(context, {text.c_str(), 64, "ncclInt8", 1, "RING", "LL"}, 1'000, 10);
  }
  EXPECT_EQUAL(3U, measured(communicator(7), "AnOperationWithANameOfForty").operations);
}

CASE(a_buffer_used_again_for_another_name_is_another_name) {
  void* context = nccl().init(7);
  char text[16] = "AllGather";
  nccl().run(context, {text, 64, "ncclInt8", 1, "RING", "LL"}, 1'000, 10);
  std::snprintf(text, sizeof text, "AllReduce");
  nccl().run(context, {text, 64, "ncclInt8", 1, "RING", "LL"}, 1'000, 10);
  EXPECT_EQUAL(1U, measured(communicator(7), "AllGather").operations);
  EXPECT_EQUAL(1U, measured(communicator(7), "AllReduce").operations);
}

CASE(names_that_begin_alike_are_told_apart) {
  void* context = nccl().init(7);
  const std::string letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZa";
  const std::size_t lengths[] = {1, 7, 8, 9, 13, 14, 15, 16, 17, 24, 27};
  char text[32] = "";
  for (int i = 0; i < 2; ++i) {
    for (const std::size_t length : lengths) {
      std::snprintf(text, sizeof text, "%s", letters.substr(0, length).c_str());
      nccl().run(context, {text, 64, "ncclInt8", 1, "RING", "LL"}, 1'000, 10);
    }
  }
  for (const std::size_t length : lengths) {
    EXPECT_EQUAL(2U, measured(communicator(7), letters.substr(0, length)).operations);
  }
}

CASE(names_past_the_table_are_dropped) {
  void* context = nccl().init(7);
  const std::size_t fit = kNames - 3;  // beside "unknown", "AllReduce" and "LL"
  for (std::size_t i = 0; i < fit + 5; ++i) {
    const std::string algorithm = "A" + std::to_string(i);
    nccl().run(context, {"AllReduce", 64, "ncclInt8", 1, algorithm.c_str(), "LL"}, 1'000, 10);
  }
  EXPECT_EQUAL(5U, outcome(communicator(7), Outcome::kDroppedName));
  nccl().run(context, {"NewOperation", 64, "ncclInt8", 1, "A0", "LL"}, 1'000, 10);
  EXPECT_EQUAL(6U, outcome(communicator(7), Outcome::kDroppedName));
  const auto& world = communicator(7);
  EXPECT_EQUAL(1U, balance(world, operation(world, "unknown")).started);
  EXPECT_EQUAL(fit + 5, balance(world, operation(world, "AllReduce")).started);
  expect_balanced();
}

CASE(operations_past_the_table_are_dropped) {
  void* context = nccl().init(7);
  for (int i = 0; i < 20; ++i) {
    const std::string text = "Operation" + std::to_string(i);
    nccl().run(context, {text.c_str(), 64, "ncclInt8", 1, "RING", "LL"}, 1'000, 10);
  }
  const auto& world = communicator(7);
  EXPECT_EQUAL(5U, outcome(world, Outcome::kDroppedOperation));
  EXPECT_EQUAL(5U, balance(world, operation(world, "unknown")).started);
  EXPECT_EQUAL(15U, balance(world).measured);
  expect_balanced();
}

CASE(sizes_past_the_cells_fold_into_other) {
  void* context = nccl().init(7);
  const auto run = [context](std::uint64_t size, const char* protocol) {
    nccl().run(context, {"AllReduce", std::uint64_t{1} << size, "ncclInt8", 1, "RING", protocol}, 1'000, 10);
  };
  for (std::uint64_t size = 0; size < 48; ++size) run(size, "LL");
  run(50, "LL");
  run(51, "LL");
  EXPECT_EQUAL(2U, counts(cell(communicator(7), kSizeOther)).operations.load());
  EXPECT_EQUAL(1U, counts(cell(communicator(7), 47)).operations.load());
  EXPECT_EQUAL(50U, balance(communicator(7)).measured);
  EXPECT_EQUAL(0U, balance(communicator(7)).dropped);
  for (int i = 1; i < 20; ++i) run(0, ("P" + std::to_string(i)).c_str());
  EXPECT_EQUAL(4U, outcome(communicator(7), Outcome::kDroppedCell));
  expect_balanced();
}

CASE(communicators_past_the_slots_are_dropped) {
  std::vector<void*> contexts;
  for (std::uint64_t id = 1; id <= kCommunicators; ++id) contexts.push_back(nccl().init(id));
  EXPECT_EQUAL(0U, dropped(Dropped::kCommunicator));
  void* extra = nccl().init(1'000);
  EXPECT(wants_timing());  // the others go on
  EXPECT_EQUAL(1U, dropped(Dropped::kCommunicator));
  EXPECT(nccl().collective(extra) == nullptr);
  EXPECT_EQUAL(2U, dropped(Dropped::kCommunicator));
  nccl().finalize(extra);
  nccl().init(1'001);
  std::size_t warnings = 0;
  for (const auto& line : logged()) warnings += line.level == 2;
  EXPECT_EQUAL(1U, warnings);
  for (void* context : contexts) nccl().run(context, {}, 1'000, 10);
  for (std::uint64_t id = 1; id <= kCommunicators; ++id) EXPECT_EQUAL(1U, balance(communicator(id)).measured);
  expect_balanced();
}

CASE(the_slot_closed_first_is_used_again_first) {
  std::vector<void*> contexts;
  for (std::uint64_t id = 1; id <= kCommunicators; ++id) contexts.push_back(nccl().init(id));
  const auto& fifth = communicator(5);
  const auto& second = communicator(2);
  nccl().run(contexts[4], {"AllGather", 64, "ncclInt8", 1, "RING", "LL"}, 1'000, 10);
  void* stale = nccl().collective(contexts[4]);
  nccl().finalize(contexts[4]);
  nccl().finalize(contexts[1]);
  EXPECT_EQUAL(1U, balance(fifth).measured);  // kept for readers until the slot is needed

  void* context = nccl().init(99, "again", 1, 2, 1);
  EXPECT_EQUAL(99U, fifth.id);
  EXPECT_EQUAL(2U, fifth.generation.load());
  EXPECT_EQUAL(2U, second.id);
  const Balance empty = balance(fifth);
  EXPECT_EQUAL(0U, empty.started + empty.measured + empty.refused + empty.in_flight);
  EXPECT_EQUAL(0U, fifth.callbacks.load());
  for (const auto& cell : fifth.cells) EXPECT_EQUAL(0U, cell.state.load());

  // What the former communicator left with NCCL.
  EXPECT(nccl().collective(contexts[4]) == nullptr);
  nccl().run_channel(contexts[4], stale, 0, 1'000, 2'000);
  nccl().finalize(contexts[4]);
  void* fresh = nccl().collective(context);
  EXPECT(fresh != stale);
  nccl().run_channel(context, stale, 0, 1'000, 2'000);
  EXPECT_EQUAL(0U, balance(fifth).measured);
  nccl().run_channel(context, fresh, 0, 1'000, 2'000);
  EXPECT_EQUAL(1U, balance(fifth).measured);
  EXPECT_EQUAL(1U, measured(fifth, "AllReduce").operations);
  expect_balanced();
}

}  // namespace
