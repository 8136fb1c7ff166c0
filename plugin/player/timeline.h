// SPDX-License-Identifier: Apache-2.0
// Which segment is played when. It decides only at iteration boundaries, from times alone, and so alike on every rank.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>

#include "iteration.h"
#include "report.h"
#include "script_file.h"

namespace nccl_sentinel::player {

// Performed at the first iteration boundary at or after `at_ns`. Segment 0 stops the run.
struct Command {
  std::size_t segment;
  std::int64_t at_ns;
};

class Timeline {
 public:
  Timeline(const ScriptFile& script, double pace, Report& report) : script_(script), pace_(pace), report_(report) {}

  // The first iteration. Failure when `at_ns` is over.
  std::shared_ptr<Iteration> begin(std::size_t segment, std::int64_t at_ns);
  // The iteration after this one, null when the run stops there. Call it at its end_ns or later.
  std::shared_ptr<Iteration> after(Iteration& iteration);
  // Failure when `at_ns` is over: other ranks might have read the command in time, and would part from this one.
  void add(const Command& command, const std::string& where);
  // Stops at the next boundary that is not decided.
  void stop_soon();

  // Host time between begin_ns and a place in the segment.
  std::int64_t paced(std::int64_t trace_ns) const;

 private:
  std::shared_ptr<Iteration> follow(const Iteration& before, std::size_t segment) const;
  void plan() const;

  const ScriptFile& script_;
  const double pace_;
  Report& report_;
  std::mutex mutex_;
  std::deque<Command> commands_;
  std::shared_ptr<Iteration> last_;  // the last one decided; empty when the run has stopped
  std::int64_t origin_ns_ = 0;
  std::int64_t origin_trace_ns_ = 0;
};

}  // namespace nccl_sentinel::player
