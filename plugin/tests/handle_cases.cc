// SPDX-License-Identifier: Apache-2.0
// Handles that are null, foreign, stale or repeated.
#include <vector>

#include "check.h"
#include "fake_nccl.h"
#include "handle.h"
#include "mapped_view.h"

namespace {

using namespace nccl_sentinel::tests;
using nccl_sentinel::decode;
using nccl_sentinel::encode;
using nccl_sentinel::Handle;
using nccl_sentinel::HandleKind;

CASE(handles_carry_every_bit) {
  for (const HandleKind kind : {HandleKind::kContext, HandleKind::kOperation, HandleKind::kChannel}) {
    const auto handle = decode(kind, encode(kind, {63, 1023, 62, nccl_sentinel::kGenerationMask}));
    EXPECT(handle.has_value());
    EXPECT_EQUAL(63U, handle->slot);
    EXPECT_EQUAL(1023U, handle->place);
    EXPECT_EQUAL(62U, handle->channel);
    EXPECT_EQUAL(nccl_sentinel::kGenerationMask, handle->generation);
  }
  EXPECT(!decode(HandleKind::kChannel, encode(HandleKind::kOperation, {})).has_value());
  EXPECT(!decode(HandleKind::kContext, nullptr).has_value());
}

CASE(repeated_events_count_once) {
  void* context = nccl().init(7);
  void* operation = nccl().collective(context, {"AllReduce", 64, "ncclInt8", 2, "RING", "LL"});
  void* channel = nccl().channel(context, operation, 0, 1'000);
  EXPECT(channel == nccl().channel(context, operation, 0, 1));
  nccl().stop_time(channel, 2'000);
  nccl().stop_time(channel, 9'000'000);
  nccl().stop(channel);
  nccl().stop(channel);
  nccl().stop_time(channel, 9'000'000);
  EXPECT_EQUAL(0U, balance(communicator(7)).measured);
  void* other = nccl().channel(context, operation, 1, 1'000);
  nccl().stop_time(other, 1'500);
  for (int i = 0; i < 3; ++i) nccl().stop(other);
  for (int i = 0; i < 3; ++i) nccl().stop(operation);
  EXPECT_EQUAL(1U, balance(communicator(7)).measured);
  EXPECT_EQUAL(1'000U, counters(communicator(7), "AllReduce").duration_ns.load());
  expect_balanced();
}

CASE(foreign_handles_change_nothing) {
  void* context = nccl().init(7);
  void* open = nccl().collective(context);
  int object = 0;
  std::vector<void*> foreign{nullptr, &object, reinterpret_cast<void*>(-1), reinterpret_cast<void*>(1), context};
  for (const HandleKind kind : {HandleKind::kContext, HandleKind::kOperation, HandleKind::kChannel}) {
    foreign.push_back(encode(kind, {0, 1, 0, 1}));       // nothing was ever there
    foreign.push_back(encode(kind, {0, 0, 0, 2}));       // not yet
    foreign.push_back(encode(kind, {63, 1023, 63, 9}));  // no such communicator
  }
  // A channel that never started, of an operation that did.
  foreign.push_back(encode(HandleKind::kChannel, {0, 0, 5, 1}));
  for (void* handle : foreign) {
    EXPECT(nccl().channel(context, handle, 0, 1'000) == nullptr);
    EXPECT(nccl().channel(handle, handle, 0, 1'000) == nullptr);
    nccl().stop_time(handle, 2'000);
    nccl().stop(handle);
    if (handle != context) {
      EXPECT(nccl().collective(handle) == nullptr);
      nccl().finalize(handle);
    }
  }
  nccl().call_with_nulls(context);
  EXPECT_EQUAL(0, nccl().returned.load());
  EXPECT_EQUAL(1U, balance(communicator(7)).started);
  EXPECT_EQUAL(1U, balance(communicator(7)).in_flight);
  EXPECT_EQUAL(0U, nccl_sentinel::tests::dropped());
  nccl().run_channel(context, open, 0, 1'000, 2'000);
  EXPECT_EQUAL(1U, balance(communicator(7)).measured);
  expect_balanced();
}

CASE(channels_past_the_last_are_ignored) {
  void* context = nccl().init(7);
  void* operation = nccl().collective(context);
  EXPECT(nccl().channel(context, operation, 64, 1'000) == nullptr);
  EXPECT(nccl().channel(context, operation, 255, 1'000) == nullptr);
  nccl().run_channel(context, operation, 63, 1'000, 2'000);
  EXPECT_EQUAL(1U, balance(communicator(7)).measured);
}

CASE(other_events_get_a_null_handle) {
  void* context = nccl().init(7);
  for (const std::uint64_t type : {0ULL, 1ULL, 4ULL, 8ULL, 16ULL, 32ULL, 128ULL, 3ULL, 66ULL}) {
    EXPECT(nccl().event(context, type) == nullptr);
  }
  for (std::uint64_t bit = 8; bit < 16; ++bit) EXPECT(nccl().event(context, std::uint64_t{1} << bit) == nullptr);
  EXPECT_EQUAL(0U, balance(communicator(7)).started);
  EXPECT_EQUAL(0, nccl().returned.load());
}

}  // namespace
