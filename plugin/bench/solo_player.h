// SPDX-License-Identifier: Apache-2.0
// One rank of a recorded job, played by the calling thread. Nothing is allocated between opening and closing.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "rank_thread.h"

namespace nccl_sentinel::bench {

class SoloPlayer {
 public:
  // Failure (usage) when the script has no such segment.
  SoloPlayer(const player::ScriptFile& script, const std::string& segment, const player::Profiler& profiler);

  // Opens the communicators and captures the graphs.
  void open();
  void close();
  // Begins the first or another iteration: sequence numbers and GPU time go on.
  void begin();
  void play(const script::Event& event) { thread_.play_event(event, iteration_); }

  // Of one iteration, in the order in which they are to be played.
  const std::vector<const script::Event*>& events() const { return events_; }
  // Of a start that was played in this iteration.
  const player::Slot& slot(std::uint32_t place) const { return iteration_.slots[place]; }
  std::uint32_t slots() const { return script_.segments[segment_].slots; }
  // Of a Coll's start in this iteration.
  std::uint64_t sequence(const script::Event& event) const {
    return iteration_.sequences[static_cast<std::size_t>(event.extra)] + event.order;
  }
  const player::ScriptFile& script() const { return script_; }

 private:
  const player::ScriptFile& script_;
  const std::size_t segment_;
  player::Report report_;
  player::Gate gate_;
  player::Timeline timeline_;
  player::Stage stage_;
  player::RankThread thread_;
  player::Iteration iteration_;
  std::vector<const script::Event*> events_;
  bool begun_ = false;
};

}  // namespace nccl_sentinel::bench
