// SPDX-License-Identifier: Apache-2.0
#include "launch_batches.h"

#include <numeric>

namespace nccl_sentinel::bench {
namespace {

bool is_of_application(script::Type type) { return type <= script::Type::kP2p || type >= script::Type::kGroupApi; }

bool is_own(std::uint32_t slot) { return slot != script::kNone && (slot & script::kPermanent) == 0; }

}  // namespace

LaunchBatches::LaunchBatches(const SoloPlayer& player) : batch_of_event_(player.events().size(), kNone) {
  std::vector<std::uint32_t> above(player.slots());
  std::iota(above.begin(), above.end(), 0U);
  const auto root = [&](std::uint32_t slot) {
    while (above[slot] != slot) slot = above[slot] = above[above[slot]];
    return slot;
  };
  for (const script::Event* event : player.events()) {
    if (!is_of_application(event->type)) continue;
    for (const std::uint32_t other : {event->parent, event->group}) {
      if (is_own(other)) above[root(event->slot)] = root(other);
    }
  }
  std::vector<std::uint32_t> batch_of_root(player.slots(), kNone);
  for (std::size_t place = 0; place < batch_of_event_.size(); ++place) {
    const script::Event& event = *player.events()[place];
    if (!is_of_application(event.type) || !is_own(event.slot)) continue;
    std::uint32_t& batch = batch_of_root[root(event.slot)];
    if (batch == kNone) batch = static_cast<std::uint32_t>(size_++);
    batch_of_event_[place] = batch;
  }
}

}  // namespace nccl_sentinel::bench
