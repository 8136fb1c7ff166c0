// SPDX-License-Identifier: Apache-2.0
#include "name_table.h"

#include <cstring>

#include "lock.h"
#include "text_word.h"

namespace nccl_sentinel {
namespace {

using layout::Name;
using layout::Outcome;
using layout::SlotState;

constexpr std::size_t kTextBytes = sizeof(Name::text) - 1;
constexpr auto kFree = static_cast<std::uint32_t>(SlotState::kFree);
constexpr auto kClaimed = static_cast<std::uint32_t>(SlotState::kClaimed);
constexpr auto kOpen = static_cast<std::uint32_t>(SlotState::kOpen);

// The lowest bit that is set marks the first byte that is zero.
constexpr std::uint64_t zero_bytes(std::uint64_t word) noexcept {
  return (word - 0x0101'0101'0101'0101U) & ~word & 0x8080'8080'8080'8080U;
}

void write(Name& name, const char* text) noexcept {
  std::memcpy(name.text, text, strnlen(text, kTextBytes));  // the rest is zero already
  name.state.store(kOpen, std::memory_order_release);
}

}  // namespace

bool NameTable::reads(const Name& name, const char* text) noexcept {
  if (name.state.load(std::memory_order_acquire) != kOpen) return false;
  constexpr std::size_t kWord = sizeof(std::uint64_t);
  std::size_t at = 0;
  for (std::size_t i = 0; i < kTextBytes / kWord && is_within_page(text + at, kWord); ++i, at += kWord) {
    const std::uint64_t own = load_word(name.text + at);
    const std::uint64_t end = zero_bytes(own);
    // Of the bytes behind the name's end nothing is asked.
    const std::uint64_t asked = end == 0 ? ~std::uint64_t{0} : end ^ (end - 1);
    if (((own ^ load_word(text + at)) & asked) != 0) return false;
    if (end != 0) return true;
  }
  return std::strncmp(name.text + at, text + at, kTextBytes - at) == 0;
}

void NameTable::prepare(Name (&names)[layout::kNames]) noexcept { write(names[kUnknownName], kUnknownText); }

NameLookup NameTable::intern(Name (&names)[layout::kNames], NameGuesses& guesses, const char* text) noexcept {
  if (text == nullptr || text[0] == '\0') return {kUnknownName, std::nullopt};
  std::atomic<std::uint8_t>& guess = guesses.at(text);
  const std::uint8_t guessed = guess.load(std::memory_order_relaxed);
  if (reads(names[guessed], text)) return {guessed, std::nullopt};

  for (std::uint16_t i = 0; i < layout::kNames; ++i) {
    Name& name = names[i];
    std::uint32_t state = name.state.load(std::memory_order_acquire);
    if (state == kFree && name.state.compare_exchange_strong(state, kClaimed, std::memory_order_acquire)) {
      write(name, text);
      state = kOpen;
    }
    for (int tries = 0; state == kClaimed && tries < kTries; ++tries) {
      pause();
      state = name.state.load(std::memory_order_acquire);
    }
    // Somebody is still writing there. It may be this very name: a second entry for it would split its counters.
    if (state == kClaimed) return {kUnknownName, Outcome::kDroppedContention};
    if (reads(name, text)) {
      guess.store(static_cast<std::uint8_t>(i), std::memory_order_relaxed);
      return {i, std::nullopt};
    }
  }
  return {kUnknownName, Outcome::kDroppedName};
}

}  // namespace nccl_sentinel
