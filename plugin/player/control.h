// SPDX-License-Identifier: Apache-2.0
// Steers a player by stdin and signals until it has finished.
#pragma once

#include <cstddef>
#include <string>

#include "player.h"

namespace nccl_sentinel::player {

class Control {
 public:
  // Blocks the signals it will answer, in this thread and those it starts: make it first.
  Control();
  ~Control();
  Control(const Control&) = delete;
  Control& operator=(const Control&) = delete;

  int finished_fd() const { return finished_fd_; }
  // Returns when the player has played to its end, or at once when a signal asks for it. Failure for a wrong command.
  void steer(Player& player);

 private:
  // False when stdin has ended.
  bool read_commands(Player& player);
  void obey(Player& player, const std::string& line);
  bool asked_to_end() const;

  const int parent_;
  int finished_fd_ = -1;
  int signal_fd_ = -1;
  std::string text_;
  std::size_t lines_ = 0;
};

}  // namespace nccl_sentinel::player
