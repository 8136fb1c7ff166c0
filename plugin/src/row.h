// SPDX-License-Identifier: Apache-2.0
// The writer's side of the layout's rows: counts kept twice, the true copy chosen by one store.
#pragma once

#include <cstddef>
#include <cstdint>

#include "nccl_sentinel/layout.h"

namespace nccl_sentinel {

// A flight word and how a commit names it.
struct Flight {
  layout::Word* word;
  std::uint64_t name;  // the bits of a commit that name it
};

inline std::uint64_t flight_name(std::uint32_t place, std::uint32_t generation) noexcept {
  return layout::kCommitNames | std::uint64_t{place} << layout::kCommitPlaceShift |
         (generation & layout::kFlightGenerationMask) << layout::kCommitGenerationShift;
}

// Adds under a row's lock. Release keeps the words behind the commit that precedes them; on x86 it is a plain store.
inline void add(layout::Word& word, std::uint64_t amount) noexcept {
  word.store(word.load(std::memory_order_relaxed) + amount, std::memory_order_release);
}

// Makes `change(counts)` true at once. The caller holds the row's lock.
template <typename Counts, typename Change>
void commit(layout::Word& word, Counts (&copies)[2], std::uint64_t name, Change change) noexcept {
  constexpr std::size_t kWords = sizeof(Counts) / sizeof(layout::Word);
  const std::uint64_t next = (word.load(std::memory_order_relaxed) >> layout::kCommitShift) + 1;
  auto* from = reinterpret_cast<layout::Word*>(&copies[(next + 1) % 2]);
  auto* to = reinterpret_cast<layout::Word*>(&copies[next % 2]);
  for (std::size_t i = 0; i < kWords; ++i) {
    to[i].store(from[i].load(std::memory_order_relaxed), std::memory_order_release);
  }
  change(copies[next % 2]);
  word.store(next << layout::kCommitShift | name, std::memory_order_release);
}

// The same, and an operation is in flight no longer.
template <typename Counts, typename Change>
void commit_end(layout::Word& word, Counts (&copies)[2], const Flight& flight, Change change) noexcept {
  commit(word, copies, flight.name, change);
  flight.word->store(0, std::memory_order_release);
  const std::uint64_t count_only = word.load(std::memory_order_relaxed) >> layout::kCommitShift;
  word.store(count_only << layout::kCommitShift, std::memory_order_release);
}

}  // namespace nccl_sentinel
