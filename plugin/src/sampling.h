// SPDX-License-Identifier: Apache-2.0
// Which operations are timed. Chosen by their number, so that all ranks choose the same ones without talking.
//
// A stream is what NCCL numbers on all its ranks alike: the operations of one name in a communicator, or the Sends to
// (Receives from) one peer. Bursts of `burst` operations begin at each multiple of the period. A stream that runs few
// operations is timed whole: cheap enough, and a hang in it always shows.
#pragma once

#include <atomic>
#include <cstdint>

#include "activation_mask.h"

namespace nccl_sentinel {

// Remainders by a number that is a power of two as a rule: a division costs more than the rest of a skipped operation.
class Divisor {
 public:
  Divisor() = default;
  constexpr Divisor(std::uint32_t value) noexcept  // NOLINT: it stands for its value
      : value_(value), mask_((value & (value - 1)) == 0 ? value - 1 : 0) {}
  constexpr std::uint64_t remainder(std::uint64_t number) const noexcept {
    return __builtin_expect(mask_ != 0, 1) ? number & mask_ : number % value_;
  }
  constexpr operator std::uint32_t() const noexcept { return value_; }  // NOLINT: likewise

 private:
  std::uint32_t value_;
  std::uint32_t mask_;
};

struct Sampling {
  std::uint32_t burst;  // 0: nothing is timed
  Divisor period;       // the same as burst: everything is
  Divisor window;       // between decisions about a stream: the period's multiple at or above kDecisionOperations

  Sampling() = default;
  constexpr Sampling(std::uint32_t timed, std::uint32_t of) noexcept
      : burst(timed), period(of), window((kDecisionOperations + of - 1) / of * of) {}

  static constexpr std::uint32_t kLongestPeriod = 1U << 16;
  static constexpr std::uint32_t kDecisionOperations = 64;
};

inline constexpr Sampling kDefaultSampling{4, 64};

// How the operations of a stream are chosen at present. `level` is the governor's: each step halves what is timed.
struct Choice {
  bool whole;
  std::uint32_t level;

  // Whether any of `operations` from `number` on is timed.
  bool takes(const Sampling& sampling, std::uint64_t number, std::uint32_t operations) const noexcept {
    if (level > 0) return takes_lowered(level, sampling, number, operations);
    if (sampling.burst == 0) return false;
    const std::uint64_t place = sampling.period.remainder(number);
    return whole || place < sampling.burst || place + operations > sampling.period;
  }

 private:
  // Apart, so that what is asked of every operation stays small.
  __attribute__((noinline)) static bool takes_lowered(std::uint32_t level, const Sampling& sampling,
                                                      std::uint64_t number, std::uint32_t operations) noexcept;
};

class Stream {
 public:
  // A new stream is timed whole.
  void clear() noexcept;

  // At a decision, before the operation is launched: the choice is made anew, from the rate since the last one and from
  // the governor's level. All ranks decide at the same operation. Between 40 and 60 operations a second a stream stays
  // as it is.
  static bool is_decision(const Sampling& sampling, std::uint64_t number) noexcept {
    return sampling.window.remainder(number) == 0;
  }
  void decide(const Sampling& sampling, std::uint64_t number, std::uint32_t level) noexcept;

  // Whether the operation of this number is timed.
  bool takes(const Sampling& sampling, std::uint64_t number) const noexcept {
    return choice().takes(sampling, number, 1);
  }

  // The operation of this number is launched, in the present group. Where the next ones are timed the mask is told in
  // which groups they are to be expected: as far from this one as the last ones were from each other.
  void launch(const Sampling& sampling, std::uint64_t number, ActivationMask& mask) noexcept {
    const std::uint64_t group = mask.group();
    const std::uint64_t last = group_.load(std::memory_order_relaxed);
    const std::uint32_t in_group = in_group_.load(std::memory_order_relaxed);
    // The next group will have as many as this one, as far as it has come, or as the last one had.
    const bool is_same = group == last;
    const std::uint32_t ahead = is_same ? in_group + 1 : in_group;
    group_.store(group, std::memory_order_relaxed);
    in_group_.store(is_same ? ahead : 1, std::memory_order_relaxed);
    // At a decision the choice may change to one that takes the operation; a burst begins there anyway.
    const bool is_wanted = choice().takes(sampling, number + 1, ahead == 0 ? 1 : ahead);
    if (is_wanted || ticket_.load(std::memory_order_relaxed) != 0) expect(mask, group, last, is_wanted);
  }
  // No more operations come.
  void close(ActivationMask& mask) noexcept { mask.drop(ticket_.exchange(0, std::memory_order_relaxed)); }

  // The next number, of a stream that NCCL does not number.
  std::uint64_t take_number() noexcept { return next_.fetch_add(1, std::memory_order_relaxed); }

 private:
  // As many gaps are remembered as a step may have places for the stream.
  static constexpr std::uint32_t kGaps = 8;

  Choice choice() const noexcept {
    const std::uint32_t packed = choice_.load(std::memory_order_relaxed);
    return {(packed & 1) == 0, packed >> 1};
  }
  __attribute__((noinline)) void expect(ActivationMask& mask, std::uint64_t group, std::uint64_t last_group,
                                        bool is_wanted) noexcept;

  // What every operation needs comes first.
  std::atomic<std::uint64_t> group_;     // of the last operation; 0: there was none
  std::atomic<std::uint32_t> in_group_;  // operations of the stream in that group
  std::atomic<std::uint32_t> choice_;    // level << 1 | bursts
  std::atomic<std::uint32_t> ticket_;    // ActivationMask::Ticket
  std::atomic<std::uint32_t> gaps_seen_;
  std::atomic<std::uint64_t> next_;
  std::atomic<std::uint32_t> gaps_[kGaps];  // groups from one operation to the next
  std::atomic<std::uint64_t> decided_at_;   // number of the operation
  std::atomic<std::uint64_t> decided_ns_;   // 0: never
};

}  // namespace nccl_sentinel
