// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstring>

namespace nccl_sentinel {

// Fills a fixed field with text, cut where a UTF-8 character begins, NUL to the end. Null reads as empty.
template <std::size_t kBytes>
void write_text(char (&field)[kBytes], const char* text) noexcept {
  std::size_t length = text == nullptr ? 0 : strnlen(text, kBytes);
  if (length == kBytes) {
    --length;
    while (length > 0 && (static_cast<unsigned char>(text[length]) & 0xC0) == 0x80) --length;
  }
  if (length > 0) std::memcpy(field, text, length);
  std::memset(field + length, 0, kBytes - length);
}

}  // namespace nccl_sentinel
