// SPDX-License-Identifier: Apache-2.0
// Which numbers are chosen, apart from everything else.
#include "check.h"
#include "governor.h"
#include "sampling.h"

namespace {

using namespace nccl_sentinel::tests;
using nccl_sentinel::Choice;
using nccl_sentinel::Governor;
using nccl_sentinel::Sampling;
using nccl_sentinel::Stream;

constexpr Sampling kAll{1, 1};
constexpr Sampling kOff{0, 1};

bool takes(const Choice& choice, const Sampling& sampling, std::uint64_t number) {
  return choice.takes(sampling, number, 1);
}

std::uint64_t taken(const Choice& choice, const Sampling& sampling, std::uint64_t operations) {
  std::uint64_t sum = 0;
  for (std::uint64_t number = 0; number < operations; ++number) sum += takes(choice, sampling, number);
  return sum;
}

CASE_OF(bursts_begin_at_the_periods_multiples, 5) {
  const Choice bursts{false, 0};
  for (const Sampling& sampling : {Sampling{4, 64}, Sampling{8, 128}, Sampling{1, 1'000}, Sampling{3, 7}}) {
    for (std::uint64_t number = 0; number < 10 * sampling.period; ++number) {
      EXPECT_EQUAL(number % sampling.period < sampling.burst, takes(bursts, sampling, number));
      EXPECT(takes({true, 0}, sampling, number));
    }
  }
}

CASE_OF(all_and_off_are_what_they_say, 5) {
  for (const bool whole : {false, true}) {
    EXPECT_EQUAL(1'000U, taken({whole, 0}, kAll, 1'000));
    EXPECT_EQUAL(0U, taken({whole, 0}, kOff, 1'000));
    EXPECT_EQUAL(0U, taken({whole, 3}, kOff, 1'000));
  }
}

// So that ranks whose levels differ for a moment still time some operations in common.
CASE_OF(each_level_takes_a_part_of_what_the_level_below_takes, 5) {
  for (const Sampling& sampling : {kAll, Sampling{4, 64}, Sampling{8, 128}, Sampling{64, 64}, Sampling{3, 7}}) {
    for (const bool whole : {false, true}) {
      std::uint64_t before = UINT64_MAX;
      for (std::uint32_t level = 0; level <= Governor::kHighestLevel; ++level) {
        for (std::uint64_t number = 0; level > 0 && number < 20'000; ++number) {
          EXPECT(!takes({whole, level}, sampling, number) || takes({whole, level - 1}, sampling, number));
        }
        const std::uint64_t now = taken({whole, level}, sampling, 1U << 20);
        EXPECT(level < 2 || (now <= before / 2 + sampling.burst && now > 0));
        before = now;
      }
    }
  }
}

CASE_OF(a_level_is_the_same_whatever_a_stream_was_before, 5) {
  for (std::uint32_t level = 1; level <= Governor::kHighestLevel; ++level) {
    for (std::uint64_t number = 0; number < 20'000; ++number) {
      EXPECT_EQUAL(takes({true, level}, kAll, number), takes({false, level}, {4, 64}, number));
    }
  }
}

CASE_OF(decisions_fall_where_bursts_begin, 5) {
  const struct {
    Sampling sampling;
    std::uint64_t window;
  } expected[] = {{kAll, 64}, {{4, 64}, 64}, {{8, 128}, 128}, {{3, 7}, 70}, {{1, 100}, 100}, {{65, 65}, 65}};
  for (const auto& [sampling, window] : expected) {
    for (std::uint64_t number = 0; number < 1'000; ++number) {
      EXPECT_EQUAL(number % window == 0, Stream::is_decision(sampling, number));
      EXPECT(number % window != 0 || takes({false, 0}, sampling, number));
    }
  }
}

CASE_OF(a_group_is_timed_where_one_of_its_operations_is, 5) {
  for (const Sampling& sampling : {Sampling{4, 64}, Sampling{3, 7}}) {
    for (std::uint32_t level = 0; level < 4; ++level) {
      for (std::uint64_t number = 0; number < 1'000; ++number) {
        bool any = false;
        for (std::uint32_t operations = 1; operations < 100; ++operations) {
          any = any || takes({false, level}, sampling, number + operations - 1);
          EXPECT_EQUAL(any, (Choice{false, level}.takes(sampling, number, operations)));
        }
      }
    }
  }
}

}  // namespace
