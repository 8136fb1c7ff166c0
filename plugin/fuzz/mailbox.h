// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include "table.h"

namespace nccl_sentinel::fuzz {

// Launched, and to be timed where the mask said so for its group.
struct Launched {
  const Table* table;
  void* context;
  void* handle;
  int mask;
  std::uint8_t channels;
};

// From one thread to another, without locks.
class Mailbox {
 public:
  // False where it is full.
  bool push(const Launched& operation) {
    const std::uint32_t at = written_.load(std::memory_order_relaxed);
    if (at - read_.load(std::memory_order_acquire) == kPlaces) return false;
    places_[at % kPlaces] = operation;
    written_.store(at + 1, std::memory_order_release);
    return true;
  }
  // False where it is empty.
  bool pop(Launched& operation) {
    const std::uint32_t at = read_.load(std::memory_order_relaxed);
    if (at == written_.load(std::memory_order_acquire)) return false;
    operation = places_[at % kPlaces];
    read_.store(at + 1, std::memory_order_release);
    return true;
  }

 private:
  static constexpr std::uint32_t kPlaces = 64;

  Launched places_[kPlaces];
  std::atomic<std::uint32_t> written_{0};
  std::atomic<std::uint32_t> read_{0};
};

}  // namespace nccl_sentinel::fuzz
