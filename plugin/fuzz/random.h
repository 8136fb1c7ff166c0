// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace nccl_sentinel::fuzz {

// splitmix64: the same numbers for the same seed everywhere.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t word = state_ += 0x9E37'79B9'7F4A'7C15U;
    word = (word ^ word >> 30) * 0xBF58'476D'1CE4'E5B9U;
    word = (word ^ word >> 27) * 0x94D0'49BB'1331'11EBU;
    return word ^ word >> 31;
  }
  std::uint64_t below(std::uint64_t bound) { return next() % bound; }
  bool percent(unsigned share) { return below(100) < share; }
  // Of any magnitude.
  std::uint64_t spread() { return next() >> below(64); }

  template <class T, std::size_t size>
  const T& pick(const T (&values)[size]) {
    return values[below(size)];
  }

 private:
  std::uint64_t state_;
};

}  // namespace nccl_sentinel::fuzz
