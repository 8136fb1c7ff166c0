// SPDX-License-Identifier: Apache-2.0
// Names of operations, algorithms and protocols, kept once in the mapped file and spoken of by index.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "nccl_sentinel/layout.h"

namespace nccl_sentinel {

// Index 0 always reads "unknown": what NCCL gave no name for, and what the tables have no room for.
inline constexpr std::uint16_t kUnknownName = 0;
inline constexpr const char* kUnknownText = "unknown";

struct NameLookup {
  std::uint16_t index;
  std::optional<layout::Outcome> dropped;  // why it is kUnknownName although NCCL gave a name
};

// A guess at a name's index by the address of its text. NCCL's names are constants, so the guess is nearly always
// right; the text is compared all the same, so a wrong guess costs a search and nothing else.
class NameGuesses {
 public:
  std::atomic<std::uint8_t>& at(const char* text) noexcept {
    const auto address = reinterpret_cast<std::uint64_t>(text);
    return guesses_[(address ^ address >> 4 ^ address >> 9) % kEntries];
  }
  void fill(std::uint8_t guess) noexcept {
    for (auto& each : guesses_) each.store(guess, std::memory_order_relaxed);
  }

 private:
  static constexpr std::uint64_t kEntries = 32;
  std::atomic<std::uint8_t> guesses_[kEntries];
};

class NameTable {
 public:
  // Whether a name is in use and reads as text does, of which at most 27 bytes count.
  static bool reads(const layout::Name& name, const char* text) noexcept;

  // Writes kUnknownName. Before anybody else sees the file.
  static void prepare(layout::Name (&names)[layout::kNames]) noexcept;

  // The index of text, which is claimed if it is new. At most 27 bytes of it count.
  static NameLookup intern(layout::Name (&names)[layout::kNames], NameGuesses& guesses, const char* text) noexcept;
};

}  // namespace nccl_sentinel
