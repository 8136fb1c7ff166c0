// SPDX-License-Identifier: Apache-2.0
#include "solo_order.h"

#include <string>

#include "failure.h"

namespace nccl_sentinel::bench {

using script::Event;

std::vector<const Event*> order_events(const player::ScriptFile& script, std::size_t segment) {
  struct Cursor {
    const Event* at;
    const Event* end;
  };
  std::vector<Cursor> cursors;
  std::size_t left = 0;
  for (std::size_t thread = 0; thread < script.threads.size; ++thread) {
    const player::View<Event> events = script.events(segment, thread);
    cursors.push_back({events.begin(), events.end()});
    left += events.size;
  }
  // Segment 0 is the capture: its own slots are the permanent ones.
  std::vector<bool> started(script.segments[segment].slots, false);
  const auto has_started = [&](std::uint32_t slot) {
    if (slot == script::kNone) return true;
    if ((slot & script::kPermanent) == 0) return bool{started[slot]};
    return segment != 0 || bool{started[slot & ~script::kPermanent]};
  };
  const auto can_play = [&](const Event& event) {
    const bool starts = event.kind == script::Kind::kStart;
    return (starts || has_started(event.slot)) && has_started(event.parent) && has_started(event.group) &&
           (event.operation == event.slot || has_started(event.operation));
  };
  std::vector<const Event*> order;
  order.reserve(left);
  while (left-- > 0) {
    Cursor* next = nullptr;
    for (Cursor& cursor : cursors) {
      if (cursor.at == cursor.end || !can_play(*cursor.at)) continue;
      if (next == nullptr || cursor.at->time_ns < next->at->time_ns) next = &cursor;
    }
    if (next == nullptr) {
      throw player::Failure(player::kExitUsage, "cannot play a script from one thread",
                            "segment " + std::to_string(segment), "its threads wait for each other");
    }
    const Event* event = next->at++;
    order.push_back(event);
    if (event->kind == script::Kind::kStart) started[event->slot & ~script::kPermanent] = true;
  }
  return order;
}

}  // namespace nccl_sentinel::bench
