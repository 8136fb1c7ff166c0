// SPDX-License-Identifier: Apache-2.0
#include "timeline.h"

#include <cmath>

#include "failure.h"
#include "gate.h"

namespace nccl_sentinel::player {
namespace {

std::string milliseconds(std::int64_t ns) { return std::to_string(ns / 1'000'000) + " ms"; }

}  // namespace

std::int64_t Timeline::paced(std::int64_t trace_ns) const {
  return pace_ == 1.0 ? trace_ns : std::llround(static_cast<double>(trace_ns) / pace_);
}

std::shared_ptr<Iteration> Timeline::begin(std::size_t segment, std::int64_t at_ns) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const std::int64_t now = monotonic_ns();
  if (at_ns <= now) {
    throw Failure(kExitRun, "cannot start at " + std::to_string(at_ns), "", milliseconds(now - at_ns) + " too late",
                  "Give a later time");
  }
  last_ = std::make_shared<Iteration>(segment, script_.segments[segment]);
  origin_ns_ = last_->begin_ns = at_ns;
  origin_trace_ns_ = last_->trace_ns = script_.segments[segment].start_ns;
  last_->end_ns = at_ns + paced(script_.segments[segment].length_ns);
  const script::Total* totals = script_.totals(segment);
  for (std::size_t counter = 0; counter < script_.counters.size; ++counter) {
    last_->sequences.push_back(totals[counter].first);
  }
  report_.segment(script_.text(script_.segments[segment].name), at_ns, 0);
  return last_;
}

std::shared_ptr<Iteration> Timeline::follow(const Iteration& before, std::size_t segment) const {
  auto next = std::make_shared<Iteration>(segment, script_.segments[segment]);
  next->number = before.number + 1;
  next->begin_ns = before.end_ns;
  next->trace_ns = before.trace_ns + script_.segments[before.segment].length_ns;
  // From the origin each time, so that rounding does not add up.
  next->end_ns = origin_ns_ + paced(next->trace_ns + script_.segments[segment].length_ns - origin_trace_ns_);
  const script::Total* played = script_.totals(before.segment);
  for (std::size_t counter = 0; counter < script_.counters.size; ++counter) {
    next->sequences.push_back(before.sequences[counter] + played[counter].count);
  }
  return next;
}

std::shared_ptr<Iteration> Timeline::after(Iteration& iteration) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (iteration.decided) return iteration.next;
  std::size_t segment = iteration.segment;
  bool stop = false;
  while (!commands_.empty() && commands_.front().at_ns <= iteration.end_ns) {
    segment = commands_.front().segment;
    commands_.pop_front();
    stop = stop || segment == 0;
  }
  iteration.decided = true;
  if (stop) {
    report_.stop(iteration.end_ns, iteration.number + 1);
    last_.reset();
    return nullptr;
  }
  last_ = iteration.next = follow(iteration, segment);
  if (segment != iteration.segment) {
    report_.segment(script_.text(script_.segments[segment].name), last_->begin_ns, last_->number);
  }
  return last_;
}

void Timeline::add(const Command& command, const std::string& where) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const std::int64_t now = monotonic_ns();
  if (command.at_ns <= now) {
    throw Failure(kExitRun, "cannot obey a command", where, milliseconds(now - command.at_ns) + " too late",
                  "Give a later time: other ranks may have read it in time");
  }
  commands_.push_back(command);
  plan();
}

void Timeline::stop_soon() {
  const std::lock_guard<std::mutex> lock(mutex_);
  commands_.push_front({0, 0});
}

// Says when the last command will be performed, if nothing else comes.
void Timeline::plan() const {
  if (last_ == nullptr) return;
  std::size_t segment = last_->segment;
  std::int64_t trace_ns = last_->trace_ns + script_.segments[segment].length_ns;
  std::int64_t at_ns = last_->end_ns;
  for (const Command& command : commands_) {
    while (at_ns < command.at_ns) {
      trace_ns += script_.segments[segment].length_ns;
      at_ns = origin_ns_ + paced(trace_ns - origin_trace_ns_);
    }
    segment = command.segment;
    if (segment == 0) break;
  }
  report_.planned(segment == 0 ? "" : script_.text(script_.segments[segment].name), at_ns);
}

}  // namespace nccl_sentinel::player
