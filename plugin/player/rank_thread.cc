// SPDX-License-Identifier: Apache-2.0
#include "rank_thread.h"

#include <algorithm>
#include <limits>

namespace nccl_sentinel::player {
namespace {

using script::Event;
using script::Kind;
using script::kNone;
using script::Type;

bool is_operation(const Event& event) { return event.operation == event.slot; }

// Whether the mask of an operation lets this happen inside it.
bool lets(const Slot& operation, const Event& event) {
  return operation.state.load() == SlotState::kEmitted && (operation.mask & event.need) == event.need;
}

}  // namespace

void RankThread::play_capture() {
  for (const Event& event : stage_.script.events(0, thread_)) {
    if (!play_event(event, *stage_.capture)) return;
  }
}

void RankThread::play(const std::shared_ptr<Iteration>& first) {
  std::vector<Cursor> cursors;  // oldest first
  std::shared_ptr<Iteration> newest = first;
  open(cursors, first);
  std::int64_t now_ns = 0;
  const auto reach = [&](std::int64_t time_ns) {
    if (release(time_ns) > now_ns) {
      if (!stage_.gate.sleep_until(release(time_ns))) return false;
      now_ns = monotonic_ns();
    }
    return !stage_.gate.ended();
  };
  for (;;) {
    for (Cursor& cursor : cursors) skip(cursor);
    cursors.erase(
        std::remove_if(cursors.begin(), cursors.end(), [](const Cursor& each) { return each.at == each.end; }),
        cursors.end());
    // Between equal times the older iteration comes first: so no thread waits for one that waits for it.
    const auto next = std::min_element(cursors.begin(), cursors.end(),
                                       [this](const Cursor& a, const Cursor& b) { return due(a) < due(b); });
    const std::int64_t due_ns = next == cursors.end() ? std::numeric_limits<std::int64_t>::max() : due(*next);
    if (newest != nullptr && newest->end_ns <= due_ns) {
      if (!reach(newest->end_ns)) return;
      newest = stage_.timeline.after(*newest);
      if (newest != nullptr) open(cursors, newest);
      continue;
    }
    if (next == cursors.end()) return;
    if (!reach(due_ns) || !play_event(*next->at, *next->iteration)) return;
    ++next->at;
  }
}

void RankThread::open(std::vector<Cursor>& cursors, const std::shared_ptr<Iteration>& iteration) const {
  const View<Event> events = stage_.script.events(iteration->segment, thread_);
  cursors.push_back({iteration, events.begin(), events.end()});
}

std::int64_t RankThread::due(const Cursor& cursor) const {
  return cursor.iteration->begin_ns + stage_.timeline.paced(cursor.at->time_ns);
}

// The next point of the grid: few wake-ups, and the same ones on all ranks.
std::int64_t RankThread::release(std::int64_t time_ns) const {
  return (time_ns + stage_.resolution_ns - 1) / stage_.resolution_ns * stage_.resolution_ns;
}

// What a known mask forbids costs no wake-up.
void RankThread::skip(Cursor& cursor) const {
  for (; cursor.at != cursor.end; ++cursor.at) {
    const Event& event = *cursor.at;
    if (event.operation == kNone || is_operation(event)) return;
    const Slot& operation = slot(*cursor.iteration, event.operation);
    if (operation.state.load() == SlotState::kPending || lets(operation, event)) return;
  }
}

bool RankThread::play_event(const Event& event, Iteration& iteration) const {
  if (event.kind == Kind::kStart) return start(event, iteration);
  if (event.operation != kNone && !is_operation(event)) {
    const Slot& operation = slot(iteration, event.operation);
    if (!await(operation)) return false;
    if (!lets(operation, event)) return true;
  }
  const Slot& own = slot(iteration, event.slot);
  if (!await(own)) return false;
  if (own.handle == nullptr) return true;
  if (event.kind == Kind::kStop) {
    stage_.profiler.stop(own.handle);
  } else {
    const bool timer = event.type == Type::kKernelCh;
    stage_.profiler.state(own.handle, event, timer ? shifted(event.value, iteration) : event.value);
  }
  return true;
}

bool RankThread::start(const Event& event, Iteration& iteration) const {
  int mask = 0;
  bool emit = false;
  if (!decide(event, iteration, &mask, &emit)) return false;
  Slot& own = slot(iteration, event.slot);
  if (emit) {
    void* parent = nullptr;
    void* group = nullptr;
    if (event.parent != kNone) {
      const Slot& above = slot(iteration, event.parent);
      if (!await(above)) return false;
      parent = above.handle;
    }
    if (event.group != kNone) group = slot(iteration, event.group).handle;
    const bool coll = event.type == Type::kColl;
    const std::uint64_t sequence = coll ? iteration.sequences[static_cast<std::size_t>(event.extra)] + event.order : 0;
    stage_.profiler.start(stage_.contexts[event.communicator], &own.handle,
                          {event, parent, group, sequence, shifted(event.value, iteration)});
  }
  own.mask = mask;
  own.state.store(emit ? SlotState::kEmitted : SlotState::kSuppressed);
  stage_.gate.changed();
  return true;
}

// The mask that counts for an event, and whether NCCL emits it.
bool RankThread::decide(const Event& event, Iteration& iteration, int* mask, bool* emit) const {
  if (event.operation == kNone) {
    *mask = live_mask();
    *emit = event.need == 0 ? *mask != 0 : (*mask & event.need) == event.need;
    const bool is_call = event.type == Type::kCollApi || event.type == Type::kP2pApi;
    if (is_call && event.parent != kNone) {
      const Slot& group = slot(iteration, event.parent);
      if (!await(group)) return false;
      *mask = group.mask;
    }
  } else if (!is_operation(event)) {
    const Slot& operation = slot(iteration, event.operation);
    if (!await(operation)) return false;
    *mask = operation.mask;
    *emit = lets(operation, event);
  } else {
    // Read as the group of calls began that it came from, in the capture of its graph as well; before there were calls
    // to tell of, at the start of the group around it.
    const bool has_call = event.parent != kNone && stage_.profiler.knows(Type::kCollApi);
    const std::uint32_t place = has_call ? event.parent : event.group;
    *mask = live_mask();
    if (place != kNone) {
      const Slot& source = slot(iteration, place);
      if (!await(source)) return false;
      *mask = source.mask;
    }
    *emit = (*mask & event.need) == event.need;
  }
  *emit = *emit && stage_.profiler.knows(event.type);
  return true;
}

bool RankThread::await(const Slot& slot) const {
  return stage_.gate.wait([&] { return slot.state.load() != SlotState::kPending; });
}

// A timer of 0 was never written by the GPU, and stays that.
std::uint64_t RankThread::shifted(std::uint64_t timer, const Iteration& iteration) const {
  if (timer == 0) return 0;
  return timer + static_cast<std::uint64_t>(iteration.trace_ns - stage_.script.segments[iteration.segment].start_ns);
}

}  // namespace nccl_sentinel::player
