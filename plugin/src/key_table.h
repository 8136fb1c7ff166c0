// SPDX-License-Identifier: Apache-2.0
// Which place of a mapped table belongs to which key. Private, so that looking up never reads a line that is being
// counted in.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace nccl_sentinel {

struct KeyPlace {
  std::size_t place;
  bool is_new;  // this call claimed it
};

template <std::size_t kPlaces>
class KeyTable {
 public:
  void clear() noexcept {
    for (auto& key : keys_) key.store(0, std::memory_order_relaxed);
  }

  // The place of key (never 0) among `places` places from `first` on; the next free one if it is new; nothing if all
  // are taken. Linear probing; one compare-and-swap claims.
  std::optional<KeyPlace> find(std::uint64_t key, std::size_t first, std::size_t places) noexcept {
    std::size_t place = static_cast<std::size_t>(((key * 0x9E37'79B9'7F4A'7C15U) >> 32) * places >> 32);
    for (std::size_t i = 0; i < places; ++i, place = place + 1 == places ? 0 : place + 1) {
      std::uint64_t seen = keys_[first + place].load(std::memory_order_acquire);
      if (seen == 0 && keys_[first + place].compare_exchange_strong(seen, key, std::memory_order_acq_rel)) {
        return KeyPlace{first + place, true};
      }
      if (seen == key) return KeyPlace{first + place, false};
    }
    return std::nullopt;
  }

 private:
  std::atomic<std::uint64_t> keys_[kPlaces];
};

}  // namespace nccl_sentinel
