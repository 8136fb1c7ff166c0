// SPDX-License-Identifier: Apache-2.0
#include "name_table.h"

#include <cstring>

#include "sequence.h"

namespace nccl_sentinel {
namespace {

using layout::Dropped;
using layout::Name;
using layout::SlotState;

constexpr std::size_t kTextBytes = sizeof(Name::text) - 1;
constexpr auto kFree = static_cast<std::uint32_t>(SlotState::kFree);
constexpr auto kClaimed = static_cast<std::uint32_t>(SlotState::kClaimed);
constexpr auto kOpen = static_cast<std::uint32_t>(SlotState::kOpen);

bool holds(const Name& name, const char* text) noexcept {
  return name.state.load(std::memory_order_acquire) == kOpen && std::strncmp(name.text, text, kTextBytes) == 0;
}

void write(Name& name, const char* text) noexcept {
  std::memcpy(name.text, text, strnlen(text, kTextBytes));  // the rest is zero already
  name.state.store(kOpen, std::memory_order_release);
}

}  // namespace

void NameTable::prepare(Name (&names)[layout::kNames]) noexcept { write(names[kUnknownName], kUnknownText); }

NameLookup NameTable::intern(Name (&names)[layout::kNames], NameGuesses& guesses, const char* text) noexcept {
  if (text == nullptr || text[0] == '\0') return {kUnknownName, std::nullopt};
  std::atomic<std::uint8_t>& guess = guesses.at(text);
  const std::uint8_t guessed = guess.load(std::memory_order_relaxed);
  if (holds(names[guessed], text)) return {guessed, std::nullopt};

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
    if (state == kClaimed) return {kUnknownName, Dropped::kContention};
    if (holds(name, text)) {
      guess.store(static_cast<std::uint8_t>(i), std::memory_order_relaxed);
      return {i, std::nullopt};
    }
  }
  return {kUnknownName, Dropped::kName};
}

}  // namespace nccl_sentinel
