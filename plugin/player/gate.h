// SPDX-License-Identifier: Apache-2.0
// Where the threads of a player wait: for a time, for each other's handles, for the start. Ending the run opens it.
#pragma once

#include <time.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace nccl_sentinel::player {

// CLOCK_MONOTONIC, ns.
inline std::int64_t monotonic_ns() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

class Gate {
 public:
  bool ended() const { return ended_.load(std::memory_order_relaxed); }

  // Nothing more is played: every wait returns false from now on.
  void end() {
    const std::lock_guard<std::mutex> lock(mutex_);
    ended_.store(true);
    time_.notify_all();
    change_.notify_all();
  }

  bool sleep_until(std::int64_t time_ns) {
    // libstdc++'s steady_clock is CLOCK_MONOTONIC.
    const std::chrono::steady_clock::time_point until{std::chrono::nanoseconds(time_ns)};
    std::unique_lock<std::mutex> lock(mutex_);
    return !time_.wait_until(lock, until, [&] { return ended(); });
  }

  // Waits until `condition` holds. Whoever makes it hold calls `changed` afterwards.
  template <class Condition>
  bool wait(Condition condition) {
    if (condition()) return true;
    waiting_.fetch_add(1);
    std::unique_lock<std::mutex> lock(mutex_);
    change_.wait(lock, [&] { return ended() || condition(); });
    waiting_.fetch_sub(1);
    return !ended();
  }

  // Cheap while nobody waits. What was changed must have been stored with sequential consistency.
  void changed() {
    if (waiting_.load() == 0) return;
    const std::lock_guard<std::mutex> lock(mutex_);
    change_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable time_;
  std::condition_variable change_;
  std::atomic<int> waiting_{0};
  std::atomic<bool> ended_{false};
};

}  // namespace nccl_sentinel::player
