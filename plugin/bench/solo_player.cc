// SPDX-License-Identifier: Apache-2.0
#include "solo_player.h"

#include "failure.h"
#include "solo_order.h"

namespace nccl_sentinel::bench {
namespace {

std::size_t find(const player::ScriptFile& script, const std::string& name) {
  const std::size_t segment = script.find_segment(name);
  if (segment == 0) {
    throw player::Failure(player::kExitUsage, "cannot play segment " + name, "", "the script has none of that name",
                          "It has: " + script.segment_names());
  }
  return segment;
}

}  // namespace

SoloPlayer::SoloPlayer(const player::ScriptFile& script, const std::string& segment, const player::Profiler& profiler)
    : script_(script),
      segment_(find(script, segment)),
      timeline_(script, 1.0, report_),
      stage_{script, profiler, timeline_, gate_, 0, 0, std::vector<void*>(256), nullptr},
      thread_(stage_, 0),
      iteration_(segment_, script.segments[segment_]),
      events_(order_events(script, segment_)) {
  stage_.capture = std::make_unique<player::Iteration>(0, script.segments[0]);
  iteration_.trace_ns = script.segments[segment_].start_ns;
  const script::Total* totals = script.totals(segment_);
  for (std::size_t counter = 0; counter < script.counters.size; ++counter) {
    iteration_.sequences.push_back(totals[counter].first);
  }
}

void SoloPlayer::open() {
  for (const script::Communicator& communicator : script_.communicators) {
    if (stage_.profiler.init(&stage_.contexts[communicator.index], &stage_.mask, communicator) != 0) {
      throw player::Failure(player::kExitRun, "cannot open a communicator", stage_.profiler.name(),
                            "the plugin's init failed");
    }
  }
  for (const script::Event* event : order_events(script_, 0)) thread_.play_event(*event, *stage_.capture);
}

void SoloPlayer::close() {
  for (const script::Communicator& communicator : script_.communicators) {
    stage_.profiler.finalize(stage_.contexts[communicator.index]);
  }
}

void SoloPlayer::begin() {
  if (begun_) {
    const script::Total* totals = script_.totals(segment_);
    for (std::size_t counter = 0; counter < script_.counters.size; ++counter) {
      iteration_.sequences[counter] += totals[counter].count;
    }
    iteration_.trace_ns += script_.segments[segment_].length_ns;
    for (std::uint32_t place = 0; place < slots(); ++place) {
      player::Slot& slot = iteration_.slots[place];
      slot.state.store(player::SlotState::kPending, std::memory_order_relaxed);
      slot.mask = 0;
      slot.handle = nullptr;
    }
  }
  begun_ = true;
}

}  // namespace nccl_sentinel::bench
