// SPDX-License-Identifier: Apache-2.0
// The handles that NCCL keeps for us: tagged integers, never pointers.
//
// A null, foreign, stale or repeated handle is recognised by its bits and ignored; nothing that NCCL hands back is ever
// dereferenced. The tag makes the value a non-canonical address, which no pointer of another plugin can be.
//
//   bits 63..52  tag: what it is a handle of
//   bits 51..46  the communicator's slot
//   bits 45..36  the place in its communicator's ring                  (operations and their parts)
//   bits 35..30  the channel, the step, or a call's flag
//   bits 29..0   generation of the place, or of the slot for a context and a call
#pragma once

#include <cstdint>
#include <optional>

#include "nccl_sentinel/layout.h"

namespace nccl_sentinel {

inline constexpr std::uint32_t kMaxChannels = layout::kChannels;
constexpr std::uint64_t channel_bit(std::uint32_t channel) noexcept {
  return std::uint64_t{1} << (channel % kMaxChannels);
}

inline constexpr std::uint32_t kGenerationMask = (1U << 30) - 1;

enum class HandleKind : std::uint64_t {
  kContext = 0x5E1,
  kOperation = 0x5E2,
  kChannel = 0x5E3,
  kNetwork = 0x5E4,
  kStep = 0x5E5,
  kCapturedCall = 0x5E6  // part: whether NCCL read a mask with timing
};

struct Handle {
  std::uint32_t slot = 0;
  std::uint32_t place = 0;
  std::uint32_t part = 0;  // channel, step or flags
  std::uint32_t generation = 0;
};

// One number for each callback of an operation or one of its parts.
constexpr std::uint64_t callback_number(const Handle& handle, std::uint32_t kind) noexcept {
  return (std::uint64_t{handle.generation} << 10 | handle.place) << 8 | handle.part << 2 | kind;
}

static_assert(layout::kCommunicators <= 64 && layout::kInFlight <= 1024 && kMaxChannels <= 64);

inline HandleKind kind_of(const void* value) noexcept {
  return static_cast<HandleKind>(reinterpret_cast<std::uint64_t>(value) >> 52);
}

inline void* encode(HandleKind kind, const Handle& handle) noexcept {
  const std::uint64_t bits = static_cast<std::uint64_t>(kind) << 52 | static_cast<std::uint64_t>(handle.slot) << 46 |
                             static_cast<std::uint64_t>(handle.place) << 36 |
                             static_cast<std::uint64_t>(handle.part) << 30 | (handle.generation & kGenerationMask);
  return reinterpret_cast<void*>(bits);
}

// What a handle of whatever kind holds.
inline Handle decode(const void* value) noexcept {
  const auto bits = reinterpret_cast<std::uint64_t>(value);
  Handle handle;
  handle.slot = static_cast<std::uint32_t>(bits >> 46 & 63);
  handle.place = static_cast<std::uint32_t>(bits >> 36 & 1023);
  handle.part = static_cast<std::uint32_t>(bits >> 30 & 63);
  handle.generation = static_cast<std::uint32_t>(bits & kGenerationMask);
  return handle;
}

inline std::optional<Handle> decode(HandleKind kind, const void* value) noexcept {
  if (kind_of(value) != kind) return std::nullopt;
  return decode(value);
}

}  // namespace nccl_sentinel
