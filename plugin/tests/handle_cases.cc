// SPDX-License-Identifier: Apache-2.0
// Handles that are null, foreign, stale or repeated.
#include <iterator>
#include <vector>

#include "check.h"
#include "fake_nccl.h"
#include "handle.h"
#include "mapped_view.h"
#include "nccl_sentinel/abi.h"

namespace {

using namespace nccl_sentinel::tests;
using nccl_sentinel::decode;
using nccl_sentinel::encode;
using nccl_sentinel::Handle;
using nccl_sentinel::HandleKind;

constexpr HandleKind kKinds[] = {HandleKind::kContext, HandleKind::kOperation, HandleKind::kChannel,
                                 HandleKind::kNetwork, HandleKind::kStep,      HandleKind::kCapturedCall};

CASE_OF(handles_carry_every_bit, 5) {
  for (const HandleKind kind : kKinds) {
    const auto handle = decode(kind, encode(kind, {63, 1023, 62, nccl_sentinel::kGenerationMask}));
    EXPECT(handle.has_value());
    EXPECT_EQUAL(63U, handle->slot);
    EXPECT_EQUAL(1023U, handle->place);
    EXPECT_EQUAL(62U, handle->part);
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
  EXPECT_EQUAL(1'000U, measured(communicator(7), "AllReduce").duration_ns);
  expect_balanced();
}

// Whatever NCCL could hand back in a context's, a parent's or a handle's place.
void call_everything_with(void* context, void* handle) {
  for (void* from : {context, handle}) {
    nccl().channel(from, handle, 0, 1'000);
    void* network = nccl().network(from, handle);
    nccl().step(from, network, 0);
    nccl().step(from, handle, 0);
    nccl().event(from, 0);
  }
  nccl().stop_time(handle, 2'000);
  for (int state = -1; state < 32; ++state) {
    nccl().state(handle, state);
    nccl().state(handle, state, 1'000);
  }
  nccl().stop(handle);
  if (handle == context) return;
  EXPECT(nccl().collective(handle) == nullptr);
  EXPECT(nccl().p2p(handle) == nullptr);
  nccl().group(handle);
  nccl().collective_call(handle, "AllReduce", true, handle);
  nccl().p2p_call(handle, "Send", false, handle);
  nccl().finalize(handle);
}

CASE(foreign_handles_change_nothing) {
  void* context = nccl().init(7);
  void* open = nccl().collective(context);
  int object = 0;
  std::vector<void*> foreign{nullptr, &object, reinterpret_cast<void*>(-1), reinterpret_cast<void*>(1), context};
  for (const HandleKind kind : kKinds) {
    foreign.push_back(encode(kind, {0, 1, 0, 1}));       // nothing was ever there
    foreign.push_back(encode(kind, {0, 0, 0, 2}));       // not yet
    foreign.push_back(encode(kind, {63, 1023, 63, 9}));  // no such communicator
  }
  // A channel that never started, of an operation that did.
  foreign.push_back(encode(HandleKind::kChannel, {0, 0, 5, 1}));
  for (void* handle : foreign) call_everything_with(context, handle);
  nccl().call_with_nulls(context);
  EXPECT_EQUAL(0, nccl().returned.load());
  EXPECT_EQUAL(1U, balance(communicator(7)).started);
  EXPECT_EQUAL(1U, balance(communicator(7)).in_flight);
  EXPECT_EQUAL(0U, dropped(nccl_sentinel::layout::Dropped::kCommunicator));
  nccl().run_channel(context, open, 0, 1'000, 2'000);
  EXPECT_EQUAL(1U, balance(communicator(7)).measured);
  expect_balanced();
}

CASE(random_bits_keep_the_balance) {
  std::vector<void*> contexts;
  for (std::uint64_t id = 1; id <= 3; ++id) contexts.push_back(nccl().init(id));
  std::uint64_t random = 0x9E37'79B9'7F4A'7C15;
  const auto next = [&random] {  // xorshift64
    random ^= random << 13;
    random ^= random >> 7;
    return random ^= random << 17;
  };
  for (int i = 0; i < 3'000; ++i) {
    void* context = contexts[next() % contexts.size()];
    nccl().collective(context);
    std::uint64_t bits = next();
    // Half of them look like ours.
    if (i % 2 == 0)
      bits = static_cast<std::uint64_t>(kKinds[next() % std::size(kKinds)]) << 52 | (bits & 0x0000'0FFF'FFFF'FFFF);
    if (i % 4 == 0) bits &= ~std::uint64_t{0x3FFF'FF80};  // and have a generation that exists
    void* handle = reinterpret_cast<void*>(bits);
    if ((bits >> 52) != static_cast<std::uint64_t>(HandleKind::kContext)) call_everything_with(context, handle);
  }
  EXPECT_EQUAL(0, nccl().returned.load());
  std::uint64_t started = 0;
  for (std::uint64_t id = 1; id <= 3; ++id) started += balance(communicator(id)).started;
  EXPECT_EQUAL(3'000U, started);
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
  using namespace nccl_sentinel::abi;
  void* context = nccl().init(7);
  for (const std::uint64_t type : {std::uint64_t{0}, kGroup, kProxyOp, kProxyStep, kProxyCtrl, kKernelCh, kNetPlugin,
                                   std::uint64_t{3}, kColl | kKernelCh}) {
    EXPECT(nccl().event(context, type) == nullptr);
  }
  for (const std::uint64_t type : {kGroupApi, kCollApi, kP2pApi, kKernelLaunch, kCeSync, kCeBatch, kKernelPhase}) {
    EXPECT(nccl().event(context, type) == nullptr);
  }
  for (int bit = 16; bit < 64; ++bit) EXPECT(nccl().event(context, std::uint64_t{1} << bit) == nullptr);
  EXPECT_EQUAL(0U, balance(communicator(7)).started);
  EXPECT_EQUAL(0, nccl().returned.load());
}

}  // namespace
