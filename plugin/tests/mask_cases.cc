// SPDX-License-Identifier: Apache-2.0
// The activation mask apart from everything else: wishes for groups that are yet to come.
#include <atomic>
#include <thread>
#include <vector>

#include "activation_mask.h"
#include "check.h"

namespace {

using nccl_sentinel::ActivationMask;

constexpr int kAlways = 2;
constexpr int kTiming = 64;
constexpr std::uint64_t kForEver = UINT64_MAX - 1;

// Static and all zero, as the plugin's are.
ActivationMask& fresh_mask(int& target) {
  static ActivationMask masks[5];
  static std::size_t used = 0;
  ActivationMask& mask = masks[used++];
  mask.open(&target, kAlways, kTiming);
  return mask;
}

// Which of the next groups are timed, one character each.
std::string next_groups(ActivationMask& mask, const int& target, int groups) {
  std::string timed;
  for (int i = 0; i < groups; ++i) {
    const bool is_read = (target & kTiming) != 0;
    EXPECT_EQUAL(kAlways, target & ~kTiming);
    mask.begin_group();
    EXPECT_EQUAL(is_read, mask.is_group_timed());
    timed += is_read ? 'x' : '.';
  }
  return timed;
}

CASE_OF(groups_that_somebody_wants_are_timed, 5) {
  int target = -1;
  ActivationMask& mask = fresh_mask(target);
  EXPECT_EQUAL(std::string("..."), next_groups(mask, target, 3));
  EXPECT_EQUAL(3U, mask.group());
  mask.want(4, 4);
  EXPECT_EQUAL(std::string("x..."), next_groups(mask, target, 4));
  mask.want(10, 12);
  mask.want(11, 11);
  mask.want(15, 15);
  EXPECT_EQUAL(std::string("..xxx..x.."), next_groups(mask, target, 10));
  mask.want(3, 5);  // over long ago
  EXPECT_EQUAL(std::string(".."), next_groups(mask, target, 2));
  mask.want(0, kForEver);
  EXPECT_EQUAL(std::string("xxxxx"), next_groups(mask, target, 5));
}

CASE_OF(a_thread_knows_its_own_group, 5) {
  int target = -1;
  ActivationMask& mask = fresh_mask(target);
  mask.want(2, 2);
  mask.begin_group();
  std::thread([&] {
    mask.begin_group();
    EXPECT(mask.is_group_timed());
  }).join();
  EXPECT(!mask.is_group_timed());
  std::thread([&] { mask.begin_group(); }).join();
  EXPECT(!mask.is_group_timed());
}

CASE_OF(many_threads_know_their_own_groups, 5) {
  int target = -1;
  ActivationMask& mask = fresh_mask(target);
  constexpr std::uint64_t kThreads = 100;
  mask.want(1, kThreads);  // all of them are timed, what comes later is not
  std::atomic<std::uint64_t> remembered{0};
  std::atomic<bool> is_over{false};
  std::vector<std::thread> threads;
  for (std::uint64_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      mask.begin_group();
      while (!is_over) std::this_thread::yield();
      remembered += mask.is_group_timed() ? 1 : 0;
    });
  }
  while (mask.group() < kThreads) std::this_thread::yield();
  EXPECT_EQUAL(std::string("."), next_groups(mask, target, 1));
  is_over = true;
  for (std::thread& thread : threads) thread.join();
  // Where a thread is kept follows from its address: now and then more share a set than it has places.
  EXPECT(remembered.load() >= kThreads * 9 / 10);
}

CASE_OF(a_wish_that_is_dropped_ends_at_once, 5) {
  int target = -1;
  ActivationMask& mask = fresh_mask(target);
  const auto first = mask.want(1, kForEver);
  const auto second = mask.want(1, 4);
  EXPECT(first != 0 && second != 0 && first != second);
  EXPECT_EQUAL(std::string("xx"), next_groups(mask, target, 2));
  mask.drop(first);
  EXPECT_EQUAL(std::string("xx."), next_groups(mask, target, 3));
  const auto third = mask.want(6, kForEver);
  for (const auto stale : {first, second, ActivationMask::Ticket{0}}) mask.drop(stale);
  EXPECT_EQUAL(std::string("xx"), next_groups(mask, target, 2));
  mask.drop(third);
  EXPECT_EQUAL(kAlways, target);
}

CASE_OF(wishes_without_room_are_none, 5) {
  int target = -1;
  ActivationMask& mask = fresh_mask(target);
  std::vector<ActivationMask::Ticket> wishes;
  while (const auto wish = mask.want(3, 4)) wishes.push_back(wish);
  EXPECT(wishes.size() >= 32);
  EXPECT_EQUAL(std::string("..xx.."), next_groups(mask, target, 6));
  EXPECT(mask.want(7, 7) != 0);  // those that ended left their room
  EXPECT_EQUAL(std::string("x."), next_groups(mask, target, 2));
}

CASE_OF(masks_are_apart_and_used_again, 5) {
  int first_target = -1;
  int second_target = -1;
  ActivationMask& first = fresh_mask(first_target);
  ActivationMask& second = fresh_mask(second_target);
  first.want(1, kForEver);
  EXPECT_EQUAL(kAlways, second_target);
  first.open(&first_target, kAlways, kTiming);
  first.close();
  EXPECT(first.is_of(&first_target) && !first.is_free());
  first.close();
  EXPECT(first.is_free() && !first.is_of(&first_target));
  int other_target = -1;
  first.open(&other_target, kAlways, kTiming);
  EXPECT_EQUAL(kAlways, other_target);  // nothing is left of the former wishes
  EXPECT_EQUAL(std::string("..."), next_groups(first, other_target, 3));
  EXPECT_EQUAL(kAlways | kTiming, first_target);
  EXPECT_EQUAL(std::string("."), next_groups(second, second_target, 1));
}

CASE_OF(the_first_capture_decides_for_all, 5) {
  int target = -1;
  ActivationMask& timed = fresh_mask(target);
  timed.capture(true);
  timed.capture(false);
  EXPECT(!timed.has_given_up());
  EXPECT_EQUAL(std::string("xxx"), next_groups(timed, target, 3));
  int other = -1;
  ActivationMask& untimed = fresh_mask(other);
  untimed.want(1, kForEver);
  EXPECT_EQUAL(std::string("xx"), next_groups(untimed, other, 2));
  untimed.capture(false);
  untimed.capture(true);
  EXPECT(untimed.has_given_up());
  untimed.want(1, kForEver);
  EXPECT_EQUAL(std::string("..."), next_groups(untimed, other, 3));
  untimed.close();
  untimed.open(&other, kAlways, kTiming);
  EXPECT(!untimed.has_given_up());
}

}  // namespace
