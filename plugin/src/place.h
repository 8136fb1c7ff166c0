// SPDX-License-Identifier: Apache-2.0
// One place of a ring that any thread may ask for: empty, open or held.
#pragma once

#include <atomic>
#include <cstdint>

namespace nccl_sentinel {

// Whoever turns a place from open to held may touch what is in it, and nobody else.
class Place {
 public:
  // Empty to held, or open to held where an earlier tenant was left behind.
  enum class Taken { kNo, kEmpty, kLeftBehind };
  Taken take() noexcept;

  // Open to held, where the tenant of this generation is still there.
  bool hold(std::uint32_t generation) noexcept { return hold_if(generation, false); }
  // Open to held, whatever its generation.
  bool hold_any() noexcept { return hold_if(0, true); }

  // Held to open, or held to empty.
  void open() noexcept { settle(kOpen); }
  void leave() noexcept { settle(kEmpty); }

  // A new generation for the tenant that a holder puts here; it is what the handles carry.
  std::uint32_t renew() noexcept;
  std::uint32_t generation() const noexcept { return control_.load(std::memory_order_relaxed) >> 2; }

 private:
  static constexpr std::uint32_t kEmpty = 0;
  static constexpr std::uint32_t kOpen = 1;
  static constexpr std::uint32_t kHeld = 2;
  static constexpr std::uint32_t kPhase = 3;

  bool hold_if(std::uint32_t generation, bool any) noexcept;
  void settle(std::uint32_t phase) noexcept {
    control_.store((control_.load(std::memory_order_relaxed) & ~kPhase) | phase, std::memory_order_release);
  }

  std::atomic<std::uint32_t> control_;  // generation << 2 | phase
};

}  // namespace nccl_sentinel
