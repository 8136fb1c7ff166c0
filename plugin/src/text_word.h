// SPDX-License-Identifier: Apache-2.0
// Text compared by words: by bytes the processor guesses wrong where texts of different lengths alternate, and that
// costs more than all the rest.
#pragma once

#include <cstdint>

namespace nccl_sentinel {

// Whether the next `bytes` bytes can be read. They may reach past the end of the text, never past its page, as strlen
// reads.
inline bool is_within_page(const char* text, std::uint64_t bytes) noexcept {
  constexpr std::uint64_t kPage = 4096;
  return reinterpret_cast<std::uint64_t>(text) % kPage <= kPage - bytes;
}

__attribute__((no_sanitize("address", "thread"))) inline std::uint64_t load_word(const char* text) noexcept {
  std::uint64_t word = 0;
  __builtin_memcpy(&word, text, sizeof word);
  return word;
}

}  // namespace nccl_sentinel
