// SPDX-License-Identifier: Apache-2.0
// A name that is recognised by two words, as all of NCCL's operations are.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>

#include "text_word.h"

namespace nccl_sentinel {

class ShortName {
 public:
  // Recognises nothing.
  void clear() noexcept { asked_[1].store(kEverything, std::memory_order_release); }

  // Recognises text from now on, unless that is longer than 14 bytes. Threads may learn the same text at once.
  void learn(const char* text) noexcept {
    const std::size_t bytes = strnlen(text, kBytes) + 1;  // the end is compared too
    if (bytes >= kBytes) return;
    char padded[kBytes] = {};
    std::memcpy(padded, text, bytes);
    text_[0].store(load_word(padded), std::memory_order_relaxed);
    text_[1].store(load_word(padded + kWord), std::memory_order_relaxed);
    asked_[0].store(bytes < kWord ? low_bytes(bytes) : kEverything, std::memory_order_relaxed);
    asked_[1].store(bytes > kWord ? low_bytes(bytes - kWord) : 0, std::memory_order_release);
  }

  // False also of what it could not learn.
  bool reads(const char* text) const noexcept {
    const std::uint64_t asked = asked_[1].load(std::memory_order_acquire);
    if (asked == kEverything || !is_within_page(text, kBytes)) return false;
    const std::uint64_t first = text_[0].load(std::memory_order_relaxed) ^ load_word(text);
    const std::uint64_t second = text_[1].load(std::memory_order_relaxed) ^ load_word(text + kWord);
    return ((first & asked_[0].load(std::memory_order_relaxed)) | (second & asked)) == 0;
  }

 private:
  static constexpr std::size_t kWord = sizeof(std::uint64_t);
  static constexpr std::size_t kBytes = 2 * kWord;
  static constexpr std::uint64_t kEverything = ~std::uint64_t{0};

  static constexpr std::uint64_t low_bytes(std::size_t bytes) noexcept { return kEverything >> (64 - 8 * bytes); }

  std::atomic<std::uint64_t> text_[2];
  std::atomic<std::uint64_t> asked_[2];  // bits that must be alike; all of the second word: nothing was learnt
};

}  // namespace nccl_sentinel
