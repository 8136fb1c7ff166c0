// SPDX-License-Identifier: Apache-2.0
#include "datatype.h"

#include <cstring>

namespace nccl_sentinel {
namespace {

struct Alias {
  const char* name;
  std::uint64_t bytes;
};

// The names that carry no number of bits.
constexpr Alias kAliases[] = {{"ncclHalf", 2}, {"ncclFloat", 4}, {"ncclDouble", 8}, {"ncclInt", 4}, {"ncclChar", 1}};

constexpr std::uint64_t kLongestName = 32;

}  // namespace

std::uint64_t element_bytes(const char* datatype) noexcept {
  if (datatype == nullptr) return 1;
  // The first number in the name is the width in bits: ncclUint64, ncclBfloat16, ncclFloat8e4m3.
  std::uint64_t bits = 0;
  for (std::uint64_t i = 0; i < kLongestName && datatype[i] != '\0'; ++i) {
    const char letter = datatype[i];
    if (letter >= '0' && letter <= '9') {
      bits = bits * 10 + static_cast<std::uint64_t>(letter - '0');
    } else if (bits != 0) {
      break;
    }
  }
  if (bits == 8 || bits == 16 || bits == 32 || bits == 64) return bits / 8;
  for (const Alias& alias : kAliases) {
    if (std::strcmp(datatype, alias.name) == 0) return alias.bytes;
  }
  return 1;
}

std::uint64_t message_bytes(std::uint64_t count, const char* datatype) noexcept {
  std::uint64_t bytes = 0;
  return __builtin_mul_overflow(count, element_bytes(datatype), &bytes) ? UINT64_MAX : bytes;
}

}  // namespace nccl_sentinel
