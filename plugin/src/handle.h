// SPDX-License-Identifier: Apache-2.0
// The handles that NCCL keeps for us: tagged integers, never pointers.
//
// A null, foreign, stale or repeated handle is recognised by its bits and ignored; nothing that NCCL hands back is ever
// dereferenced. The tag makes the value a non-canonical address, which no pointer of another plugin can be.
//
//   bits 63..52  tag: what it is a handle of
//   bits 51..46  the communicator's slot
//   bits 45..36  the operation's place in its communicator's ring      (operations and channels)
//   bits 35..30  the channel                                           (channels)
//   bits 29..0   generation of the place, or of the slot for a context
#pragma once

#include <cstdint>
#include <optional>

#include "nccl_sentinel/layout.h"

namespace nccl_sentinel {

inline constexpr std::uint32_t kMaxChannels = 64;
inline constexpr std::uint32_t kGenerationMask = (1U << 30) - 1;

enum class HandleKind : std::uint64_t { kContext = 0x5E1, kOperation = 0x5E2, kChannel = 0x5E3 };

struct Handle {
  std::uint32_t slot = 0;
  std::uint32_t place = 0;
  std::uint32_t channel = 0;
  std::uint32_t generation = 0;
};

static_assert(layout::kCommunicators <= 64 && layout::kInFlight <= 1024 && kMaxChannels <= 64);

inline void* encode(HandleKind kind, const Handle& handle) noexcept {
  const std::uint64_t bits = static_cast<std::uint64_t>(kind) << 52 | static_cast<std::uint64_t>(handle.slot) << 46 |
                             static_cast<std::uint64_t>(handle.place) << 36 |
                             static_cast<std::uint64_t>(handle.channel) << 30 | (handle.generation & kGenerationMask);
  return reinterpret_cast<void*>(bits);
}

inline std::optional<Handle> decode(HandleKind kind, const void* value) noexcept {
  const auto bits = reinterpret_cast<std::uint64_t>(value);
  if (bits >> 52 != static_cast<std::uint64_t>(kind)) return std::nullopt;
  Handle handle;
  handle.slot = static_cast<std::uint32_t>(bits >> 46 & 63);
  handle.place = static_cast<std::uint32_t>(bits >> 36 & 1023);
  handle.channel = static_cast<std::uint32_t>(bits >> 30 & 63);
  handle.generation = static_cast<std::uint32_t>(bits & kGenerationMask);
  return handle;
}

}  // namespace nccl_sentinel
