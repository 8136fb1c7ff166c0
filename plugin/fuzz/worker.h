// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>

#include "world.h"

namespace nccl_sentinel::fuzz {

// One thread of a job: does what NCCL does, and with `--chaos` also what it never would.
class Worker {
 public:
  Worker(World& world, unsigned thread, std::uint64_t seed) : world_(world), thread_(thread), random_(seed) {}

  void step();
  // Operations that it launched on communicators that were open.
  std::uint64_t launched() const { return launched_; }

 private:
  void launch();
  bool take(Launched& operation);
  void finish(const Launched& operation);
  void run_network(const Launched& operation, std::uint8_t channel);
  void do_nonsense();
  Event any_event();
  const char* any_text();
  std::uint64_t any_timer();

  World& world_;
  const unsigned thread_;
  Random random_;
  std::deque<Launched> backlog_;
  std::uint64_t launched_ = 0;
};

}  // namespace nccl_sentinel::fuzz
