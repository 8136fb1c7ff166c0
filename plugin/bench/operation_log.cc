// SPDX-License-Identifier: Apache-2.0
#include "operation_log.h"

#include <cinttypes>

#include "nccl_sentinel/abi.h"

namespace nccl_sentinel::bench {

using script::Event;
using script::Kind;
using script::Type;

OperationLog::OperationLog(const SoloPlayer& player, std::size_t iterations)
    : player_(player), entry_of_slot_(player.slots()) {
  std::size_t operations = 0;
  for (const Event* event : player.events()) {
    if (event->kind != Kind::kStart) continue;
    operations += event->type == Type::kColl || event->type == Type::kP2p ? 1 : 0;
    if (event->type == Type::kP2p) sent_[{event->communicator, event->func, event->number}] = 0;
  }
  entries_.reserve(operations * iterations);
}

void OperationLog::note(const Event& event) {
  if (event.kind != Kind::kStart) return;
  const player::Slot& slot = player_.slot(event.slot);
  if (slot.state.load(std::memory_order_relaxed) != player::SlotState::kEmitted) return;
  if (event.type == Type::kColl || event.type == Type::kP2p) {
    const bool coll = event.type == Type::kColl;
    const std::uint64_t number =
        coll ? player_.sequence(event) : sent_.find({event.communicator, event.func, event.number})->second++;
    entry_of_slot_[event.slot] = entries_.size();
    entries_.push_back({&event, number, (slot.mask & static_cast<int>(abi::kKernelCh)) != 0, false});
  } else if (event.type == Type::kKernelCh && event.operation != script::kNone && slot.handle != nullptr) {
    entries_[entry_of_slot_[event.operation]].taken = true;
  }
}

void OperationLog::write(std::FILE* file) const {
  const player::ScriptFile& script = player_.script();
  const char* separator = "[";
  for (const Entry& entry : entries_) {
    std::uint64_t id = 0;
    for (const script::Communicator& communicator : script.communicators) {
      if (communicator.index == entry.event->communicator) id = communicator.id;
    }
    std::fprintf(file, "%s[\"%016" PRIx64 "\",\"%s\",%d,%" PRIu64 ",%d,%d]", separator, id,
                 script.text(entry.event->func), entry.event->type == Type::kColl ? -1 : entry.event->number,
                 entry.number, entry.emitted ? 1 : 0, entry.taken ? 1 : 0);
    separator = ",";
  }
  std::fputs(entries_.empty() ? "[]" : "]", file);
}

}  // namespace nccl_sentinel::bench
