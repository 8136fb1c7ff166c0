// SPDX-License-Identifier: Apache-2.0
// One recorded thread, played by a real one.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "gate.h"
#include "iteration.h"
#include "profiler.h"
#include "script_file.h"
#include "timeline.h"

namespace nccl_sentinel::player {

// What the threads of a player share.
struct Stage {
  const ScriptFile& script;
  const Profiler& profiler;
  Timeline& timeline;
  Gate& gate;
  std::int64_t resolution_ns;
  int mask = 0;                 // the address that every communicator's init is given; the plugin writes it at any time
  std::vector<void*> contexts;  // by the recorded index of the communicator
  std::unique_ptr<Iteration> capture;
};

class RankThread {
 public:
  RankThread(Stage& stage, std::size_t thread) : stage_(stage), thread_(thread) {}

  // This thread's part of the capture of CUDA graphs.
  void play_capture();
  // From the first iteration until the timeline stops or the gate ends the run.
  void play(const std::shared_ptr<Iteration>& first);
  // One event now, whatever its time. False when the run has ended meanwhile.
  bool play_event(const script::Event& event, Iteration& iteration) const;

 private:
  struct Cursor {
    std::shared_ptr<Iteration> iteration;
    const script::Event* at;
    const script::Event* end;
  };

  void open(std::vector<Cursor>& cursors, const std::shared_ptr<Iteration>& iteration) const;
  std::int64_t due(const Cursor& cursor) const;
  std::int64_t release(std::int64_t time_ns) const;
  void skip(Cursor& cursor) const;
  // All return false when the run has ended meanwhile.
  bool start(const script::Event& event, Iteration& iteration) const;
  bool decide(const script::Event& event, Iteration& iteration, int* mask, bool* emit) const;
  bool await(const Slot& slot) const;

  int live_mask() const { return __atomic_load_n(&stage_.mask, __ATOMIC_RELAXED); }
  Slot& slot(Iteration& iteration, std::uint32_t place) const {
    return (place & script::kPermanent) != 0 ? stage_.capture->slots[place & ~script::kPermanent]
                                             : iteration.slots[place];
  }
  std::uint64_t shifted(std::uint64_t timer, const Iteration& iteration) const;

  Stage& stage_;
  const std::size_t thread_;
};

}  // namespace nccl_sentinel::player
